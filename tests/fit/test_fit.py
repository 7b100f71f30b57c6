"""The fit finds known answers, stops for a reason, and survives odd input."""

import logging
import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.engines import numba_engine
from fdmix.fit import fitting as fit
from fdmix.fit.correlations import fit_correlations
from fdmix.fit.stopping import Stop
from fdmix.metrics import matching_distance
from fdmix.solvers import EM, Adam


@pytest.fixture(scope="module")
def world():
    return worlds.intervals()


@pytest.fixture(scope="module")
def moments(world):
    return Moments.of(world.sample(20_000, length=20, seed=3))


@pytest.fixture(scope="module")
def sharp_world():
    return worlds.authors(seed=5)


@pytest.fixture(scope="module")
def sharp_moments(sharp_world):
    return Moments.of(sharp_world.sample(50_000, length=30, seed=6))


def assert_is_distribution(mixture):
    assert np.isfinite(mixture.topics).all()
    np.testing.assert_allclose(mixture.topics.sum(axis=1), 1)
    np.testing.assert_allclose(mixture.correlations, mixture.correlations.T)
    assert mixture.correlations.sum() == pytest.approx(1)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("start", ["anchors", "d2", "rows", "noise"])
def test_every_likelihood_pass_improves(moments, engine, start):
    solution = fit_mixture(moments, 4, engine=engine, start=start, sparsity=0, tolerance=0, max_passes=60)
    assert (np.diff(solution.log_likelihoods) > -1e-7).all()
    assert solution.log_likelihoods[20] > solution.log_likelihoods[1]  # and did not give up at once
    assert_is_distribution(solution.mixture)


def test_plain_em_never_loses_in_exact_arithmetic(moments):
    trace = fit_mixture(moments, 5, engine="numpy", sparsity=0, tolerance=0, max_passes=80).log_likelihoods
    assert (np.diff(trace) > -1e-12).all()
    assert len(trace) == 81


def test_the_last_log_likelihood_is_the_mixtures(moments):
    solution = fit_mixture(moments, 3)
    assert solution.log_likelihoods[-1] == pytest.approx(solution.mixture.log_likelihood(moments.matrix), abs=1e-5)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_known_topics_are_found(sharp_world, sharp_moments, engine):
    solution = fit_mixture(sharp_moments, 20, engine=engine)
    assert solution.converged
    distance = matching_distance(solution.mixture, sharp_world.mixture)
    assert distance.mean < 0.04
    assert distance.missed == 0
    trace = np.trace(solution.mixture.correlations)
    assert trace == pytest.approx(np.trace(sharp_world.law.correlations), abs=0.02)


def test_the_flat_direction_and_its_sharp_end(sharp_world, sharp_moments):
    """Blurred topics with a more diagonal alpha explain the pairs exactly as well; the default returns sharp ones."""
    true = sharp_world.mixture
    n = true.n_topics
    blur = 0.97 * np.eye(n) + 0.03 / n
    unblur = np.linalg.inv(blur)
    blurred = Mixture(blur @ true.topics, unblur.T @ true.correlations @ unblur)
    mhat = sharp_moments.matrix
    assert blurred.log_likelihood(mhat) == pytest.approx(true.log_likelihood(mhat), abs=1e-9)
    assert np.trace(blurred.correlations) > np.trace(true.correlations) + 0.02

    plain = fit_mixture(sharp_moments, n, sparsity=0).mixture
    default = fit_mixture(sharp_moments, n).mixture
    assert np.trace(plain.correlations) > np.trace(true.correlations) + 0.1
    assert matching_distance(plain, true).mean > 5 * matching_distance(default, true).mean
    assert (default.topics == 0).mean() > 0.3


@pytest.mark.slow
def test_the_middle_problem():
    world = worlds.zipf(100, 3000, seed=77)
    solution = fit_mixture(Moments.of(world.sample(20_000, length=30, seed=78)), 100)
    distance = matching_distance(solution.mixture, world.mixture)
    assert distance.mean <= 0.20
    assert distance.missed <= 1


def test_same_seed_same_result_on_any_number_of_threads(sharp_moments, monkeypatch):
    for name in ("SMALL_PASS", "SMALL_SPARSE_PASS", "SMALL_STEP"):
        monkeypatch.setattr(numba_engine, name, 0)
    one, two, three = (fit_mixture(sharp_moments, 20, seed=4, n_threads=n).mixture for n in (1, 2, 3))
    for other in (two, three):
        np.testing.assert_array_equal(one.topics, other.topics)
        np.testing.assert_array_equal(one.correlations, other.correlations)


