"""Scattered topics: they are found by their recurrence, and topics that stand for two get their places."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.metrics import matching_distance
from fdmix.solvers import EM
from fdmix.solvers.scattered import nearest_mixtures, replaced, scattered

WORLD = worlds.zipf(12, 400, seed=3)
MHAT = Moments.of(WORLD.sample(20_000, length=30, seed=4)).matrix


def with_a_scattered_topic():
    """The true mixture, with topics 0 and 1 merged into 0, and topic 1 a tenth of each of the others."""
    topics, alpha = WORLD.topics.copy(), WORLD.mixture.correlations.copy()
    merging = np.eye(12)
    merging[1] = merging[0]
    scattering = 0.9 * np.eye(12)
    scattering[:, 1] += 0.1
    scattering[1] = np.eye(12)[0]
    topics[0] = topics[:2].mean(axis=0)
    topics[1] = topics[2:].mean(axis=0)
    alpha = scattering.T @ (merging.T @ alpha @ merging) @ scattering
    return Mixture(topics, alpha / alpha.sum())


def test_a_dirichlet_has_no_scattered_topics():
    for prior in (0.02, np.geomspace(0.01, 2, 12)):
        a = np.broadcast_to(prior, 12)
        total = a.sum()
        alpha = (np.outer(a, a) + np.diag(a)) / (total * (total + 1))
        assert scattered(Mixture(WORLD.topics, alpha / alpha.sum())).size == 0


def test_the_scattered_topic_is_found():
    assert scattered(with_a_scattered_topic()).tolist() == [1]


def test_its_place_goes_to_the_topic_that_stands_for_two():
    broken = with_a_scattered_topic()
    assert matching_distance(broken, WORLD.mixture).missed >= 1
    mended, n_replaced = replaced(broken, MHAT)
    assert n_replaced == 1
    assert matching_distance(mended, WORLD.mixture).missed == 0
    assert mended.log_likelihood(MHAT) > broken.log_likelihood(MHAT)


def test_nothing_changes_without_a_scattered_topic():
    truth = WORLD.mixture
    same, n_replaced = replaced(truth, MHAT)
    assert n_replaced == 0
    assert same is truth


def test_nothing_changes_where_no_topic_is_worth_splitting():
    """The scattered topic has no better use if all others stand for one topic each."""
    topics = np.vstack([WORLD.topics, WORLD.topics.mean(axis=0)])
    spread = np.hstack([0.9 * np.eye(12), np.full((12, 1), 0.1)])
    alpha = spread.T @ WORLD.mixture.correlations @ spread
    mixture = Mixture(topics, alpha / alpha.sum())
    assert scattered(mixture).tolist() == [12]
    found, n_replaced = replaced(mixture, MHAT)
    assert n_replaced == 0
    assert found is mixture


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_mixture_of_topics_is_found(seed):
    weights = np.random.default_rng(seed).dirichlet(np.ones(12), size=4)
    assert_allclose(nearest_mixtures(weights @ WORLD.topics, WORLD.topics), weights, atol=0.02)


def test_a_fit_from_the_broken_mixture_finds_all_topics():
    """A fit leaves the local optimum. With swaps alone it would end at l1 0.14."""
    moments = Moments.of(WORLD.sample(20_000, length=30, seed=4))
    fitted = fit_mixture(moments, 12, solver=EM(swaps=True), start=with_a_scattered_topic()).mixture
    assert matching_distance(fitted, WORLD.mixture).mean < 0.1
