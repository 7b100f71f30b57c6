"""The paper's optimiser ascends the likelihood, from drawn pairs and from exact gradients."""

import numpy as np
import pytest

from fdmix import Moments, fit_mixture, worlds
from fdmix.engines import engine_for
from fdmix.fit.starts import starting_mixture
from fdmix.solvers import EM, Adam
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
    adam = fit_mixture(moments, 3, solver="adam", start="anchors", max_passes=60, tolerance=0)
    assert adam.log_likelihoods[-1] > adam.log_likelihoods[0] + 0.5 * (em - adam.log_likelihoods[0])
    assert adam.log_likelihoods[-1] > em - 0.01


def test_small_exact_steps_ascend(moments):
    trace = fit_mixture(moments, 3, solver=Adam(exact=True, learning_rate=0.001), max_passes=20, tolerance=0)
    assert (np.diff(trace.log_likelihoods) > 0).all()


def test_exact_gradients_reach_the_likelihood_of_em(moments):
    solver = Adam(exact=True, learning_rate=0.05)
    solution = fit_mixture(moments, 3, solver=solver, start="anchors", max_passes=300, tolerance=0)
    em = fit_mixture(moments, 3, sparsity=0, tolerance=1e-5)
    assert solution.log_likelihoods[-1] == pytest.approx(em.log_likelihoods[-1], abs=1e-3)


def test_named_settings_are_the_papers_and_the_authors():
    assert Adam.paper().learning_rate == 0.001
    assert not Adam.paper().symmetric
    assert (Adam.authors().learning_rate, Adam.authors().batch, Adam.authors().symmetric) == (0.01, 512, True)


def test_adam_starts_at_random_and_em_at_anchor_words(moments):
    """Unless another start is asked for; the same seed gives the same start."""
    mhat, frequencies = moments.matrix, moments.document_frequencies
    for solver, name in (("adam", "random"), (EM(0), "anchors")):
        found, asked, other = (
            fit_mixture(moments, 3, solver=solver, max_passes=1, seed=seed, **options).log_likelihoods[0]
            for options, seed in (({}, 4), ({"start": name}, 4), ({}, 5))
        )
        assert found == asked
        assert (found == other) == (name == "anchors")
    start = starting_mixture("random", mhat, 3, frequencies, 4)
    adam = fit_mixture(moments, 3, solver="adam", max_passes=1, seed=4).log_likelihoods[0]
    assert adam == pytest.approx(start.log_likelihood(mhat), abs=1e-5)


def test_alpha_stays_symmetric_where_it_must(moments):
    """Exact gradients keep a symmetric alpha symmetric; drawn pairs do so only with `symmetric`."""
    start = starting_mixture("random", moments.matrix, 3, moments.document_frequencies, 4)
    engine = engine_for("numpy", moments.matrix, 3)
    problem = Problem(engine, moments.matrix, 3, 1, 0.0, np.random.default_rng(0))
    for settings, symmetric in ((Adam(exact=True), True), (Adam(symmetric=True), True), (Adam(), False)):
        run = settings.begin(problem, start)
        run.take_steps(20)
        alpha = run._softmax()[1]
        assert np.allclose(alpha, alpha.T, rtol=1e-6) == symmetric


def test_the_gradient_of_a_batch_is_the_derivative(moments):
    """Against differences of the formula as the paper writes it, with an asymmetric alpha'."""
    rng = np.random.default_rng(1)
    start = starting_mixture("random", moments.matrix, 3, moments.document_frequencies, 4)
    for symmetric in (False, True):
        run = Adam(symmetric=symmetric, trace_penalty=0.2).begin(problem_of(moments), start)
        run.parameters[1] += rng.normal(size=(3, 3))
        u, v, weight = run.draw(30)

        def objective(run=run, u=u, v=v):
            mu, alpha = run._softmax()
            return np.mean(np.log(np.einsum("tk,ts,sk->k", mu[:, u], alpha, mu[:, v]))) - 0.2 * np.trace(alpha)

        for table, found in zip(run.parameters, run.batch_gradient(u, v, weight), strict=True):
            for _ in range(5):
                where = tuple(rng.integers(0, size) for size in table.shape)
                values = []
                for move in (1e-5, -2e-5):
                    table[where] += move
                    values.append(objective())
                table[where] += 1e-5
                assert found[where] == pytest.approx((values[0] - values[1]) / 2e-5, abs=1e-9, rel=1e-5)


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


BAD = [{"learning_rate": 0}, {"batch": 0}, {"steps": 0}, {"uniform_share": 1.0}, {"precision": "half"}]


@pytest.mark.parametrize("bad", BAD)
def test_bad_settings(bad):
    with pytest.raises(ValueError, match=r"Adam|uniform_share"):
        Adam(**bad)
