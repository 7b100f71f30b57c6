"""effects(): coefficients of a world where they are known, and refusals in words."""

import numpy as np
import pytest
from effects.drifts import drawn, overlapping_topics, words_of
from numpy.testing import assert_allclose

from fdmix import Corpus, Mixture
from fdmix.effects import effects
from fdmix.effects.regression import _composition, _unbiased

TRUTH = np.array([[0.2, 0.5, 0.3], [0.15, -0.15, 0.0]])  # of a document of party R, and what party D adds


def two_parties(seed=0, n=1_000, length=12):
    rng = np.random.default_rng(seed)
    topics = overlapping_topics(rng, 3, 60)
    counts = np.vstack([drawn(rng, topics, shares, n, length=length) for shares in (TRUTH[0], TRUTH.sum(axis=0))])
    party = np.repeat([0.0, 1.0], n)
    return Mixture(topics, vocabulary=words_of(topics)), Corpus(counts, words_of(topics)), party


def test_unbiased_effects_are_the_truth_within_their_errors():
    mixture, corpus, party = two_parties()
    design = np.column_stack([np.ones_like(party), party])
    estimates, errors = _unbiased(mixture, corpus.counts, design)
    assert (np.abs(estimates - TRUTH) < 3.5 * errors).all()
    assert errors.max() < 0.03
    assert_allclose(estimates.sum(axis=0).sum(), 1, atol=1e-5)  # shares sum to 1, and what a party adds to 0
    pulled, _ = _composition(mixture, corpus.counts, design, seed=0)
    assert 0 < pulled[1, 0] < estimates[1, 0]  # draws from a posterior with one prior understate the effect


@pytest.mark.slow
def test_intervals_of_effects_are_honest():
    """Nominal 90 %: between 85 and 95 % hold the truth."""
    inside = []
    for seed in range(60):
        mixture, corpus, party = two_parties(seed, n=150)
        estimates, errors = _unbiased(mixture, corpus.counts, np.column_stack([np.ones_like(party), party]))
        inside.append(np.abs(estimates - TRUTH) < 1.645 * errors)
    assert 0.85 <= np.mean(inside) <= 0.95


@pytest.mark.slow
def test_a_formula_over_columns_of_the_corpus():
    pytest.importorskip("formulaic")
    mixture, corpus, party = two_parties()
    names = np.where(party > 0, "D", "R")
    names[5] = ""
    age = np.random.default_rng(0).normal(50, 10, len(corpus))
    corpus = Corpus(corpus.counts, corpus.vocabulary, {"party": names, "age": age})
    found = effects(mixture, corpus, "~ C(party, contr.treatment('R')) + age")
    assert found.terms == ("Intercept", "C(party, contr.treatment('R'))[T.D]", "age")
    assert (np.abs(found.estimates[1] - TRUTH[1]) < 3.5 * found.errors[1]).all()
    assert (found.q[1, :2] < 0.01).all()
    assert (found.q[2] > 0.01).all()
    assert (found.n_documents, found.n_left_out) == (1_999, 1)
    table = found.columns()
    assert len(table["estimate"]) == 9
    again = effects(mixture, corpus.counts, "~ party", {"party": names}, method="composition")
    assert again.estimates.shape == (2, 3)


@pytest.mark.slow
def test_bad_formulas_are_refused_in_words():
    pytest.importorskip("formulaic")
    mixture, corpus, party = two_parties(n=30)
    columns = {"party": party, "other": 1 - party}
    with pytest.raises(ValueError, match=r"cannot be used: .*columns: 'party', 'other'"):
        effects(mixture, corpus, "~ color", columns)
    with pytest.raises(ValueError, match="left side of the formula is the topics"):
        effects(mixture, corpus, "theta ~ party", columns)
    with pytest.raises(ValueError, match="follows from the others"):
        effects(mixture, corpus, "~ party + other", columns)
    with pytest.raises(ValueError, match="3 rows for 60 documents"):
        effects(mixture, corpus, "~ party", {"party": [1, 2, 3]})
    with pytest.raises(ValueError, match="method is one of"):
        effects(mixture, corpus, "~ party", columns, method="x")
    with pytest.raises(ValueError, match="too few"):
        effects(mixture, corpus[:2], "~ party", {"party": [0, 1]})


def test_without_formulaic_the_error_says_how_to_get_it(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "formulaic", None)
    mixture, corpus, party = two_parties(n=10)
    with pytest.raises(ImportError, match=r"pip install 'fdmix\[effects\]'"):
        effects(mixture, corpus, "~ party", {"party": party})
