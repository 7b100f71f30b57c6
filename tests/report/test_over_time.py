"""Shares over time in the page: bands, gaps, and words that rise and fall, in the browser."""

import numpy as np
import pytest
from browser import opened
from effects.drifts import drifting

from fdmix import Corpus, Mixture, MomentsByGroup
from fdmix.report import write_report

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def over_time(tmp_path_factory):
    """A report of six months, one of them without documents; topic 0 rises, and a word rises within it."""
    world = drifting(seed=3, n=400)
    hostile = "<img src=x onerror=alert(1)>"
    words = (*world.mixture.vocabulary[:-1], hostile)
    counts = world.corpus.counts.toarray()
    late = np.array([date >= "2020-04" for date in world.corpus.documents["date"]])
    counts[late, -1] += np.random.default_rng(0).poisson(0.5, late.sum())
    topics = np.array(world.mixture.topics)
    topics[:, -1] += np.where(np.arange(8) == 0, 0.05, 1e-6)
    mixture = Mixture(topics / topics.sum(axis=1, keepdims=True), vocabulary=words)
    keep = [not date.startswith("2020-03") for date in world.corpus.documents["date"]]
    corpus = Corpus(counts, words, world.corpus.documents)[np.array(keep)]
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(mixture, path, cells=MomentsByGroup.of(corpus, "month(date)"))
    return path, hostile


def test_bands_gaps_and_rising_words_are_shown(browser, over_time):
    path, hostile = over_time
    with opened(browser, path, fragment="#view=groups") as found:
        assert found.page.inner_text("h1") == "By month(date)"
        assert "fitted to the word pairs of a month" in found.page.inner_text(".view .note")
        bands = found.page.eval_on_selector_all("path.band", "paths => paths.map(path => path.getAttribute('d'))")
        assert len(bands) == 8
        assert all(band.count("M") == 2 and "NaN" not in band for band in bands)  # the empty month is a gap
        card = found.page.locator("section.card", has_text="Rising words").first
        assert hostile in card.inner_text()
        first = found.page.locator("section.card").first
        first.locator("summary, button").first.click()
        table = first.locator("table").inner_text()
        assert "2020-03" in table
        assert "–" in table.split("2020-03")[1].split("\n")[0]
        assert found.errors == []
        assert found.requests == []


def test_months_of_several_groups_are_a_line_for_each_group(browser, tmp_path):
    """All months are there; the groups are not points beside each other, and of many groups the largest are drawn."""
    world = drifting(seed=4, n=60)
    parties = np.array(["D", "R", "<b>I</b>", "L", "G"])[
        np.random.default_rng(0).choice(5, 360, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    ]
    missing = np.array([date.startswith("2020-03") for date in world.corpus.documents["date"]]) & (parties == "R")
    corpus = Corpus(world.corpus.counts, world.corpus.vocabulary, {**world.corpus.documents, "party": parties})[
        ~missing
    ]
    write_report(world.mixture, tmp_path / "r.html", cells=MomentsByGroup.of(corpus, "party,month(date)"))
    with opened(browser, tmp_path / "r.html", fragment="#view=groups") as found:
        assert found.page.locator("ul.legend li").all_inner_texts() == ["<b>I</b>", "D", "L", "R"]
        assert "The 4 groups with most documents have lines." in found.page.inner_text(".view .note")
        card = found.page.locator("section.card").first
        paths = card.locator("path.line").evaluate_all("paths => paths.map(path => path.getAttribute('d'))")
        assert [path.count("M") for path in paths] == [1, 1, 1, 2]  # R has no document in March
        card.locator("summary, button").first.click()
        rows = card.locator("table").inner_text().splitlines()[-6:]
        assert [row.split()[0] for row in rows] == world.months
        assert found.errors == []
        found.page.goto(found.path.resolve().as_uri() + "#topic=0")
        found.page.wait_for_selector("ul.legend li")


def test_groups_come_from_documents_or_from_cells(tmp_path):
    world = drifting(n=20)
    cells = MomentsByGroup.of(world.corpus, "month(date)")
    with pytest.raises(ValueError, match="give one of them"):
        write_report(world.mixture, tmp_path / "r.html", documents=["a b"], by="x", cells=cells)
