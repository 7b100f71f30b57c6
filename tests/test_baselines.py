"""The paper's baselines find what they should."""

import numpy as np
import pytest

from fdmix import Corpus, Mixture, Moments, baselines, worlds
from fdmix.metrics import matching_distance
from fdmix.pairs import PairSums


def exact_moments(mixture, n_documents=100_000):
    """Moments whose Mhat is the mixture's M, up to rounding."""
    matrix = np.tril(np.round(mixture.pair_matrix() * 1e15).astype(np.int64))
    pairs = PairSums._from_scipy(worlds.sp.csr_array(matrix))
    counts = np.full(mixture.n_words, n_documents)
    return Moments(pairs, counts, counts, n_documents, 0)


@pytest.mark.parametrize("loss", ["kl", "l2"])
def test_separable_topics_are_recovered_exactly_from_exact_moments(loss):
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.ones(40), 5)
    topics[:, :5] = np.eye(5) * 0.3  # the anchor words
    alpha = worlds.Dirichlet(np.array([0.1, 0.2, 0.1, 0.3, 0.2])).correlations
    true = Mixture(topics / topics.sum(axis=1, keepdims=True), alpha)
    found = baselines.extreme_points(exact_moments(true), 5, loss, tolerance=1e-10)
    matching = matching_distance(true, found)
    assert matching.mean < 2e-3
    np.testing.assert_allclose(found.correlations[np.ix_(matching.right, matching.right)], alpha, atol=2e-3)


@pytest.mark.parametrize("loss", ["kl", "l2"])
def test_extreme_points_on_the_authors_problem(loss):
    world = worlds.authors(seed=8)
    found = baselines.extreme_points(Moments.of(world.sample(50_000, seed=9)), 20, loss)
    assert matching_distance(found, world.mixture).mean <= (0.06 if loss == "kl" else 0.08)


def test_extreme_points_refuses_nonsense():
    moments = Moments.of(worlds.intervals().sample(100, seed=1))
    with pytest.raises(ValueError, match="'kl' or 'l2'"):
        baselines.extreme_points(moments, 3, "l1")
    with pytest.raises(ValueError, match="anchor word"):
        baselines.extreme_points(moments, 1000)


def test_gibbs_sampling_finds_topics():
    pytest.importorskip("tomotopy", reason="tomotopy is not installed")
    world = worlds.intervals()
    corpus = world.sample(1000, length=30, seed=1)
    mixture = baselines.lda(Corpus(corpus.counts, [f"w{u}" for u in range(100)]), 3, sweeps=100, alpha=1.5)
    assert matching_distance(mixture, world.mixture).mean < 0.5
    assert mixture.vocabulary[0] == "w0"
    again = baselines.lda(Corpus(corpus.counts, [f"w{u}" for u in range(100)]), 3, sweeps=100, alpha=1.5)
    np.testing.assert_array_equal(mixture.topics, again.topics)


def test_missing_mallet_is_said():
    with pytest.raises(FileNotFoundError, match="bin/mallet"):
        baselines.lda([[1, 1]], 1, mallet="/nowhere/mallet")
    with pytest.raises(ValueError, match="no token"):
        baselines.lda([[0, 0]], 1)
    with pytest.raises(ValueError, match="n_topics"):
        baselines.lda([[1, 1]], 0)
