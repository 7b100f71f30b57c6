"""Engines agree with the reference engine, which is slow and obviously right."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch import engines

from fdmix import Mixture, Moments, worlds
from fdmix.engines import ENGINES, engine_for, numba_engine
from fdmix.runtime.threads import Workers

ALL = engines(*ENGINES)
FAST = engines(*(name for name in ENGINES if name != "numpy"))


def random_problem(seed, n_words, n_topics, sparse):
    rng = np.random.default_rng(seed)
    world = worlds.World(worlds.dirichlet_topics(n_topics, 60 * worlds.zipf_base(n_words), seed), 0.3)
    mhat = Moments.of(world.sample(int(rng.integers(20, 400)), length=12, seed=seed)).matrix
    topics = np.maximum(rng.dirichlet(np.full(n_words, 0.5), n_topics), 1e-9)  # products stay in float32's range
    if sparse:  # a few topics a word, all pairs still possible because alpha is full
        keep = rng.random(topics.shape) < 0.06
        keep[rng.integers(0, n_topics, n_words), np.arange(n_words)] = True
        keep[np.arange(n_topics), rng.integers(0, n_words, n_topics)] = True
        topics = np.where(keep, topics, 0)
    alpha = rng.random((n_topics, n_topics)) + np.eye(n_topics)
    return mhat, Mixture(topics / topics.sum(axis=1, keepdims=True), (alpha + alpha.T) / (alpha + alpha.T).sum())


def both(name, mhat, mixture, n_threads=2):
    slow = engine_for("numpy", mhat, mixture.n_topics)
    fast = engine_for(name, mhat, mixture.n_topics, n_threads)
    return (slow, slow.place(mixture)), (fast, fast.place(mixture))


cases = st.tuples(
    st.integers(0, 10**6), st.sampled_from([1, 2, 9, 130, 400, 700]), st.sampled_from([1, 2, 17, 60]), st.booleans()
)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=20)
@given(cases)
def test_a_plain_step_never_loses_likelihood(name, case):
    """The theorem behind EM, for the step itself: the loop of a fit would hide a wrong one."""
    mhat, mixture = random_problem(*case)
    engine = engine_for(name, mhat, mixture.n_topics, 2)
    state = engine.place(mixture)
    before = engine.expect(state)
    for joint in (True, False):
        after = engine.expect(engine.maximise(state, engine.expect(state, joint=joint)))
        assert after.log_likelihood >= before.log_likelihood - 1e-5


@pytest.mark.parametrize("name", FAST)
@settings(max_examples=20)
@given(cases, st.booleans())
def test_passes_agree(name, case, joint):
    mhat, mixture = random_problem(*case)
    (slow, a), (fast, b) = both(name, mhat, mixture)
    expected, got = slow.expect(a, joint=joint), fast.expect(b, joint=joint)
    assert got.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-6, abs=1e-6)
    if joint:
        np.testing.assert_allclose(got.joint, expected.joint, rtol=1e-4, atol=1e-6)
    for shrinkage, power in (
        (0.0, 1.0),
        (0.0, 1.7),
        (1.2345e-4, 1.0),
        (1.2345e-3, 1.7),  # an odd number, so that no count equals it
    ):
        one = slow.mixture(slow.maximise(a, expected, shrinkage=shrinkage, power=power))
        two = fast.mixture(fast.maximise(b, got, shrinkage=shrinkage, power=power))
        np.testing.assert_allclose(two.topics, one.topics, rtol=1e-3, atol=1e-6)
        np.testing.assert_allclose(two.correlations, one.correlations, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("name", FAST)
@settings(max_examples=10)
@given(cases)
def test_gradients_agree(name, case):
    mhat, mixture = random_problem(*case)
    (slow, a), (fast, b) = both(name, mhat, mixture)
    for expected, got in zip(slow.gradient(a), fast.gradient(b), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5 * abs(expected).max())


@pytest.mark.parametrize("sparse", [False, True])
def test_numba_gives_the_same_bits_on_any_number_of_threads(sparse, monkeypatch):
    for name in ("SMALL_PASS", "SMALL_SPARSE_PASS", "SMALL_STEP"):
        monkeypatch.setattr(numba_engine, name, 0)  # so that threads are used even for this small problem
    used = []
    submit = ThreadPoolExecutor.submit
    monkeypatch.setattr(ThreadPoolExecutor, "submit", lambda *args: used.append(1) or submit(*args))
    mhat, mixture = random_problem(3, 1500, 60, sparse)
    results = []
    for n_threads in (1, 2, 3):
        engine = engine_for("numba", mhat, 60, n_threads)
        state = engine.place(mixture)
        for _ in range(3):
            expectation = engine.expect(state)
            state = engine.maximise(state, expectation, shrinkage=1e-6, power=1.7)
        results.append((expectation.log_likelihood, engine.mixture(state)))
    assert len(used) > 50
    for likelihood, mixture in results[1:]:
        assert likelihood == results[0][0]
        np.testing.assert_array_equal(mixture.topics, results[0][1].topics)
        np.testing.assert_array_equal(mixture.correlations, results[0][1].correlations)


@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
def test_tasks_that_share_a_number_run_one_after_the_other_in_a_fixed_order(n_threads, n):
    seen, busy = {i: [] for i in range(n)}, set()

    def work(i, j):
        assert not busy & {i, j}
        busy.update({i, j})
        time.sleep(1e-4)
        for k in {i, j}:
            seen[k].append((i, j))
        busy.difference_update({i, j})
        return i, j

    results = Workers(n_threads).map_pairs(work, n)
    assert sorted(results) == [(i, j) for i in range(n) for j in range(i, n)]
    for k, pairs in seen.items():
        assert pairs == [pair for pair in results if k in pair]


def test_an_error_in_one_task_ends_the_others():
    done = []

    def work(i, j):
        if (i, j) == (1, 3):
            raise ValueError("this one")
        time.sleep(1e-3)
        done.append((i, j))

    with pytest.raises(ValueError, match="this one"):
        Workers(3).map_pairs(work, 12)
    assert len(done) < 60  # of 77


@pytest.mark.parametrize("name", ALL)
def test_a_word_keeps_its_best_topic_and_a_topic_that_would_lose_all_words_is_not_shrunk(name):
    """A shrinkage of 10 is larger than all counts together. Topic 4 is nearly empty: it is the best of no word."""
    mhat, mixture = random_problem(5, 40, 5, False)
    alpha = mixture.correlations * np.outer([1, 1, 1, 1, 1e-6], [1, 1, 1, 1, 1e-6])
    engine = engine_for(name, mhat, 5)
    state = engine.place(Mixture(mixture.topics, alpha / alpha.sum()))
    plain, shrunk = (
        engine.mixture(engine.maximise(state, engine.expect(state), shrinkage=shrinkage)) for shrinkage in (0.0, 10.0)
    )
    reference = engine_for("numpy", mhat, 5)
    placed = reference.place(Mixture(mixture.topics, alpha / alpha.sum()))
    best = (placed.topics * reference.expect(placed).topic_factors).argmax(axis=1)
    assert 4 not in best
    np.testing.assert_array_equal(shrunk.topics[:4] > 0, best == np.arange(4)[:, None])
    np.testing.assert_allclose(shrunk.topics[4], plain.topics[4], rtol=1e-5)
    np.testing.assert_allclose(shrunk.topics.sum(axis=1), 1)


@pytest.mark.parametrize("name", ALL)
def test_active_counts_non_zero_entries(name):
    mhat, mixture = random_problem(6, 200, 8, True)
    engine = engine_for(name, mhat, 8)
    state = engine.place(mixture)
    moved = engine.maximise(state, engine.expect(state), shrinkage=1e-4)
    assert engine.active(moved) == np.count_nonzero(engine.mixture(moved).topics)
    assert engine.active(moved) < 200 * 8
