"""Topics of documents: optimal, certified, each document by itself."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fdmix import Corpus, Mixture, worlds
from fdmix.assignment import matched_prior


def random_case(seed, n_topics=5, n_words=20, n_documents=12):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.4), n_topics)
    topics[rng.random(topics.shape) < 0.3] = 0
    topics[:, 0] += 0.01
    alpha = np.diag(rng.dirichlet(np.ones(n_topics)))
    counts = rng.poisson(rng.choice([0.2, 1.0, 5.0]), (n_documents, n_words))
    return Mixture(topics / topics.sum(axis=1, keepdims=True), alpha), counts


def likelihood(theta, topics, counts):
    seen = counts > 0
    return np.sum(counts[seen] / counts.sum() * np.log(theta @ topics[:, seen]))


def best_by_a_generic_solver(topics, counts, rng):
    """The same problem through softmax parameters and BFGS, from several starts."""

    def loss(x):
        theta = np.exp(x - x.max())
        return -likelihood(theta / theta.sum(), topics, counts)

    starts = [np.zeros(len(topics)), *rng.normal(size=(3, len(topics)))]
    return max(-minimize(loss, start, method="BFGS").fun for start in starts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_theta_is_as_likely_as_a_generic_solver_finds(seed):
    mixture, counts = random_case(seed)
    result = mixture.assignment(counts)
    rng = np.random.default_rng(seed)
    possible = mixture.topics.any(axis=0)
    for theta, row, value in zip(result.theta, counts * possible, result.log_likelihoods, strict=True):
        if row.sum():
            assert value == pytest.approx(likelihood(theta, mixture.topics, row))
            assert value >= best_by_a_generic_solver(mixture.topics, row, rng) - 2e-6


@given(st.integers(0, 10**6), st.sampled_from([1e-2, 1e-4, 1e-8]))
def test_the_gap_bounds_the_loss_and_keeps_to_the_tolerance(seed, tolerance):
    mixture, counts = random_case(seed)
    rough = mixture.assignment(counts, tolerance=tolerance)
    fine = mixture.assignment(counts, tolerance=1e-11)
    scored = np.isfinite(rough.log_likelihoods)
    assert (rough.gaps <= tolerance).all()
    assert (fine.log_likelihoods - rough.log_likelihoods <= rough.gaps + 1e-11)[scored].all()
    np.testing.assert_allclose(rough.theta.sum(axis=1), 1)
    assert rough.theta.min() >= 0


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([None, "dirichlet", 0.2]))
def test_a_document_has_the_same_topics_in_any_batch(seed, prior):
    mixture, counts = random_case(seed, n_documents=150)
    whole = mixture.assign(counts, prior)
    some = np.random.default_rng(seed).permutation(150)[:40]
    np.testing.assert_array_equal(mixture.assign(counts[some], prior, n_threads=1), whole[some])


def test_pure_documents_have_one_topic():
    mixture = Mixture([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]], [[0.3, 0.2], [0.2, 0.3]])
    theta = mixture.assign([[3, 2, 0, 0], [0, 0, 1, 1], [2, 1, 1, 2]])
    np.testing.assert_allclose(theta, [[1, 0], [0, 1], [0.5, 0.5]], atol=1e-6)
    assert sp.issparse(mixture.assign([[3, 2, 0, 0]], sparse=True))


def test_empty_and_unknown():
    mixture = Mixture([[0.5, 0.5, 0], [0.9, 0.1, 0]], [[0.5, 0.1], [0.1, 0.3]], ["a", "b", "c"])
    result = mixture.assignment(Corpus([[1, 0, 2], [0, 0, 0], [0, 0, 4]], ["a", "b", "c"]))
    assert (result.n_unknown, result.n_empty) == (6, 2)
    np.testing.assert_allclose(result.theta[1:], [[0.6, 0.4]] * 2)
    assert np.isnan(result.log_likelihoods[1])


def test_words_are_aligned_by_name():
    mixture = Mixture([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]], np.eye(2) / 2, ["a", "b", "c"])
    straight = mixture.assign(Corpus([[3, 1, 0]], ["a", "b", "c"]))
    result = mixture.assignment(Corpus([[5, 1, 3]], ["z", "b", "a"]))
    np.testing.assert_allclose(result.theta, straight, atol=1e-9)
    assert result.n_unknown == 5
    with pytest.raises(ValueError, match="matched by word"):
        mixture.assign([[1, 2]])


def test_matched_prior_has_the_mixtures_moments():
    law = worlds.Dirichlet(np.array([0.2, 0.5, 1.3]))
    np.testing.assert_allclose(matched_prior(law.correlations), law.a)


def test_posterior_means_are_near_the_exact_ones():
    """With one token of a known word, the posterior mean has a closed form: (a + p) / (A + 1)."""
    topics = np.array([[0.8, 0.2], [0.3, 0.7]])
    a = np.array([0.4, 1.1])
    theta = Mixture(topics, np.eye(2) / 2).assign([[1, 0]], prior=a)
    responsibility = a * topics[:, 0] / np.sum(a * topics[:, 0])
    np.testing.assert_allclose(theta[0], (a + responsibility) / (a.sum() + 1))


def test_the_prior_pulls_short_documents_to_the_average():
    world = worlds.authors(seed=2)
    corpus = world.sample(300, length=6, seed=3)
    plain, posterior = (world.mixture.assign(corpus, prior) for prior in (None, "dirichlet"))
    assert posterior.max(axis=1).mean() < plain.max(axis=1).mean()
    assert (posterior > 0).all()


def test_token_topics_are_shares():
    world = worlds.authors(seed=2)
    corpus = world.sample(20, seed=3)
    shares = world.mixture.token_topics(corpus, prior="dirichlet")
    assert shares.shape == (corpus.counts.nnz, 20)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "flat"}, "dirichlet"),
        ({"prior": -1.0}, "positive"),
        ({"prior": np.nan}, "positive"),
        ({"tolerance": 0}, "tolerance"),
        ({"counts": [[0.5, 1]]}, "tf-idf"),
    ],
)
def test_bad_arguments(options, message):
    mixture = Mixture([[0.5, 0.5]], [[1.0]])
    with pytest.raises(ValueError, match=message):
        mixture.assign(**({"counts": [[1, 1]]} | options))
