"""Held-out pairs choose between sharp and smooth topics."""

import numpy as np
import pytest
import scipy.sparse as sp

from fdmix import Moments, fit_mixture, worlds
from fdmix.corpus.content_hashes import content_hashes
from fdmix.metrics import completion_log_likelihood, matching_distance, pair_log_likelihood
from fdmix.moments.counting import HELD_OUT_BUCKETS


@pytest.fixture(scope="module")
def sparse_world():
    return worlds.zipf(20, 600, seed=4)


def dense_topics():
    """Topics that all have all words: the same base, each word up to ten times as frequent in one as in another."""
    rng = np.random.default_rng(1)
    topics = worlds.zipf_base(400) * rng.gamma(2.0, size=(8, 400))
    return worlds.World(topics / topics.sum(axis=1, keepdims=True), 0.1)


def phases(moments, n_topics, **options):
    seen = []
    solution = fit_mixture(moments, n_topics, callback=lambda now: seen.append(now.phase) and None, **options)
    return solution, seen


def test_topics_with_words_of_their_own_stay_sharp(sparse_world):
    corpus = sparse_world.sample(6_000, worlds.geometric_lengths(6_000, 30, 3), seed=3)
    solution, seen = phases(Moments.of(corpus), 20)
    assert "smooth" in seen
    assert seen[-1] == "sparse"  # sparse EM again, on the pairs of all documents
    assert matching_distance(solution.mixture, sparse_world.mixture).mean < 0.2
    assert (solution.mixture.topics == 0).mean() > 0.5


def test_topics_that_share_all_words_become_smooth():
    world = dense_topics()
    corpus, other = world.sample(3_000, 60, seed=5), world.sample(2_000, 60, seed=6)
    solution, seen = phases(Moments.of(corpus), 8)
    assert seen[-1] == "smooth"
    sharp = fit_mixture(Moments.of(corpus), 8, sparsity=0.2)
    assert (
        matching_distance(solution.mixture, world.mixture).mean < matching_distance(sharp.mixture, world.mixture).mean
    )
    assert pair_log_likelihood(solution.mixture, other) > pair_log_likelihood(sharp.mixture, other)
    assert (
        completion_log_likelihood(solution.mixture, other, 0.1).mean
        > completion_log_likelihood(sharp.mixture, other, 0.1).mean
    )


def test_moments_given_to_judge_by_are_not_learned_from(sparse_world):
    corpus, other = sparse_world.sample(4_000, 30, seed=1), sparse_world.sample(500, 30, seed=2)
    solution, seen = phases(Moments.of(corpus), 20, held_out=Moments.of(other))
    assert seen[-1] == "smooth"
    assert solution.reason == "held-out pairs prefer sharp topics"
    assert solution.converged
    with pytest.raises(ValueError, match="same words"):
        fit_mixture(Moments.of(corpus), 20, held_out=Moments.of([[1, 1]]))


def test_few_documents_and_moments_without_judges_are_fitted_as_well(sparse_world):
    corpus = sparse_world.sample(300, 30, seed=1)  # a sixteenth is too few to judge by
    for moments in (Moments.of(corpus), Moments.of(sparse_world.sample(2_000, 30), held_out=False)):
        assert "smooth" not in phases(moments, 5)[1]


def test_a_word_of_held_out_documents_alone_gets_a_topic():
    counts = np.random.default_rng(0).poisson(0.4, (800, 41))
    counts[:, 40] = 0
    apart = np.flatnonzero(content_hashes(sp.csr_array(counts)) % np.uint64(HELD_OUT_BUCKETS) == 0)
    whole = Moments.of(counts)
    assert whole.judges == Moments.of(counts[apart], held_out=False)
    with_word = counts.copy()
    with_word[apart, 40] = 2
    still = content_hashes(sp.csr_array(with_word[apart])) % np.uint64(HELD_OUT_BUCKETS) == 0
    with_word[apart[~still], 40] = 0  # the word moved these documents to other buckets
    assert still.any()
    moments = Moments.of(with_word)
    assert moments.without_judges().word_counts[40] == 0
    assert fit_mixture(moments, 3).mixture.topics[:, 40].max() > 0


def test_held_out_moments_add_and_subtract_like_the_whole():
    rng = np.random.default_rng(2)
    a, b = rng.poisson(0.5, (300, 12)), rng.poisson(0.5, (200, 12))
    both = Moments.of(np.vstack([a, b]))
    assert Moments.of(a) + Moments.of(b) == both
    assert both - Moments.of(b) == Moments.of(a)
    rest = both.without_judges()
    assert rest + both.judges == Moments.of(np.vstack([a, b]), held_out=False)