def test_a_fixed_point_of_em_is_stationary(moments):
    """At an interior optimum dL/dmu and dL/dalpha are constant on the support: the simplex allows no ascent."""
    mixture = fit_mixture(moments, 3, engine="numpy", sparsity=0, tolerance=1e-12, max_passes=3000).mixture
    mhat = moments.matrix
    d_mu, d_alpha = mixture.gradient(mhat)
    shares = mixture.shares
    np.testing.assert_allclose(d_alpha[mixture.correlations > 1e-4], 1, atol=1e-3)
    inside = mixture.topics > 1e-4
    np.testing.assert_allclose((d_mu / (2 * shares[:, None]))[inside], 1, atol=0.01)
    before = mixture.log_likelihood(mhat)
    after = fit_mixture(
        moments, 3, solver=Adam(exact=True, learning_rate=1e-4), start=mixture, max_passes=50, engine="numpy"
    )
    assert after.mixture.log_likelihood(mhat) < before + 1e-5


def test_gradient_against_finite_differences():
    rng = np.random.default_rng(0)
    world = worlds.World(rng.dirichlet(np.ones(7), 3), 0.5)
    mhat = Moments.of(world.sample(300, length=6, seed=1)).matrix
    alpha = rng.random((3, 3))
    mixture = Mixture(rng.dirichlet(np.ones(7), 3), (alpha + alpha.T) / (alpha + alpha.T).sum())

    def likelihood(topics, correlations):
        return np.sum(mhat.toarray() * np.log(topics.T @ correlations @ topics))

    d_mu, d_alpha = mixture.gradient(mhat)
    step = 1e-6
    for t in range(3):
        for u in range(7):
            moved = mixture.topics.copy()
            moved[t, u] += step
            numeric = (
                likelihood(moved, mixture.correlations) - likelihood(mixture.topics, mixture.correlations)
            ) / step
            assert d_mu[t, u] == pytest.approx(numeric, rel=1e-3)
        for s in range(3):
            moved = mixture.correlations.copy()
            moved[t, s] += step
            numeric = (likelihood(mixture.topics, moved) - likelihood(mixture.topics, mixture.correlations)) / step
            assert d_alpha[t, s] == pytest.approx(numeric, rel=1e-3)


def test_warm_start_keeps_the_topics_numbers(world, sharp_world, sharp_moments):
    fitted = fit_mixture(sharp_moments, 20).mixture
    updated = sharp_moments + Moments.of(sharp_world.sample(5_000, length=30, seed=99))
    again = fit_mixture(updated, 20, start=fitted)
    assert (matching_distance(fitted, again.mixture).right == np.arange(20)).all()
    assert matching_distance(again.mixture, sharp_world.mixture).mean < 0.04
    with pytest.raises(ValueError, match="3 are asked for"):
        fit_mixture(sharp_moments, 3, start=fitted)
    with pytest.raises(ValueError, match="without words to match"):
        fit_mixture(sharp_moments, 3, start=world.mixture)


def test_warm_start_matches_words_by_name():
    counts = worlds.intervals().sample(3000, length=20, seed=1).counts
    words = [f"w{u}" for u in range(100)]
    fitted = fit_mixture(Moments.of(counts, words), 3).mixture
    backwards = Moments.of(counts[:, ::-1], words[::-1])
    again = fit_mixture(backwards, 3, start=fitted).mixture
    same = fit_mixture(Moments.of(counts, words), 3, start=fitted).mixture
    assert abs(again.topics[:, ::-1] - same.topics).sum() < 0.05  # 4 if words were matched by place


def test_callback_sees_each_pass_and_can_stop(moments):
    seen = []
    solution = fit_mixture(moments, 3, callback=lambda progress: seen.append(progress) or len(seen) == 5)
    assert [progress.passes for progress in seen] == [1, 2, 3, 4, 5]
    assert [progress.phase_passes for progress in seen] == [1, 2, 3, 4, 5]
    assert all(progress.seconds >= 0 and progress.active_topics_per_word <= 6 for progress in seen)  # spare ones, too
    assert solution.reason == "the callback asked to stop"
    assert not solution.converged
    assert_is_distribution(solution.mixture)


