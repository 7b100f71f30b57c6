"""The fit: one loop for all solvers and engines, and its stopping rules."""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from fdmix.corpus.vocabulary import positions
from fdmix.engines import engine_for, known_engine
from fdmix.fit.starts import DIMENSIONS, STARTS, starting_mixture
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.moments.pair_sums import rearranged
from fdmix.moments.weighted import WeightedMoments
from fdmix.runtime.memory import available_bytes, in_words
from fdmix.runtime.threads import one_blas_thread, thread_count
from fdmix.runtime.whole_numbers import whole_number
from fdmix.solvers import EM, SOLVERS, Problem, Run, Solver

log = logging.getLogger("fdmix")
LARGE_FIT = 1e9  # bytes; a fit that takes more says so before it starts
ALPHA_PASSES, ALPHA_GAIN = 100, 2e-5  # of alpha alone: at most, and what a pass gains at least in L


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a fit.

    mixture : topics and correlations; log_likelihoods : before each pass, and at last of the mixture itself;
    converged : whether it settled by itself; reason : why it stopped, a sentence
    """

    mixture: Mixture
    log_likelihoods: list[float]
    converged: bool
    reason: str


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each pass; `mixture()` makes the best mixture so far."""

    passes: int
    log_likelihood: float
    seconds: float
    active_topics_per_word: float
    phase: str
    mixture: Callable[[], Mixture] = field(repr=False, compare=False)


def fit_mixture(
    moments: Moments | WeightedMoments,
    n_topics: int,
    *,
    solver: str | Solver = "em",
    engine: str = "auto",
    seed: int = 0,
    start: str | Mixture = "anchors",
    max_passes: int = 2000,
    tolerance: float = 0.01,
    time_limit: float | None = None,
    sparsity: float | str | None = "auto",
    callback: Callable[[Progress], Any] | None = None,
    n_threads: int | None = None,
) -> Solution:
    """Fit topics mu and correlations alpha to the moments: maximise sum_uv Mhat[u, v] log (mu' alpha mu)[u, v].

    Parameters
    ----------
    moments : of the corpus; the cost of a pass does not depend on the number of documents. Those with an open
        vocabulary are pruned first (`Moments.prune`)
    n_topics : T
    solver : "em" (sparse EM, the default), "adam" (the paper's), or either's settings as an object
    engine : "numba", "numpy" (slow, for checks) or "auto"
    seed : of what is drawn: other starts than "anchors", Adam's pairs. The default call draws nothing, so that two
        seeds agree. Same seed, same result, on any number of threads
    start : "anchors", "d2", "rows", "noise", or a Mixture to begin with, whose topics keep their numbers
    max_passes, time_limit : stop after so many passes, or seconds, with the best mixture so far
    tolerance : stop when a pass removes less than this share of the topics' non-zero entries, and less where there is
        much data; plain maximum likelihood stops when a pass gains less than a hundredth of this share of what was
        gained so far
    sparsity : "auto" or the shrinkage of sparse EM in tokens; 0 gives plain maximum likelihood
    callback : called with a `Progress` after each pass; returning True stops the fit. Ctrl-C does, too.
    n_threads : default: all cores

    >>> from fdmix import worlds
    >>> world = worlds.intervals()
    >>> solution = fit_mixture(Moments.of(world.sample(5000, length=20)), 3)
    >>> solution.mixture
    Mixture(3 topics over 100 words)
    """
    _check(moments, tolerance, time_limit)
    if isinstance(moments, Moments) and moments.is_open:
        moments = _pruned(moments)
    n_topics, max_passes = check_n_topics(n_topics), whole_number("max_passes", max_passes, least=1)
    seed = whole_number("seed", seed)
    chosen = _solver(solver, sparsity)
    known_engine(engine)
    thread_count(n_threads)
    if not isinstance(start, Mixture) and str(start) not in STARTS:
        raise ValueError(f"there is no start {start!r}; there are {', '.join(STARTS)}, or give a Mixture")
    mhat = moments.matrix
    seen = np.flatnonzero(np.diff(mhat.indptr))
    if seen.size < moments.n_words:  # words without a pair have no say, and probability 0
        mhat = rearranged(mhat, seen)
    if n_topics == 1:
        topic = np.asarray(mhat.sum(axis=1)).ravel()
        only = Mixture(topic[None] / topic.sum(), np.ones((1, 1)))
        whole = _with_all_words(only, seen, moments, _provenance(moments, chosen, seed))
        return Solution(whole, [only.log_likelihood(mhat)], True, "one topic is the unigram")
    _mind_the_memory(mhat.nnz, seen.size, moments.n_words, n_topics)
    begin = time.monotonic()
    with one_blas_thread:  # so that sums do not depend on the number of cores
        if isinstance(start, Mixture):
            first = _aligned_start(start, n_topics, seen, moments, seed)
        else:
            spare = min(chosen.spare_topics(n_topics), max(0, seen.size - n_topics))
            first = starting_mixture(start, mhat, n_topics + spare, moments.document_frequencies[seen], seed)
        rng = np.random.default_rng([seed, 1])
        arithmetic = engine_for(engine, mhat, n_topics, n_threads)
        problem = Problem(
            arithmetic, mhat, n_topics, max(round(moments.n_tokens), 1), tolerance, rng,
            n_threads=n_threads, keep_numbers=isinstance(start, Mixture),
        )  # fmt: skip
        run = chosen.begin(problem, first)
        told = callback and _teller(callback, run, begin, seen, moments)
        trace, reason = _loop(run, max_passes, time_limit, begin, told)
        fitted = run.mixture()
        trace.append(arithmetic.expect(arithmetic.place(fitted)).log_likelihood)
    whole = _with_all_words(fitted, seen, moments, _provenance(moments, chosen, seed))
    return Solution(whole, trace, run.settled is not None, reason)


