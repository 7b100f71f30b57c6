"""count --by, merge and info of moments by group, as a user types them."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from cli.test_cli_counting import run

from fdmix import Moments, read_moments
from fdmix.cells import MomentsByGroup
from fdmix.cli.moments_of_model import moments_of_model, moments_to_change

pytestmark = pytest.mark.slow
ROWS = [
    "2021-01-05,D,cats chase mice and cats",
    "2021-02-07,R,dogs chase cats",
    ",R,dogs bark loudly at night",
    "2021-04-09,D,mice eat cheese at night",
]


@pytest.fixture
def table(tmp_path):
    (tmp_path / "a.csv").write_text("\n".join(["date,party,text", *ROWS]))
    return tmp_path / "a.csv"


def test_count_by_group_adds_up_to_a_count_without_groups(table, tmp_path):
    counted = run("count", table, "--column", "text", "--by", "month(date),party", "-o", tmp_path / "cells")
    assert "2021-03      R              0" in counted.stdout
    assert "(missing)    R              1" in counted.stdout
    cells = MomentsByGroup.load(tmp_path / "cells")
    assert cells.whole == read_moments(table, column="text", folds=10)
    facts = json.loads(run("info", tmp_path / "cells", "--json").stdout)
    assert facts["groups"] == ["month(date)", "party"]
    assert sum(cell["documents"] for cell in facts["cells"]) == 4
    run("fit", tmp_path / "cells", "--topics", 2, "-o", tmp_path / "model")
    assert moments_of_model(tmp_path / "model", tmp_path / "cells") == cells.whole  # so that one can edit the model
    with pytest.raises(ValueError, match="count new documents with --by"):
        moments_to_change(tmp_path / "cells")


def test_merge_adds_cell_by_cell(table, tmp_path):
    for name, rows in (("one.csv", ROWS[:2]), ("two.csv", ROWS[2:])):
        (tmp_path / name).write_text("\n".join(["date,party,text", *rows]))
        by = ["--open", "--stop-words", "none", "--by", "party"]
        run("count", tmp_path / name, "--column", "text", *by, "-o", tmp_path / f"{name}.cells")
    parts = [tmp_path / "one.csv.cells", tmp_path / "two.csv.cells"]
    run("merge", *parts, "-o", tmp_path / "both")
    run("count", table, "--column", "text", *by, "-o", tmp_path / "all")
    assert MomentsByGroup.load(tmp_path / "both") == MomentsByGroup.load(tmp_path / "all")
    assert "counted twice" in run("merge", parts[0], parts[0], "-o", tmp_path / "x", code=1).stderr
    Moments.of([[1, 1]], ["a", "b"]).save(tmp_path / "plain")
    assert "merge one kind" in run("merge", parts[0], tmp_path / "plain", "-o", tmp_path / "x", code=1).stderr


def test_bad_groups_and_dates_are_refused_in_words(table, tmp_path):
    (tmp_path / "bad.csv").write_text("date,text\n2021-01-01,a cat\nsoon,a dog\n")

    def refusal(*arguments):
        return run("count", *arguments, "-o", tmp_path / "x", code=1).stderr

    assert "row 2, column 'date': 'soon' is not a date" in refusal(tmp_path / "bad.csv", "--by", "month(date)")
    assert "'monat' is not a calendar bin" in refusal(table, "--by", "monat(date)")
    assert "has no column 'color'" in refusal(table, "--by", "color")
    assert not (tmp_path / "x").exists()


def rows_of(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.fixture
def model(tmp_path):
    """A model, and cells with words and labels that attack terminals and spreadsheets."""
    from effects.drifts import drifting

    from fdmix import Corpus, Mixture

    world = drifting(n=60)
    words = ("=cmd()", "\x1b[31mred", *world.mixture.vocabulary[2:])
    party = np.where(np.arange(360) % 2, "=D()", "\x1b[2JR")
    Mixture(world.mixture.topics, vocabulary=words).save(tmp_path / "model")
    corpus = Corpus(world.corpus.counts, words, world.corpus.documents | {"party": party})
    MomentsByGroup.of(corpus, "month(date),party").save(tmp_path / "cells")
    return tmp_path


def test_over_prints_tables_and_writes_files(model):
    tables = {}
    for name in ("shares.csv", "shares.parquet", "trends.csv", "words.csv"):
        kind = name.partition(".")[0]
        by = ["--by", "month(date)", "--table", kind]
        tables[name] = run("over", model / "model", model / "cells", *by, "-o", model / name).stdout
        assert "\x1b" not in tables[name]
    rows = list(rows_of(model / "shares.csv"))
    assert len(rows) == 6 * 8
    assert rows[0]["month(date)"] == "2020-01"
    assert float(rows[0]["low"]) <= float(rows[0]["share"]) <= float(rows[0]["high"])
    assert pq.read_table(model / "shares.parquet").num_rows == 48
    assert len(list(rows_of(model / "trends.csv"))) == 8
    one = run("over", model / "model", model / "cells", "--by", "month(date)", "--topic", 0).stdout
    assert "90% interval" in one
    assert "2020-06" in one
    facts = json.loads(run("over", model / "model", model / "cells", "--by", "year(date)", "--json").stdout)
    assert {"year(date)", "topic", "share", "low", "high", "lift"} <= set(facts[0])


def test_over_compares_groups_and_escapes_hostile_labels(model):
    ends = ["--compare", "date=2020-01", "--with", "date=2020-06"]
    compared = run("over", model / "model", model / "cells", *ends, "-o", model / "d.csv")
    assert "q < 0.05" in compared.stderr
    both = run("over", model / "model", model / "cells", "--by", "party", "-o", model / "p.csv")
    assert "\x1b" not in both.stdout + both.stderr
    assert "\\x1b[2JR" in both.stdout
    labels = {row["party"] for row in rows_of(model / "p.csv")}
    assert "'=D()" in labels
    assert not any("\x1b" in label for label in labels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--table", "x"], "--table is one of shares, trends, words"),
        (["--compare", "party=D"], "--compare and --with belong together"),
        (["--only", "party"], "'party' does not choose cells"),
        (["--only", "color=red"], "not grouped by 'color'"),
        (["--by", "week(date)"], "do not add up to week(date)"),
        (["--topic", "99"], "there are topics 0 to 7"),
        (["-o", "x.txt"], "must end in .csv or .parquet"),
        (["--level", "90"], "between 0 and 1"),
        (["--compare", "date=2020-01", "--with", "date=2020-01..2020-02"], "is on both sides"),
    ],
)
def test_over_refuses_in_words(model, arguments, message):
    assert message in run("over", model / "model", model / "cells", *arguments, code=1, cwd=model).stderr


def test_over_needs_moments_by_group(model):
    Moments.of([[1, 1]], ["a", "b"]).save(model / "plain")
    assert "count again with --by" in run("over", model / "model", model / "plain", code=1).stderr