def test_passes_are_counted_in_each_phase(moments):
    seen = []
    fit_mixture(moments, 3, callback=seen.append)
    for phase in ("likelihood", "sparse"):
        counted = [progress.phase_passes for progress in seen if progress.phase == phase]
        assert counted == list(range(1, len(counted) + 1))


def test_limits_of_passes_and_time(moments):
    short = fit_mixture(moments, 3, max_passes=2)
    assert short.reason == "the limit of 2 passes was reached"
    quick = fit_mixture(moments, 3, time_limit=1e-9)
    assert "time limit" in quick.reason
    assert len(quick.log_likelihoods) == 2


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_ctrl_c_gives_the_best_mixture_so_far(moments, engine):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job begins with it ignored

    def press_ctrl_c(progress):
        if progress.passes == 5:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)

    try:
        solution = fit_mixture(moments, 6, engine=engine, callback=press_ctrl_c)
    finally:
        signal.signal(signal.SIGINT, before)
    assert solution.reason == "interrupted by the user"
    assert not solution.converged
    assert_is_distribution(solution.mixture)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("n_topics", [1, 2, 7, 30])
def test_odd_corpora(engine, n_topics):
    """One document, disconnected blocks, words without mass, more topics than words: an answer, and never NaN."""
    blocks = np.zeros((40, 12), int)
    blocks[:20, :4] = 1
    blocks[20:, 6:9] = 2
    for counts in ([[1, 1]], [[3, 0, 2, 0]], blocks, [[2, 0], [0, 2]], [[5]]):
        solution = fit_mixture(Moments.of(counts), n_topics, engine=engine)
        assert_is_distribution(solution.mixture)
        assert solution.mixture.topics.shape == (n_topics, np.shape(counts)[1])
        unseen = np.asarray(counts).sum(axis=0) == 0
        assert (solution.mixture.topics[:, unseen] == 0).all()
        assert np.isfinite(solution.log_likelihoods).all()
        assert solution.reason


def test_two_blocks_become_two_topics():
    blocks = np.zeros((40, 10), int)
    blocks[:20, :4] = 1
    blocks[20:, 6:9] = 2
    mixture = fit_mixture(Moments.of(blocks), 2).mixture
    np.testing.assert_allclose(np.sort(mixture.topics[:, 0]), [0, 0.25], atol=1e-3)
    np.testing.assert_allclose(np.sort(np.diag(mixture.correlations)), [3 / 8, 5 / 8], atol=1e-3)  # l - 1 each
    mixture = fit_mixture(Moments.of(blocks, weighting="paper"), 2).mixture
    np.testing.assert_allclose(np.sort(np.diag(mixture.correlations)), [0.5, 0.5], atol=1e-3)


def test_one_topic_is_the_unigram(moments):
    solution = fit_mixture(moments, 1)
    np.testing.assert_allclose(solution.mixture.topics[0], moments.unigram, atol=1e-12)
    assert solution.converged


@pytest.mark.slow
def test_two_thousand_topics():
    counts = worlds.intervals().sample(2000, length=10, seed=1)
    solution = fit_mixture(Moments.of(counts), 2000, max_passes=3)
    assert_is_distribution(solution.mixture)
    assert solution.mixture.n_topics == 2000


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_topics": 0}, ValueError, "n_topics"),
        ({"n_topics": 2.5}, ValueError, "n_topics"),
        ({"n_topics": True}, ValueError, "n_topics"),
        ({"solver": "magic"}, ValueError, "em, adam"),
        ({"engine": "magic"}, ValueError, "numpy, numba"),
        ({"start": "magic"}, ValueError, "anchors"),
        ({"sparsity": -1}, ValueError, "sparsity"),
        ({"sparsity": "much"}, ValueError, "sparsity"),
        ({"max_passes": 0}, ValueError, "max_passes"),
        ({"tolerance": -1}, ValueError, "tolerance"),
        ({"time_limit": 0}, ValueError, "time_limit"),
        ({"n_threads": 0}, ValueError, "n_threads"),
        ({"n_threads": 1.5}, ValueError, "n_threads"),
        ({"max_passes": 2.5}, ValueError, "max_passes"),
        ({"seed": None}, ValueError, "seed"),
        ({"seed": -1}, ValueError, "seed"),
        ({"start": np.ones((3, 100))}, ValueError, "there is no start"),
        ({"solver": EM(), "sparsity": 5}, ValueError, "sparsity"),
        ({"solver": "adam", "sparsity": 5}, ValueError, "sparsity"),
        ({"n_topics": 1, "engine": "magic"}, ValueError, "numpy, numba"),
        ({"moments": [[1, 2]]}, TypeError, "Moments.of"),
        ({"moments": Moments.of([[1, 0]])}, ValueError, "no word pair"),
    ],
)
def test_bad_arguments(moments, options, error, message):
    with pytest.raises(error, match=message):
        fit_mixture(**({"moments": moments, "n_topics": 3} | options))


