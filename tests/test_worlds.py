"""Generated corpora follow the law they claim."""

import numpy as np
import pytest

from fdmix import Moments
from fdmix.worlds import World, intervals


def test_intervals_are_the_papers():
    world = intervals()
    assert world.topics.shape == (3, 100)
    assert [np.flatnonzero(topic)[[0, -1]].tolist() for topic in world.topics] == [[0, 39], [29, 69], [59, 99]]
    np.testing.assert_allclose(world.topics.sum(axis=1), 1)
    assert world.law.correlations.sum() == pytest.approx(1)
    assert world.mixture.pair_matrix().sum() == pytest.approx(1)


def test_urn_gives_the_dirichlets_second_moments():
    """With one word per topic, Mhat is the estimate of E[theta theta'] itself."""
    world = World(np.eye(4), np.array([0.1, 0.4, 1.0, 0.5]))
    matrix = Moments.of(world.sample(200_000, length=4, seed=3)).matrix.toarray()
    np.testing.assert_allclose(matrix, world.law.correlations, atol=0.004)


def test_same_seed_same_corpus():
    a, b, c = (intervals().sample(50, length=9, seed=seed).counts for seed in (1, 1, 2))
    assert (a != b).nnz == 0
    assert (a != c).nnz > 0
    assert (np.asarray(a.sum(axis=1)) == 9).all()


def test_lengths_and_emptiness():
    assert intervals().sample(0).n_documents == 0
    assert intervals().sample(3, length=0).n_tokens == 0
    assert intervals().sample(3, length=1).n_tokens == 3


@pytest.mark.parametrize(
    ("topics", "concentration", "message"),
    [
        ([[0.5, 0.6]], 1.0, "sum to 1"),
        ([[1.5, -0.5]], 1.0, "non-negative"),
        ([0.5, 0.5], 1.0, "table"),
        ([[0.5, 0.5]], 0.0, "positive"),
        ([[0.5, 0.5]], np.nan, "positive"),
    ],
)
def test_impossible_worlds(topics, concentration, message):
    with pytest.raises(ValueError, match=message):
        World(np.array(topics), concentration)
