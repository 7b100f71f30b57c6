"""The paper's theorem in practice: where topics have anchor words, more data bring the fit to the truth."""

import numpy as np
import pytest
import scipy.sparse as sp

from fdmix import Moments, fit_mixture, worlds
from fdmix.metrics import matching_distance
from fdmix.moments.weighted import WeightedMoments


def world_with_anchors(seed, theta, n_topics=10, n_words=200, anchor_mass=0.05):
    topics = worlds.dirichlet_topics(n_topics, np.full(n_words, 0.1), seed)
    topics[:, :n_topics] = 0
    topics *= (1 - anchor_mass) / topics.sum(axis=1, keepdims=True)
    topics[:, :n_topics] = np.eye(n_topics) * anchor_mass
    return worlds.World(topics, theta)


def error(world, moments):
    return matching_distance(fit_mixture(moments, len(world.topics)).mixture, world.mixture).mean


def pairs_of_endless_documents(world, n_tokens=1e10):
    """Moments whose matrix is the true one, as if it had been counted from this many tokens."""
    matrix = world.topics.T @ world.mixture.correlations @ world.topics
    return WeightedMoments(sp.csr_array(matrix), matrix.sum(axis=1) * n_tokens / 30, n_tokens)


@pytest.mark.parametrize(("seed", "theta"), [(11, 0.2), (12, 0.2), (11, 1.0), (12, 1.0)])
def test_the_exact_pair_matrix_gives_the_true_topics(seed, theta):
    world = world_with_anchors(seed, theta)
    assert error(world, pairs_of_endless_documents(world)) < 0.015


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "theta"), [(13, 0.2), (13, 1.0)])
def test_the_error_falls_with_the_root_of_the_number_of_documents(seed, theta):
    world = world_with_anchors(seed, theta)
    few, many = (error(world, Moments.of(world.sample(n, 30, seed))) for n in (10_000, 250_000))
    assert many < 2 * few / 5  # five is the root of 25


@pytest.mark.slow
def test_sharp_topics_are_kept_where_smooth_ones_gain_nothing_to_speak_of():
    """Along the flat direction blurred topics are as likely as sharp ones, and held-out pairs choose by chance."""
    errors = [error(world, Moments.of(world.sample(10_000, 30, seed))) for seed, world in dense_worlds()]
    assert max(errors) < 0.3


def dense_worlds():
    return [(seed, world_with_anchors(seed, 1.0)) for seed in range(1, 7)]
