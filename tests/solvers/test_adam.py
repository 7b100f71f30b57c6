"""The paper's optimiser ascends the likelihood, from drawn pairs and from exact gradients."""

import numpy as np
import pytest

from fdmix import Moments, fit_mixture, worlds
from fdmix.solvers import Adam
from fdmix.solvers.adam import _PairSampler
from fdmix.solvers.contract import Problem


@pytest.fixture(scope="module")
def moments():
    return Moments.of(worlds.intervals().sample(20_000, length=20, seed=3))


def problem_of(moments, seed=0):
    return Problem(None, moments.matrix, 3, 1, 0.0, np.random.default_rng(seed))


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_pairs_are_drawn_from_mhat(moments, share):
    """Drawn pairs, with their importance weights, have Mhat as their mean."""
    u, v, weight = _PairSampler(problem_of(moments), share)(400_000)
    mean = np.zeros((100, 100))
    np.add.at(mean, (u, v), weight / u.size)
    mhat = moments.matrix.toarray()
    assert (abs(mean - mhat) < 6 * np.sqrt(mhat / u.size) + 1e-9).all()


def test_adam_approaches_the_likelihood_of_em(moments):
    em = fit_mixture(moments, 3, sparsity=0, tolerance=1e-5).log_likelihoods[-1]
    adam = fit_mixture(moments, 3, solver="adam", max_passes=60, tolerance=0)
    assert adam.log_likelihoods[-1] > adam.log_likelihoods[0] + 0.5 * (em - adam.log_likelihoods[0])
    assert adam.log_likelihoods[-1] > em - 0.01


def test_small_exact_steps_ascend(moments):
    trace = fit_mixture(moments, 3, solver=Adam(exact=True, learning_rate=0.001), max_passes=20, tolerance=0)
    assert (np.diff(trace.log_likelihoods) > 0).all()


def test_exact_gradients_reach_the_likelihood_of_em(moments):
    solution = fit_mixture(moments, 3, solver=Adam(exact=True, learning_rate=0.05), max_passes=300, tolerance=0)
    em = fit_mixture(moments, 3, sparsity=0, tolerance=1e-5)
    assert solution.log_likelihoods[-1] == pytest.approx(em.log_likelihoods[-1], abs=1e-3)


def test_named_settings_are_the_papers_and_the_authors():
    assert Adam.paper().learning_rate == 0.001
    assert (Adam.authors().learning_rate, Adam.authors().batch) == (0.01, 512)


def test_trace_penalty_keeps_alpha_from_the_diagonal(moments):
    free, held = (
        fit_mixture(
            moments, 3, solver=Adam(exact=True, learning_rate=0.05, trace_penalty=p), max_passes=150, tolerance=0
        )
        for p in (0.0, 2.0)
    )
    assert np.trace(held.mixture.correlations) < np.trace(free.mixture.correlations) - 0.01


def test_the_result_is_the_best_by_the_penalised_likelihood(moments):
    start = fit_mixture(moments, 3, sparsity=0).mixture  # the most likely one: every other mixture loses likelihood
    found = fit_mixture(
        moments, 3, solver=Adam(exact=True, learning_rate=0.02, trace_penalty=2.0), start=start, max_passes=40
    ).mixture
    objectives = [m.log_likelihood(moments.matrix) - 2 * np.trace(m.correlations) for m in (start, found)]
    assert objectives[1] > objectives[0] + 0.1


def test_same_seed_same_result(moments):
    a, b, c = (fit_mixture(moments, 3, solver="adam", max_passes=2, seed=seed).mixture.topics for seed in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


@pytest.mark.parametrize("bad", [{"learning_rate": 0}, {"batch": 0}, {"steps": 0}, {"uniform_share": 1.0}])
def test_bad_settings(bad):
    with pytest.raises(ValueError, match=r"Adam|uniform_share"):
        Adam(**bad)