def test_memory_is_said_before_a_large_fit_and_refused_beyond_what_is_free(moments, monkeypatch, caplog):
    monkeypatch.setattr(fit, "LARGE_FIT", 1000)
    with caplog.at_level(logging.INFO, "fdmix"):
        fit_mixture(moments, 2, max_passes=1)
    assert "of memory" in caplog.text
    monkeypatch.setattr(fit, "available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match="fewer topics"):
        fit_mixture(moments, 2)


def test_solver_settings_as_an_object(moments):
    by_name = fit_mixture(moments, 3, sparsity=0.5).mixture
    by_object = fit_mixture(moments, 3, solver=EM(sparsity=0.5)).mixture
    np.testing.assert_array_equal(by_name.topics, by_object.topics)


@pytest.mark.parametrize("sparsity", [1.0, 3.0])
@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_a_strong_shrinkage_does_not_lead_astray(engine, sparsity):
    world = worlds.World(worlds.dirichlet_topics(30, 60 * worlds.zipf_base(800), 11), 1 / 30)
    solution = fit_mixture(Moments.of(world.sample(10_000, seed=21)), 30, engine=engine, sparsity=sparsity)
    assert matching_distance(solution.mixture, world.mixture).missed == 0


@pytest.mark.parametrize("n_passes", range(1, 40, 3))
def test_stopping_at_any_pass_gives_the_best_so_far(moments, n_passes):
    solution = fit_mixture(moments, 4, sparsity=0, tolerance=0, max_passes=n_passes)
    assert solution.log_likelihoods[-1] >= max(solution.log_likelihoods) - 1e-6


@pytest.mark.parametrize("alpha", [np.eye(20) / 20, np.full((20, 20), 1 / 400)])
def test_correlations_of_known_topics_are_found_from_anywhere(sharp_world, sharp_moments, alpha):
    found, likelihood, interrupted = fit_correlations(Mixture(sharp_world.topics, alpha), sharp_moments)
    assert not interrupted
    np.testing.assert_allclose(found, found.T)
    np.testing.assert_allclose(found, sharp_world.law.correlations, atol=2e-3)  # the sample's own noise
    best = Mixture(sharp_world.topics, found).log_likelihood(sharp_moments.matrix)
    assert likelihood == pytest.approx(best, abs=1e-5)
    assert best > sharp_world.mixture.log_likelihood(sharp_moments.matrix) - 1e-5  # the truth is no better


def test_correlations_of_a_topic_that_is_not_there():
    moments = Moments.of([[2, 1, 0], [1, 3, 0]])
    mixture = Mixture([[0.6, 0.4, 0], [0.4, 0.6, 0], [0, 0, 1]], np.full((3, 3), 1 / 9))
    alpha, *_ = fit_correlations(mixture, moments)
    assert alpha[2].sum() == alpha[:, 2].sum() == 0
    assert alpha.sum() == pytest.approx(1)
    nothing = Mixture([[0, 0, 1.0]], np.ones((1, 1)))
    assert fit_correlations(nothing, moments) == (1, -np.inf, False)


@pytest.mark.parametrize("when", [0, 1, 5])
def test_ctrl_c_keeps_the_correlations_so_far(sharp_world, sharp_moments, when):
    start = Mixture(sharp_world.topics, np.eye(20) / 20)
    mhat = sharp_moments.matrix
    most = []

    def press_ctrl_c(done, of):
        most.append(of)
        if done == when:
            raise KeyboardInterrupt

    alpha, likelihood, interrupted = fit_correlations(start, sharp_moments, tell=press_ctrl_c)
    assert interrupted
    assert len(most) == when + 1
    assert len(set(most)) == 1
    found = Mixture(sharp_world.topics, alpha)
    assert likelihood == pytest.approx(found.log_likelihood(mhat), abs=1e-5)
    assert likelihood > start.log_likelihood(mhat) or when == 0
    assert likelihood < fit_correlations(start, sharp_moments)[1]


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["em", "adam"])
def test_ctrl_c_at_any_moment(moments, solver, ctrl_c_after):
    """Once there is a pass, there is an answer."""
    begin = time.monotonic()
    whole = fit_mixture(moments, 6, solver=solver, max_passes=60)
    took = time.monotonic() - begin
    for moment in np.linspace(0.001, took, 25):
        seen = []
        try:
            with ctrl_c_after(moment):
                solution = fit_mixture(moments, 6, solver=solver, max_passes=60, callback=seen.append)
        except KeyboardInterrupt:
            assert not seen
            continue
        assert_is_distribution(solution.mixture)
        assert solution.reason in ("interrupted by the user", whole.reason)
        assert len(solution.log_likelihoods) in (len(seen) + 1, len(seen) + 2)
        if solution.reason == whole.reason:
            np.testing.assert_array_equal(solution.mixture.topics, whole.mixture.topics)