def fit_correlations(
    mixture: Mixture, moments: Moments | WeightedMoments, n_threads: int | None = None
) -> tuple[Any, float]:
    """alpha by EM on the pairs, alpha <- alpha (P' H), with the topics held fixed; and L = sum Mhat log M.

    For fixed topics L is concave in alpha, so that it does not matter where it begins, as long as nothing is zero.
    A topic with no word that the moments know gets nothing.
    """
    mhat = moments.matrix
    seen = np.flatnonzero(np.diff(mhat.indptr))
    mhat, topics = rearranged(mhat, seen), mixture.topics[:, seen]
    known = np.flatnonzero(topics.sum(axis=1) > 0)
    if known.size == 0:
        return mixture.correlations, -np.inf
    topics, shares = topics[known], mixture.shares[known] + 1e-3 / mixture.n_topics
    alpha = 0.99 * mixture.correlations[np.ix_(known, known)] + 0.01 * np.outer(shares, shares)
    trace: list[float] = []
    with one_blas_thread:
        engine = engine_for("auto", mhat, known.size, n_threads)
        state = engine.place(Mixture(topics / topics.sum(axis=1, keepdims=True), alpha / alpha.sum()))
        while len(trace) < ALPHA_PASSES and not (len(trace) > 1 and trace[-1] - trace[-2] < ALPHA_GAIN):
            now = engine.expect(state)
            trace.append(now.log_likelihood)
            alpha = state.correlations * (now.joint + now.joint.T)
            state = replace(state, correlations=alpha / alpha.sum())
        trace.append(engine.expect(state, joint=False).log_likelihood)
    whole = np.zeros((mixture.n_topics, mixture.n_topics))
    whole[np.ix_(known, known)] = state.correlations
    return whole, trace[-1]


def _loop(
    run: Run,
    max_passes: int,
    time_limit: float | None,
    begin: float,
    told: Callable[[list[float]], Any] | None,
) -> tuple[list[float], str]:
    """Step until something says stop; what stopped it, in a sentence."""
    trace: list[float] = []
    try:
        while len(trace) < max_passes:
            trace.append(run.step())
            if told and told(trace):
                return trace, "the callback asked to stop"
            if run.settled is not None:
                return trace, run.settled
            if time_limit is not None and time.monotonic() - begin >= time_limit:
                return trace, f"the time limit of {time_limit:g} seconds was reached"
    except KeyboardInterrupt:
        return trace, "interrupted by the user"
    return trace, f"the limit of {max_passes:,} passes was reached"


def _teller(
    callback: Callable[[Progress], Any], run: Run, begin: float, seen: Any, moments: Moments | WeightedMoments
) -> Callable[[list[float]], Any]:
    """Tell the callback about the pass just done, and hear whether to stop."""

    def mixture() -> Mixture:
        return _with_all_words(run.mixture(), seen, moments, {})

    def told(trace: list[float]) -> Any:
        active = run.active() / seen.size
        return callback(Progress(len(trace), trace[-1], time.monotonic() - begin, active, run.phase, mixture))

    return told


