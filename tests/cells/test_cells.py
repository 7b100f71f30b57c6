"""Moments by group: cells add up to the whole, windows are recounts, and bad input is refused in words."""

import datetime
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdmix import Corpus, Moments
from fdmix.cells import MomentsByGroup
from fdmix.cells.calendar import BINS, bin_numbers, first_day
from fdmix.cells.grouping import axes_of
from fdmix.storage import FileError

WORDS = tuple("abcdefgh")
rng = np.random.default_rng(0)


def random_corpus(n=60, seed=0, words=WORDS, **more):
    rng = np.random.default_rng(seed)
    days = np.datetime64("2021-01-01") + rng.integers(0, 200, n)
    dates = [str(day) if day.astype(int) % 11 else "" for day in days]
    party = rng.choice(["D", "R", "I"], n)
    return Corpus(rng.poisson(0.7, (n, len(words))), words, {"date": dates, "party": party} | more)


def months_of(corpus):
    return np.array([date[:7] for date in corpus.documents["date"]])


@pytest.mark.parametrize("folds", [0, 3])
@pytest.mark.parametrize("by", ["month(date)", "party", "month(date),party", "week(date)"])
def test_cells_add_up_to_the_whole_bit_for_bit(by, folds):
    corpus = random_corpus()
    cells = MomentsByGroup.of(corpus, by, folds=folds)
    assert cells.whole == Moments.of(corpus, folds=folds)
    assert cells.whole.ledger.digest == Moments.of(corpus, folds=folds).ledger.digest


def test_a_window_or_a_group_is_what_counting_it_gives_bit_for_bit():
    corpus = random_corpus()
    cells = MomentsByGroup.of(corpus, "month(date),party", folds=4)
    months, party = months_of(corpus), corpus.documents["party"]
    window = cells.select(date=("2021-02", "2021-05")).whole
    assert window == Moments.of(corpus[(months >= "2021-02") & (months <= "2021-05")], folds=4)
    both = cells.select(party=["D", "I"], date=(None, "2021-03")).whole
    assert both == Moments.of(corpus[(months != "") & (months <= "2021-03") & (party != "R")], folds=4)
    assert cells.select(date=None).whole == Moments.of(corpus[months == ""], folds=4)
    assert cells["2021-03", "R"] == Moments.of(corpus[(months == "2021-03") & (party == "R")], folds=4)


def test_a_larger_bin_stands_for_all_of_its_parts():
    """The end of a window too: 2021 ends in December, not in January."""
    days = ["2020-12-31", "2021-01-01", "2021-03-31", "2021-04-01", "2021-12-31", "2022-01-01", ""]
    corpus = Corpus(np.ones((7, 2), int), ["a", "b"], {"date": days})
    for by, windows in {
        "day(date)": {
            "2021": 4,
            "2021-Q1": 2,
            "2021-12": 1,
            "2021-W13": 2,
            ("2020", "2021"): 5,
            ("2021-04", None): 3,
        },
        "month(date)": {"2021": 4, "2021-Q1": 2, "2021-12": 1, (None, "2021"): 5, ("2021-Q2", "2021-Q4"): 2},
        "year(date)": {"2021": 4, ("2021", "2022"): 5, ("2021-05", "2021-06"): 4},
    }.items():
        cells = MomentsByGroup.of(corpus, by, folds=0)
        found = {window: cells.select(date=window).n_documents for window in windows}
        assert found == windows
    assert MomentsByGroup.of(corpus, "month(date)").select(date=["2020", "2022-01"]).n_documents == 2
    with pytest.raises(ValueError, match="no document is in these cells: date='2021-01-01'"):
        MomentsByGroup.of(corpus, "month(date)").select(date="2021-01-01")  # a part of a cell
    with pytest.raises(ValueError, match="is not a bin of the calendar"):
        MomentsByGroup.of(corpus, "month(date)").select(date="last year")


def test_larger_cells_are_sums_of_smaller_ones():
    corpus = random_corpus()
    fine = MomentsByGroup.of(corpus, "day(date),party", folds=2)
    for by in ("party", "month(date)", "quarter(date),party", "party,year(date)", "week(date)"):
        assert fine.along(by) == MomentsByGroup.of(corpus, by, folds=2)
    with pytest.raises(ValueError, match="do not add up to month"):
        fine.along("week(date)").along("month(date)")


def test_merging_cell_by_cell_is_counting_everything():
    corpus = random_corpus(80)
    parts = [MomentsByGroup.of(corpus[rows], "month(date)", folds=3) for rows in (slice(0, 30), slice(30, None))]
    assert sum(parts) == MomentsByGroup.of(corpus, "month(date)", folds=3)


def test_merging_unites_different_words():
    first, second = random_corpus(30), random_corpus(30, seed=1, words=tuple("cdefghij"))
    total = MomentsByGroup.of(first, "party", folds=2) + MomentsByGroup.of(second, "party", folds=2)
    assert total.vocabulary == tuple("abcdefghij")
    assert total.whole == Moments.of(first, folds=2) + Moments.of(second, folds=2)
    with pytest.raises(ValueError, match="one is grouped by party and the other by month"):
        total + MomentsByGroup.of(first, "month(date)", folds=2)