@pytest.mark.parametrize(
    ("n_documents", "length", "n_topics", "why"),
    [(200, 10, 50, "2,000 tokens"), (60, 160, 40, "60 documents"), (20_000, 30, 100, "100 distinct words")],
)
def test_more_topics_than_the_data_can_support(world, caplog, n_documents, length, n_topics, why):
    """A warning says why, and names a number of topics about which there is nothing to say."""
    some = Moments.of(world.sample(n_documents, length=length, seed=3))
    fit_mixture(some, n_topics, max_passes=1)
    assert why in caplog.text
    sensible = int(re.search(r"Try (\d+) topics or fewer", caplog.text)[1])
    assert 2 <= sensible < n_topics / 2 + 1
    caplog.clear()
    fit_mixture(some, sensible, max_passes=1)
    assert not caplog.text


@pytest.mark.slow
def test_topics_break_down_where_the_warning_says(caplog):
    """The rule against worlds with known topics: with fewer tokens than needed most topics are missed, and as many as
    are advised are found."""
    for length in (10, 40):
        for tokens, found in ((100, False), (700, True)):
            world = worlds.zipf(30, 800, seed=length)
            some = Moments.of(world.sample(30 * tokens // length, length=length, seed=1))
            caplog.clear()
            missed = matching_distance(fit_mixture(some, 30).mixture, world.mixture).missed
            assert (missed <= 6) if found else (missed > 15)
            assert ("too many" in caplog.text) == (not found)


@pytest.mark.parametrize("n_passes", range(12, 40, 3))
def test_stopping_in_the_sparse_phase_gives_no_step_astray(moments, n_passes):
    solution = fit_mixture(moments, 4, tolerance=0, max_passes=n_passes)
    trace = solution.log_likelihoods
    assert trace[-1] >= max(trace) - 0.1 * (max(trace) - trace[0])


@pytest.mark.parametrize("number", [np.uint8(20), np.int64(20)])
def test_numbers_of_numpy_are_numbers(sharp_moments, number):
    solution = fit_mixture(sharp_moments, number, max_passes=np.int64(3))
    assert solution.mixture.n_topics == 20
    assert len(solution.log_likelihoods) == 4
    with pytest.raises(ValueError, match="n_topics"):
        fit_mixture(sharp_moments, True)


def test_correlated_topics():
    """Groups of three topics that come together: the off-diagonal of alpha shows it."""
    group = np.arange(9) // 3
    covariance = np.where(group[:, None] == group, 8.0, 0.0) + 4 * np.eye(9)
    law = worlds.LogisticNormal(np.zeros(9), covariance)
    world = worlds.World(worlds.dirichlet_topics(9, np.full(120, 0.1), 3), law)
    mixture = fit_mixture(Moments.of(world.sample(30_000, length=40, seed=4)), 9).mixture
    matching = matching_distance(world.mixture, mixture)
    assert matching.mean < 0.1
    found = mixture.correlations[np.ix_(matching.right, matching.right)]
    np.testing.assert_allclose(found, law.correlations, atol=0.01)


@pytest.mark.parametrize("max_passes", [25, pytest.param(2000, marks=pytest.mark.slow)])
def test_fits_in_several_threads_at_once_agree_and_leave_blas_alone(sharp_moments, max_passes):
    def fitted(_):
        return fit_mixture(sharp_moments, 20, max_passes=max_passes).mixture.topics

    alone = fitted(0)
    before = [pool["num_threads"] for pool in threadpool_info()]
    with ThreadPoolExecutor(3) as pool:
        for topics in pool.map(fitted, range(6)):
            np.testing.assert_allclose(topics, alone, atol=1e-5)  # BLAS rounds by alignment
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_a_callback_that_raises_is_heard_and_harms_nothing(sharp_moments):
    def fail(progress):
        raise RuntimeError("my own mistake")

    alone = fit_mixture(sharp_moments, 20).mixture
    with pytest.raises(RuntimeError, match="my own mistake"):
        fit_mixture(sharp_moments, 20, callback=fail)
    np.testing.assert_array_equal(fit_mixture(sharp_moments, 20).mixture.topics, alone.topics)


def test_warm_starts_from_odd_mixtures(sharp_world, sharp_moments):
    alpha = sharp_world.law.correlations.copy()
    alpha[0] = alpha[:, 0] = 0
    dead = Mixture(sharp_world.topics, alpha / alpha.sum())
    diagonal = Mixture(sharp_world.topics, np.eye(20) / 20)
    for start in (dead, diagonal):
        for sparsity in (0, "auto"):
            mixture = fit_mixture(sharp_moments, 20, start=start, sparsity=sparsity).mixture
            assert_is_distribution(mixture)
            assert np.trace(mixture.correlations) < 0.95
    words = [f"w{u}" for u in range(250)]
    named = Moments.of(sharp_world.sample(2000, seed=3).counts, words)
    foreign = Mixture(sharp_world.topics, sharp_world.law.correlations, [f"x{u}" for u in range(250)])
    with pytest.raises(ValueError, match="no word in common"):
        fit_mixture(named, 20, start=foreign)


def test_moments_of_all_kinds_can_be_fitted(tmp_path):
    counts = worlds.intervals().sample(3000, length=20, seed=1).counts
    words = [f"w{u}" for u in range(100)]
    moments = Moments.of(counts, words, folds=3)
    moments.save(tmp_path / "moments")
    plain = fit_mixture(moments, 3).mixture
    np.testing.assert_array_equal(fit_mixture(Moments.load(tmp_path / "moments"), 3).mixture.topics, plain.topics)
    for other in (
        moments.drop_words(words[:5]),
        moments.merge_words({"w1": "w0"}),
        moments.without_fold(1),
        moments.top(30),
    ):
        assert_is_distribution(fit_mixture(other, 3).mixture)


def test_mixtures_are_saved_and_loaded(tmp_path, sharp_world):
    mixture = Mixture(sharp_world.topics, sharp_world.law.correlations, [f"w{u}" for u in range(250)])
    mixture.save(tmp_path / "mixture")
    loaded = Mixture.load(tmp_path / "mixture")
    np.testing.assert_array_equal(loaded.topics, mixture.topics)
    assert loaded.vocabulary == mixture.vocabulary
    with pytest.raises(ValueError, match="is a folder, not a file of moments"):
        Moments.load(tmp_path / "mixture")


@pytest.mark.parametrize(
    ("topics", "alpha", "message"),
    [
        ([[0.5, 0.6]], [[1.0]], "sum to 1"),
        ([[1.5, -0.5]], [[1.0]], "non-negative"),
        ([[0.5, np.nan]], [[1.0]], "finite"),
        ([[0.5, 0.5]], [[0.5]], "symmetric and sum to 1"),
        ([[1.0, 0], [0, 1]], [[0.5, 0.5], [0.0, 0.0]], "symmetric"),
        ([[0.5, 0.5]], [[1.0, 0]], "1 x 1"),
        ([], [[1.0]], "table"),
    ],
)
def test_impossible_mixtures(topics, alpha, message):
    with pytest.raises(ValueError, match=message):
        Mixture(topics, alpha)


def test_a_stop_in_the_last_pass_is_a_stop(moments):
    whole = fit_mixture(moments, 3)
    last = len(whole.log_likelihoods) - 1
    stopped = fit_mixture(moments, 3, callback=lambda now: now.passes == last)
    assert (stopped.stop, stopped.converged) == (Stop.CALLBACK, False)
    assert (whole.stop, whole.converged) == (Stop.CONVERGED, True)