def _solver(solver: str | Solver, sparsity: float | str | None) -> Solver:
    if solver != "em" and sparsity != "auto":
        raise ValueError(
            "sparsity= goes with solver='em'; settings of other solvers are given in the object, EM(...)"
        )
    if isinstance(solver, Solver):
        return solver
    if solver not in SOLVERS:
        raise ValueError(f"there is no solver {solver!r}; there are {', '.join(SOLVERS)}")
    return EM(sparsity) if solver == "em" else SOLVERS[solver]()


def _check(moments: Moments | WeightedMoments, tolerance: float, time_limit: float | None) -> None:
    if not isinstance(moments, Moments | WeightedMoments):
        raise TypeError(f"fit_mixture fits Moments, not {type(moments).__name__}: use Moments.of(counts)")
    if not tolerance >= 0:
        raise ValueError(f"tolerance must not be negative, but is {tolerance}")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be positive, but is {time_limit}")


def check_n_topics(n_topics: int) -> int:
    """The number of topics as an int, or a ValueError."""
    return whole_number("n_topics", n_topics, least=1)


def _pruned(moments: Moments) -> Moments:
    """Without the rare words of an open vocabulary, by the rules that its text was counted with."""
    pruned = moments.prune()
    log.info(
        "fitting to %s of %s words, those seen at least %s times (Moments.prune chooses others)",
        f"{pruned.n_words:,}", f"{moments.n_words:,}", pruned.preparation and pruned.preparation.cleaning.min_count,
    )  # fmt: skip
    return pruned


def _mind_the_memory(n_stored: int, n_seen: int, n_words: int, n_topics: int) -> None:
    """Say what a large fit will take, and refuse what cannot fit."""
    pairs = 40 * n_stored + n_seen**2 // 30  # Mhat, and its tiles and lists
    topics = 100 * n_seen * n_topics + 32 * n_words * n_topics  # of a pass in float32; mixtures in float64
    start = 8 * n_seen * min(n_seen, max(DIMENSIONS, 2 * n_topics))  # points in random dimensions, before all that
    needed = pairs + max(topics, start) + 60 * n_topics**2
    if needed > LARGE_FIT:
        log.info("the fit of %d topics will take about %s of memory", n_topics, in_words(needed))
    if needed > available_bytes():
        raise MemoryError(
            f"the fit would need about {in_words(needed)} but {in_words(available_bytes())} are free: "
            "use fewer topics, or fewer words (Moments.top)"
        )


def _aligned_start(
    start: Mixture, n_topics: int, seen: Any, moments: Moments | WeightedMoments, seed: int
) -> Mixture:
    """The given mixture over the words that have pairs, with a little of every word and every pair of topics.

    A topic with no such word begins as a noisy unigram, because equal topics would stay equal.
    """
    if start.n_topics != n_topics:
        raise ValueError(f"the start has {start.n_topics} topics, but {n_topics} are asked for")
    topics = start.topics
    if start.vocabulary is not None and moments.vocabulary is not None:
        where = positions(moments.vocabulary, start.vocabulary)
        topics = np.where(where >= 0, topics[:, where], 0.0)
    elif start.n_words != moments.n_words:
        raise ValueError(
            f"the start has {start.n_words:,} words and the moments {moments.n_words:,}, without words to match by"
        )
    topics = topics[:, seen]
    known = topics.sum(axis=1, keepdims=True)
    if not known.any():
        raise ValueError("the start has no word in common with the moments")
    unigram = moments.unigram[seen]
    noisy = unigram * np.random.default_rng(seed).uniform(0.5, 1.5, topics.shape)
    topics = np.where(known > 0, topics / np.where(known > 0, known, 1), noisy / noisy.sum(axis=1, keepdims=True))
    shares = 0.5 * start.shares + 0.5 / n_topics
    alpha = 0.99 * start.correlations + 0.01 * np.outer(shares, shares)
    return Mixture(0.99 * topics + 0.01 * unigram, alpha / alpha.sum())


def _with_all_words(
    mixture: Mixture, seen: Any, moments: Moments | WeightedMoments, provenance: dict[str, Any]
) -> Mixture:
    topics = np.zeros((mixture.n_topics, moments.n_words))
    topics[:, seen] = mixture.topics
    return Mixture(topics, mixture.correlations, moments.vocabulary, moments.preparation, provenance)


def _provenance(moments: Moments | WeightedMoments, solver: Solver, seed: int) -> dict[str, Any]:
    """What it takes to do the fit again."""
    return {
        "fdmix": version("fdmix"),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "solver": repr(solver),
        "seed": int(seed),
        "moments": moments.provenance(),
    }
