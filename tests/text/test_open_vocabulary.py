"""Open vocabularies: parts counted separately add up to one count of all, even with new words in later parts."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmix import Cleaning, Corpus, Moments, fit_mixture, read_corpus, read_moments, worlds

OPEN = {"open_vocabulary": True, "stop_words": None, "min_letters": 1}
days = st.lists(
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=5).map(" ".join), min_size=1, max_size=5),
    min_size=2,
    max_size=4,
)


@given(days, st.integers(1, 3), st.booleans())
@settings(deadline=None, max_examples=60)
def test_days_counted_alone_add_up_to_one_count(texts, ngrams, stem):
    steps = OPEN | {"ngrams": ngrams, "stem": "english" if stem else None}
    first = read_moments(texts[0], **steps)
    days = [first, *(read_moments(day, like=first) for day in texts[1:])]
    whole = read_moments([text for day in texts for text in day], **steps)
    total = sum(days)
    assert total == whole
    assert total.is_open
    assert dict(total.preparation.forms) == dict(whole.preparation.forms)
    assert total.ledger.digest == whole.ledger.digest
    assert total - days[-1] == sum(days[:-1])  # words of the removed day are gone, too
    assert dict((total - days[-1]).preparation.forms) == dict(sum(days[:-1]).preparation.forms)
    assert total.prune(min_count=2) == whole.prune(min_count=2)


def test_a_word_that_was_rare_at_first_enters_later():
    """An open vocabulary gets the word "covid" once it is frequent; one chosen on the first day never does."""
    monday = read_moments(
        ["flu season begins", "flu season ends", "covid appears"] * 3 + ["zeta"], **OPEN, min_count=4
    )
    tuesday = read_moments(["covid season begins"] * 3, like=monday)
    assert "covid" not in monday.prune().vocabulary
    assert {"covid", "season"} <= set((monday + tuesday).prune().vocabulary)
    assert not (monday + tuesday).prune().is_open
    closed = read_moments(["flu season begins"] * 3, min_count=1)
    assert "covid" not in (closed + read_moments(["covid season begins"] * 3, like=closed)).vocabulary


def test_pruning_uses_the_rules_of_the_cleaning():
    texts = ["a a b c", "a b d", "a a a e"]
    moments = read_moments(texts, **OPEN, min_count=2, max_share=0.9)
    assert moments.vocabulary == tuple("abcde")
    assert moments.prune().vocabulary == ("b",)  # "a" is in all documents
    assert moments.prune(max_share=1.0).vocabulary == ("a", "b")
    assert moments.prune(min_count=1, max_share=1.0, max_words=3).vocabulary == ("a", "b", "c")  # ties by name
    assert moments.prune().preparation.cleaning == Cleaning(
        stop_words=None, min_letters=1, min_count=2, max_share=0.9
    )
    assert read_moments(texts, **OPEN).prune().preparation.cleaning.min_count == 1
    with pytest.raises(ValueError, match="min_count must be a whole number"):
        moments.prune(min_count=0)


def test_pruned_moments_keep_the_pairs_of_the_kept_words():
    counts = np.random.default_rng(0).poisson(0.6, (300, 30)) @ np.diag([1] * 25 + [0] * 5) + np.eye(
        300, 30, dtype=int
    )
    moments = Moments.of(Corpus(counts.astype(int), [f"w{u:02}" for u in range(30)]))
    pruned = moments.prune(min_count=50)
    kept = np.flatnonzero(counts.sum(axis=0) >= 50)
    assert pruned.vocabulary == tuple(f"w{u:02}" for u in kept)
    part = moments.matrix[kept][:, kept].toarray()
    np.testing.assert_allclose(pruned.matrix.toarray(), part / part.sum(), atol=1e-15)


def test_a_fit_prunes_an_open_vocabulary(caplog):
    world = worlds.authors(seed=3)
    corpus = world.sample(2_000, length=20, seed=4)
    words = np.array([f"w{u}" for u in range(corpus.n_words)])
    texts = [
        " ".join(np.repeat(words[row.indices], row.data)) + f" once{d}"
        for d, row in enumerate(corpus.counts[[d]] for d in range(2_000))
    ]
    moments = read_moments(texts, **OPEN)
    assert moments.n_words > 2_000
    with caplog.at_level(logging.INFO, "fdmix"):
        mixture = fit_mixture(moments, 20).mixture
    assert f"of {moments.n_words:,} words, those seen at least 5 times" in caplog.text
    assert set(mixture.vocabulary) <= set(words)
    assert not mixture.preparation.cleaning.open_vocabulary
    like = read_corpus(["w1 w2 brandnew"], like=mixture)  # the model's words are given
    assert like.vocabulary == mixture.vocabulary


def test_an_open_vocabulary_refuses_phrases():
    with pytest.raises(ValueError, match="an open vocabulary has no phrases"):
        read_moments(["a b"], open_vocabulary=True, phrases=True)


def test_words_that_are_chosen_close_the_vocabulary():
    moments = read_moments(["flu season begins", "flu season ends", "a cold day"] * 4, **OPEN)
    chosen = moments.restrict(["flu", "season"])
    assert not chosen.is_open
    assert read_moments(["flu covid season"], like=chosen).vocabulary == ("flu", "season")
    assert not moments.top(3).is_open
    with pytest.raises(ValueError, match="open_vocabulary cannot choose them"):
        read_moments(["flu"], like=chosen, open_vocabulary=True)
    assert read_moments(["flu"], like=moments, preset="plain").is_open


def test_folds_of_an_open_vocabulary_are_pruned_like_the_whole():
    texts = [f"flu season day once{i}" for i in range(3_000)]
    moments = read_moments(texts, **OPEN, folds=3)
    rest = moments.without_fold(0)
    assert rest.is_open
    assert rest.prune().vocabulary == moments.prune().vocabulary == ("day", "flu", "season")
