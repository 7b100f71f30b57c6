"""Topics of documents: optimal, certified, each document by itself."""

from itertools import product
from math import gamma

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fdmix import Corpus, Mixture, worlds
from fdmix.mixture.assignment import matched_prior


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


@settings(max_examples=40)
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
    assert result.lengths.tolist() == [1, 0, 0]
    assert result.empty.tolist() == [False, True, True]
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


@pytest.mark.parametrize("prior", [None, "dirichlet", 0.3])
@pytest.mark.parametrize("smoothing", [0.0, 0.01])
def test_theta_is_a_distribution_for_every_prior_and_smoothing(prior, smoothing):
    mixture = Mixture([[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0]], [[0.7, 0], [0, 0.3]])
    counts = [[0, 0, 0, 3], [1, 0, 0, 5], [0, 0, 0, 0], [1, 2, 3, 0]]
    theta = mixture.assignment(counts, prior, smoothing=smoothing).theta
    np.testing.assert_allclose(theta.sum(axis=1), 1)
    assert mixture.assign(np.zeros((0, 4), int), prior).shape == (0, 2)


def test_a_topic_without_share_is_no_trouble():
    mixture = Mixture([[0.5, 0.5, 0], [0.2, 0.8, 0], [0, 0.1, 0.9]], np.diag([0.5, 0.5, 0]))
    for prior in (None, "dirichlet"):
        theta = mixture.assign([[0, 0, 1], [1, 1, 1]], prior)
        np.testing.assert_allclose(theta.sum(axis=1), 1)
        assert theta[0].argmax() == 2 or prior


@pytest.mark.parametrize("tiny", [1e-15, 1e-160, 1e-300])
def test_tiny_probabilities(tiny):
    topics = np.array([[1 - tiny, tiny, 0.0], [tiny / 2, tiny * 3, 1.0], [0.5, tiny, 0.5]])
    mixture = Mixture(topics / topics.sum(axis=1, keepdims=True), np.eye(3) / 3)
    result = mixture.assignment([[1, 3, 2], [0, 4, 0], [5, 1, 1]])
    assert np.isfinite(result.theta).all()
    assert result.converged


def test_many_dense_topics_and_long_documents():
    rng = np.random.default_rng(4)
    mixture = Mixture(rng.dirichlet(np.full(1000, 0.5), 300), np.eye(300) / 300)
    result = mixture.assignment(rng.poisson(0.3, (6, 1000)))
    assert result.converged
    long = mixture.assignment(rng.poisson(3.0, (1, 1000)))
    assert long.converged


def test_the_posterior_against_exact_enumeration():
    """CVB0 is an approximation: near for clear documents, and no better than this for ambiguous ones."""
    topics = np.array([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.1, 0.2, 0.7]])
    a = np.array([0.5, 0.5, 0.5])
    document = [0, 0, 0, 1, 2]
    exact, weight = np.zeros(3), 0.0
    for labels in product(range(3), repeat=len(document)):
        counts = np.bincount(labels, minlength=3)
        chance = np.prod([topics[t, u] for t, u in zip(labels, document, strict=True)])
        chance *= np.prod([gamma(a[t] + counts[t]) / gamma(a[t]) for t in range(3)])
        weight += chance
        exact += chance * (a + counts) / (a.sum() + len(document))
    theta = Mixture(topics, np.eye(3) / 3).assign([[3, 1, 1]], prior=a)[0]
    assert abs(theta - exact / weight).sum() < 0.1


def test_token_topics_are_in_the_callers_order():
    mixture = Mixture([[0.7, 0.3, 0], [0.1, 0.4, 0.5]], np.eye(2) / 2, list("abc"))
    shares = mixture.token_topics(Corpus([[1, 2, 1]], ["z", "c", "a"]))
    assert shares.shape == (3, 2)
    assert shares[0].tolist() == [0, 0]
    assert shares[1].tolist() == [0, 1]


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
        ({"prior": [1.0, 2.0]}, "one for each"),
        ({"tolerance": 0}, "tolerance"),
        ({"counts": [[0.5, 1]]}, "tf-idf"),
    ],
)
def test_bad_arguments(options, message):
    mixture = Mixture([[0.5, 0.5]], [[1.0]])
    with pytest.raises(ValueError, match=message):
        mixture.assign(**({"counts": [[1, 1]]} | options))


def test_a_prior_taken_from_alpha_is_worth_a_token_at_least():
    """With A near 0 a short document would be given to one topic, where its words leave several possible."""
    topics = np.array([[0.5, 0.4, 0.1], [0.4, 0.1, 0.5]])
    sharp = Mixture(topics, np.array([[0.499, 0.001], [0.001, 0.499]]))
    documents = np.array([[3, 0, 0], [2, 0, 1], [5, 0, 0], [4, 1, 1]])
    exact = np.prod(topics ** documents[:, None], axis=2)  # of documents with one topic each
    exact /= exact.sum(axis=1, keepdims=True)
    assert abs(sharp.assign(documents, prior="dirichlet") - exact).max() < 0.15
