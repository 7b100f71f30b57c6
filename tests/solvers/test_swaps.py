"""Swaps repair what EM cannot: a topic that holds two, and two that share one."""

import numpy as np
import pytest

from fdmix import Mixture, Moments, fit_documents, fit_mixture, worlds
from fdmix.kernels.blocks import dense_block, fit_two_topics
from fdmix.metrics import completion_log_likelihood, matching_distance
from fdmix.solvers import EM
from fdmix.solvers.swaps import swapped


@pytest.fixture(scope="module")
def case():
    world = worlds.World(worlds.dirichlet_topics(8, 40 * worlds.zipf_base(300), 1), 1 / 8)
    return world, world.sample(8000, length=25, seed=2)


def spoiled(world):
    """The truth with topics 0 and 1 in one, and topic 2 in two halves."""
    topics, rng = world.topics.copy(), np.random.default_rng(0)
    topics[0] = (topics[0] + topics[1]) / 2
    part = rng.uniform(0.3, 0.7, topics.shape[1])
    topics[1], topics[2] = topics[2] * part, topics[2] * (1 - part)
    topics /= topics.sum(axis=1, keepdims=True)
    shares = np.array([2, 0.5, 0.5, 1, 1, 1, 1, 1]) / 8
    alpha = np.diag(shares) / 2 + np.outer(shares, shares) / 2
    alpha[1, 2] = alpha[2, 1] = alpha[1, 1] = alpha[2, 2] = alpha[1:3, 1:3].mean()
    return Mixture(topics, alpha / alpha.sum())


def test_a_swap_repairs_a_merged_and_a_divided_topic(case):
    world, corpus = case
    moments = Moments.of(corpus)
    wrong = spoiled(world)
    better, n_swaps = swapped(wrong, moments.matrix)
    assert n_swaps == 1
    assert matching_distance(wrong, world.mixture).distances.max() > 0.7
    assert matching_distance(better, world.mixture).distances.max() < 0.4
    stuck, free = (fit_mixture(moments, 8, start=wrong, solver=EM(swaps=s)).mixture for s in (False, True))
    assert matching_distance(free, world.mixture).mean < matching_distance(stuck, world.mixture).mean - 0.05


def test_the_truth_is_left_alone(case):
    world, corpus = case
    same, n_swaps = swapped(world.mixture, Moments.of(corpus).matrix)
    assert n_swaps == 0
    np.testing.assert_array_equal(same.topics, world.topics)


def test_swaps_do_not_depend_on_threads(case):
    world, corpus = case
    mhat, wrong = Moments.of(corpus).matrix, spoiled(world)
    one, three = (swapped(wrong, mhat, n)[0] for n in (1, 3))
    np.testing.assert_array_equal(one.topics, three.topics)


def test_a_start_keeps_its_numbers_unless_swaps_are_asked_for(case):
    """From a start that swaps would repair: the same start with the truth would prove nothing."""
    world, corpus = case
    wrong = spoiled(world)
    kept, swapped_ = (
        fit_mixture(Moments.of(corpus), 8, start=wrong, solver=EM(swaps=swaps)).mixture for swaps in (None, True)
    )
    np.testing.assert_array_equal(matching_distance(kept, wrong).right, np.arange(8))
    assert matching_distance(kept, wrong).distances.max() < 0.6
    assert (matching_distance(swapped_, wrong).right != np.arange(8)).any()


def test_a_block_is_the_matrix_of_its_words(case):
    mhat = Moments.of(case[1]).matrix
    words = np.arange(0, 200, 2)
    W = dense_block(mhat.indptr, mhat.indices, mhat.data, words)
    np.testing.assert_array_equal(W, mhat[words][:, words].toarray())


def test_em_of_two_topics_gains_in_every_round_what_the_formula_says(case):
    W = Moments.of(case[1]).matrix[::2][:, ::2].toarray()[:100, :100]
    W /= W.sum()
    r = W.sum(axis=1)
    rng, gains = np.random.default_rng(0), []
    first = rng.dirichlet(np.ones(100), 2)
    for rounds in range(8):
        halves, joint = first.copy(), np.array([[0.4, 0.1], [0.1, 0.4]])
        gains.append(fit_two_topics(W, halves, joint, rounds))
        np.testing.assert_allclose([halves.sum(), joint.sum()], [2, 1])
        seen = W > 0
        by_hand = np.sum(W[seen] * np.log((halves.T @ joint @ halves)[seen] / np.outer(r, r)[seen]))
        assert gains[-1] == pytest.approx(by_hand)
    assert (np.diff(gains) > -1e-12).all()


def test_documents_lose_nothing_on_easy_topics_and_threads_change_nothing(case):
    world, corpus = case
    unseen = world.sample(1000, length=25, seed=9)
    alone = fit_mixture(Moments.of(corpus[:1500]), 8).mixture
    solution = fit_documents(corpus[:1500], 8)
    scores = [completion_log_likelihood(m, unseen, "dirichlet").mean for m in (alone, solution.mixture)]
    assert scores[1] > scores[0] - 0.01  # little to gain, and some documents are held out
    assert np.isfinite(solution.log_likelihoods).all()
    assert solution.reason
    again = fit_documents(corpus[:1500], 8, n_threads=1)
    np.testing.assert_array_equal(again.mixture.topics, solution.mixture.topics)


def test_tiny_corpora_and_a_single_topic_can_be_fitted_with_documents(case):
    assert fit_documents(case[1][:10], 2).mixture.n_topics == 2
    assert fit_documents(case[1][:100], 1).mixture.n_topics == 1