@pytest.mark.parametrize("folds", [0, 3])
def test_a_file_gives_back_the_same_cells(tmp_path, folds):
    cells = MomentsByGroup.of(random_corpus(), "month(date),party", folds=folds)
    cells.save(tmp_path / "cells")
    loaded = MomentsByGroup.load(tmp_path / "cells")
    assert loaded == cells
    assert loaded.whole == cells.whole
    assert loaded.documents() == cells.documents()
    content = bytearray((tmp_path / "cells").read_bytes())
    content[max(place for place, byte in enumerate(content) if byte)] ^= 1  # padding has no checksum
    (tmp_path / "cells").write_bytes(content)
    with pytest.raises(FileError):
        MomentsByGroup.load(tmp_path / "cells")
    Moments.of(random_corpus()).save(tmp_path / "moments")
    with pytest.raises(FileError, match="holds moments, not moments by group"):
        MomentsByGroup.load(tmp_path / "moments")


def test_gaps_of_the_calendar_are_empty_cells_and_missing_values_are_their_own():
    corpus = Corpus(
        np.full((4, 2), 2), ["a", "b"],
        {"date": ["2020-11-30", "2021-02-01", None, "2021-02-02"], "party": ["D", "D", "R", None]},
    )  # fmt: skip
    cells = MomentsByGroup.of(corpus, "month(date)", folds=0)
    expected = {("2020-11",): 1, ("2020-12",): 0, ("2021-01",): 0, ("2021-02",): 2, (None,): 1}
    assert cells.documents() == expected
    assert list(cells.documents()) == list(expected)
    both = MomentsByGroup.of(corpus, "party,month(date)", folds=0).documents()
    assert both["D", "2020-12"] == 0
    assert both[None, "2021-01"] == 0
    assert both["R", None] == 1
    assert ("R", "2021-01") not in both


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2021-03-25", "2021-03-25"),
        ("2021-03-25T23:59:59+05:00", "2021-03-25"),
        ("2021-03-25 00:10:00Z", "2021-03-25"),
        ("2021/3/5", "2021-03-05"),
        ("20210325", "2021-03-25"),
        (20210325, "2021-03-25"),
        ("25.03.2021", "2021-03-25"),
        ("25.3.2021 14:00", "2021-03-25"),
        ("25 March 2021", "2021-03-25"),
        ("25-Mar-2021", "2021-03-25"),
        ("March 25, 2021", "2021-03-25"),
        ("Thu, 25 Mar 2021 12:00:00 +0000", "2021-03-25"),
        ("Thu Mar 25 12:00:00 +0000 2021", "2021-03-25"),
        ("03/25/2021", "2021-03-25"),
        ("25/03/2021 10:00", "2021-03-25"),
        (datetime.date(2021, 3, 25), "2021-03-25"),
        (datetime.datetime(2021, 3, 25, 23, tzinfo=datetime.timezone.utc), "2021-03-25"),  # noqa: UP017
        (np.datetime64("2021-03-25T10:00"), "2021-03-25"),
        ("", None),
        (None, None),
        (float("nan"), None),
        (np.datetime64("NaT"), None),
    ],
)
def test_dates_as_people_write_them(written, day):
    (number,) = bin_numbers([written], "day", "date")
    assert (None if number is None else BINS["day"].label(number)) == day


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (["2021-01-01", "soon"], "day", "row 2, column 'date': 'soon' is not a date: write it like 2021-03-25"),
        (["2021-02-30"], "month", "row 1, column 'date': '2021-02-30' is not a date of the calendar"),
        (["2021-03"], "week", "'2021-03' is a month without a day, which has no week"),
        (["2021"], "month", "'2021' is a year without a month"),
        ([1616673600], "day", "a Unix time must be converted first"),
        (["03/04/2021"], "month", "is the day or the month first"),
        (["13/04/2021", "04/13/2021"], "month", "both orders occur"),
        (["25 Foo 2021"], "month", "is not a date"),
        ([True], "year", "is not a date"),
    ],
)
def test_what_is_not_a_date_is_refused_with_its_row(values, kind, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        bin_numbers(values, kind, "date")


@given(st.dates(datetime.date(1000, 1, 1), datetime.date(9990, 12, 31)), st.sampled_from(list(BINS)))
def test_a_bin_begins_at_its_first_day_and_bins_have_consecutive_numbers(day, kind):
    number = BINS[kind].number(day)
    label = BINS[kind].label(number)
    assert first_day(label) <= day
    assert BINS[kind].number(first_day(label)) == number
    assert BINS[kind].number(first_day(label) - datetime.timedelta(1)) == number - 1


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("", "not a group"),
        ("decade(date)", "'decade' is not a calendar bin: there are day, week, month, quarter, year"),
        ("month(date),year(date)", "'date' is named twice"),
        ("month(date", "not a group"),
        ("color", "the documents have no column 'color'; they have 'date', 'party'"),
    ],
)
def test_bad_groups_are_refused_in_words(by, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        MomentsByGroup.of(random_corpus(), by)


def test_more_refusals():
    corpus = random_corpus()
    cells = MomentsByGroup.of(corpus, "party", folds=0)
    with pytest.raises(ValueError, match="not grouped by 'date', but by party"):
        cells.select(date="2021-01")
    with pytest.raises(ValueError, match="no document is in these cells: party='X'"):
        cells.select(party="X")
    with pytest.raises(KeyError, match="no document is in the cell X"):
        cells["X"]
    with pytest.raises(ValueError, match="no documents to group"):
        MomentsByGroup.of(corpus[:0], "party")
    many = Corpus(np.ones((20_001, 2), int), ["a", "b"], {"id": np.arange(20_001)})
    with pytest.raises(ValueError, match="20,001 groups, more than 20,000"):
        MomentsByGroup.of(many, "id")


def test_groups_are_sorted_as_numbers_or_as_text():
    assert axes_of("n")[0].in_order(["10", "9", "nan", "x", None]) == ["9", "10", "nan", "x", None]
