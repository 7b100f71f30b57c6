"""What notebooks show: small tables in which no word becomes markup."""

from html.parser import HTMLParser

import numpy as np
import pytest
from hostile import HOSTILE_WORDS
from sklearn import config_context

from fdmix import FDM, Corpus, Mixture, Moments, fit_mixture, worlds

MARKUP = ["</table><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;b&gt;", "\u202eevil"]
ALLOWED = {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}


class Reader(HTMLParser):
    """The tags and the text of a page; every tag that opens is closed in order."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.open = set(), [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def hostile_corpus():
    words = list(dict.fromkeys([*MARKUP, *HOSTILE_WORDS]))
    counts = np.random.default_rng(0).poisson(1.0, (60, len(words))) + np.eye(60, len(words), dtype=int)
    return Corpus(counts, words)


CORPUS = hostile_corpus()
SOLUTION = fit_mixture(Moments.of(CORPUS), 2)


@pytest.mark.parametrize(
    "shown", [CORPUS, Moments.of(CORPUS), SOLUTION, SOLUTION.mixture, Corpus(np.zeros((0, 3), int))],
    ids=["corpus", "moments", "solution", "mixture", "empty"],
)  # fmt: skip
def test_words_never_become_markup(shown):
    page = Reader(shown._repr_html_())
    assert page.tags <= ALLOWED
    assert "\u202e" not in "".join(page.text)
    assert "\x1b" not in "".join(page.text)


def test_numbers_that_people_look_for():
    assert "60" in Reader(CORPUS._repr_html_()).text
    assert f"{CORPUS.n_tokens:,}" in Reader(Moments.of(CORPUS)._repr_html_()).text
    text = " ".join(Reader(SOLUTION._repr_html_()).text)
    assert SOLUTION.reason in text
    assert f"{SOLUTION.mixture.shares.max():.1%}" in text
    many = Mixture(np.full((50, 3), 1 / 3), np.eye(50) / 50, ["a", "b", "c"])
    page = Reader(many._repr_html_())
    assert any("20 smaller topics" in line for line in page.text)


def test_labels_are_shown_as_text():
    """Mixture and Solution show labels; an object without any has no column for them."""
    named = SOLUTION.mixture.labelled({1: "<i>pets</i>"})
    page = Reader(named._repr_html_())
    assert page.tags <= ALLOWED
    assert "<i>pets</i>" in page.text
    assert "label" in page.text
    assert "label" not in Reader(SOLUTION.mixture._repr_html_()).text


def test_the_estimator_shows_its_topics():
    counts = worlds.intervals().sample(500, length=20, seed=0).counts
    assert "<caption" not in FDM(3)._repr_mimebundle_()["text/html"]
    fitted = FDM(3, refine=False).fit(counts)
    for page in (fitted._repr_mimebundle_()["text/html"], fitted._repr_html_()):
        assert "Mixture(3 topics over 100 words)</caption>" in page
    with config_context(display="text"):
        assert "text/html" not in fitted._repr_mimebundle_()
