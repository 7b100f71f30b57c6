"""Fit topics to word pairs: one loop for all solvers and engines."""

from __future__ import annotations

import logging
import platform
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fdmix.corpus.vocabulary import positions
from fdmix.engines import checked_engine, engine_for
from fdmix.fit.capacity import too_many_topics
from fdmix.fit.held_out import enough, held_apart
from fdmix.fit.solution import Progress, Solution
from fdmix.fit.starts import AUTO, DIMENSIONS, STARTS, starting_mixture
from fdmix.fit.stopping import Stop, Stopping
from fdmix.fit.word_ranking import with_word_ranking
from fdmix.mixture.mixture import Mixture
from fdmix.moments.contract import PairMoments
from fdmix.moments.moments import Moments
from fdmix.moments.pair_matrix import PairMatrix, pair_matrix_of
from fdmix.moments.spilling import FIXED_BYTES, SHARES, checked_memory
from fdmix.moments.weighted import WeightedMoments
from fdmix.runtime.interruption import completed, deferred_ctrl_c
from fdmix.runtime.memory import available_bytes, bytes_in, in_words
from fdmix.runtime.processes import processes_here
from fdmix.runtime.threads import one_blas_thread, thread_count
from fdmix.runtime.whole_numbers import whole_number
from fdmix.solvers import EM, SOLVERS, Problem, Run, Solver
from fdmix.storage.scratch import on_disk

log = logging.getLogger("fdmix")
LARGE_FIT = 1e9  # bytes; a fit that takes more says so before it starts


def fit_mixture(
    moments: PairMoments,
    n_topics: int,
    *,
    solver: str | Solver = "em",
    engine: str = "auto",
    device: str = "auto",
    seed: int = 0,
    start: str | Mixture = "auto",
    max_passes: int = 2000,
    tolerance: float = 0.01,
    time_limit: float | None = None,
    sparsity: float | str | None = "auto",
    held_out: PairMoments | None = None,
    callback: Callable[[Progress], Any] | None = None,
    n_threads: int | None = None,
    memory: float | str | None = None,
) -> Solution:
    """Fit topics mu and correlations alpha to the moments: maximise sum_uv Mhat[u, v] log (mu' alpha mu)[u, v].

    Parameters
    ----------
    moments : of the corpus; the cost of a pass does not depend on the number of documents. Those with an open
        vocabulary are pruned first (`Moments.prune`)
    n_topics : T
    solver : "em" (sparse EM, the default), "adam" (the paper's), or either's settings as an object
    engine : "numba" (on CPUs, "auto"), "torch" (on GPUs, see docs/how-to/gpu.md) or "numpy" (slow, for checks)
    device : where engine="torch" computes: "cuda", "cuda:1", "mps", "cpu", or "auto" for the best that there is
    seed : of what is drawn: other starts than "anchors", Adam's pairs. The default call draws nothing, so that two
        seeds agree. Same seed, same result, on any number of threads
    start : "auto" ("anchors" for EM, "random" for Adam), "anchors", "d2", "rows", "noise", "random", or a Mixture to
        begin with, whose topics keep their numbers
    max_passes, time_limit : stop after this many passes or seconds, with the best mixture so far
    tolerance : stop when a pass removes less than this share of the topics' non-zero entries, and less where there is
        much data; plain maximum likelihood stops when a pass gains less than a hundredth of this share of what was
        gained so far
    sparsity : "auto": sparse EM, whose sharp topics are then smoothed as far as held-out pairs gain. Or the shrinkage
        of sparse EM in tokens, without smoothing; 0 gives plain maximum likelihood
    held_out : moments of other documents, to judge by. By default, those that `moments` keeps of some of its
        documents; all documents are learned from in the end
    callback : called with a `Progress` after each pass; returning True stops the fit. Ctrl-C does, too.
    n_threads : default: all cores
    memory : the bytes to keep within, about, or a size such as "2GB": pairs beyond that are read from temporary files
        in each pass (not engine "numpy"). Moments of a file (`Moments.load`) are not held in memory, either

    >>> from fdmix import worlds
    >>> world = worlds.intervals()
    >>> solution = fit_mixture(Moments.of(world.sample(5000, length=20)), 3)
    >>> solution.mixture
    Mixture(3 topics over 100 words)
    """
    _check(moments, tolerance, held_out)
    Stopping(callback, time_limit)  # refuses a bad time limit before any work
    if isinstance(moments, Moments) and moments.is_open:
        moments = _pruned(moments)
    n_topics, max_passes = check_n_topics(n_topics), whole_number("max_passes", max_passes, least=1)
    seed = whole_number("seed", seed)
    chosen = _solver(solver, sparsity)
    checked_engine(engine, device)
    thread_count(n_threads)
    if isinstance(start, str) and start == AUTO:
        start = chosen.default_start
    if not isinstance(start, Mixture) and str(start) not in STARTS:
        raise ValueError(f"there is no start {start!r}; there are {AUTO}, {', '.join(STARTS)}, or give a Mixture")
    seen = np.flatnonzero(moments.unigram)  # words without a pair have no say, and probability 0
    mhat = pair_matrix_of(moments).among(seen)
    if n_topics == 1:
        topic = mhat.row_sums
        only = with_word_ranking(Mixture(topic[None] / topic.sum(), np.ones((1, 1))), mhat, moments.n_tokens)
        whole = _with_all_words(only, seen, moments, _provenance(moments, chosen, seed))
        return Solution(whole, [only.log_likelihood(mhat.matrix)], True, "one topic is the unigram")
    if complaint := too_many_topics(n_topics, moments.n_tokens, seen.size, getattr(moments, "n_documents", None)):
        log.warning(complaint)
    _mind_the_memory(mhat.n_stored if memory is None else 0, seen.size, moments.n_words, n_topics)
    stopping, all_pairs = Stopping(callback, time_limit), mhat
    with deferred_ctrl_c, _limited(memory), one_blas_thread:  # so that sums do not depend on the number of cores

        def problem(learned: PairMoments, matrix: PairMatrix, **judged: Any) -> Problem:
            passes = engine_for(engine, matrix, n_topics, n_threads, device)
            return Problem(
                passes, matrix, n_topics, max(round(learned.n_tokens), 1), tolerance,
                np.random.default_rng([seed, 1]), n_threads, isinstance(start, Mixture), **judged,
            )  # fmt: skip

        learned, judges = held_apart(moments) if held_out is None else (moments, enough(held_out))
        judged: dict[str, Any] = {}
        if chosen.judges and judges is not None:
            apart = pair_matrix_of(judges).restricted(seen), n_topics, n_threads, device
            judged = {"held_out": engine_for(engine, *apart), "held_out_tokens": judges.n_tokens}
            if learned is not moments:
                judged["whole"] = lambda: problem(moments, all_pairs)
                mhat = pair_matrix_of(learned).among(seen)
        else:
            learned = moments
        if isinstance(start, Mixture):
            first = _aligned_start(start, n_topics, seen, moments, seed)
        else:
            spare = min(chosen.spare_topics(n_topics), max(0, seen.size - n_topics))
            first = starting_mixture(start, mhat, n_topics + spare, learned.document_frequencies[seen], seed)
        run = chosen.begin(problem(learned, mhat, **judged), first)
        provenance = _provenance(moments, chosen, seed)

        def solution(trace: list[float], stop: Stop) -> Solution:
            if run.steps_per_second is not None:
                log.info("the last pass took %s steps a second", f"{run.steps_per_second:,.1f}")
            fitted = with_word_ranking(run.mixture(), all_pairs, moments.n_tokens)
            last = run.engine.expect(run.engine.place(fitted)).log_likelihood
            whole = _with_all_words(fitted, seen, moments, provenance)
            return Solution(
                whole, [*trace, last], stop is Stop.CONVERGED, _sentence(stop, run, max_passes, time_limit), stop
            )

        return _run(run, solution, max_passes, stopping, _reporter(run, stopping, seen, moments))


def _run(
    run: Run,
    solution: Callable[[list[float], Stop], Solution],
    max_passes: int,
    stopping: Stopping,
    progress: Callable[[list[float]], Progress],
) -> Solution:
    """The solution that all passes lead to, or those that were made when Ctrl-C was pressed."""
    trace: list[float] = []
    with deferred_ctrl_c.held(run.engine.is_shared):  # all processes stop after the same pass
        try:
            found = solution(trace, _loop(run, trace, max_passes, stopping, progress))
            deferred_ctrl_c.check_together(run.engine.any)
            return found
        except KeyboardInterrupt:
            return completed(lambda: solution(trace, Stop.INTERRUPTED))[0]


def _loop(
    run: Run,
    trace: list[float],
    max_passes: int,
    stopping: Stopping,
    progress: Callable[[list[float]], Progress],
) -> Stop:
    """Make passes until something says stop."""
    while len(trace) < max_passes:
        trace.append(run.step())
        deferred_ctrl_c.check_together(run.engine.any)
        if run.engine.any(stopping.tell(lambda: progress(trace))):
            return Stop.CALLBACK
        if run.settled is not None:
            return Stop.CONVERGED
        if run.engine.any(stopping.is_late()):
            return Stop.TIME_LIMIT
    return Stop.PASS_LIMIT


def _sentence(stop: Stop, run: Run, max_passes: int, time_limit: float | None) -> str:
    """Why a fit ended, with the numbers that belong to it."""
    if stop is Stop.CONVERGED and run.settled is not None:
        return run.settled
    if stop is Stop.TIME_LIMIT:
        return f"the time limit of {time_limit:g} seconds was reached"
    if stop is Stop.PASS_LIMIT:
        return f"the limit of {max_passes:,} passes was reached"
    return stop.value


def _reporter(run: Run, stopping: Stopping, seen: Any, moments: PairMoments) -> Callable[[list[float]], Progress]:
    """What callbacks are told of the pass just made."""
    phases: list[str] = []  # the phase of each pass

    def mixture() -> Mixture:
        return _with_all_words(run.mixture(), seen, moments, {})

    def progress(trace: list[float]) -> Progress:
        phases.append(run.phase)
        active, in_phase = run.active() / seen.size, phases.count(run.phase)
        return Progress(
            len(trace), trace[-1], stopping.seconds, active, run.phase, mixture, in_phase, run.steps_per_second
        )

    return progress


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


def _check(moments: PairMoments, tolerance: float, held_out: PairMoments | None) -> None:
    if not isinstance(moments, Moments | WeightedMoments):
        raise TypeError(f"fit_mixture fits Moments, not {type(moments).__name__}: use Moments.of(counts)")
    if held_out is not None and (held_out.n_words, held_out.vocabulary) != (moments.n_words, moments.vocabulary):
        raise ValueError("the moments to judge by must have the same words in the same order")
    if not tolerance >= 0:
        raise ValueError(f"tolerance must not be negative, but is {tolerance}")


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


@contextmanager
def _limited(memory: float | str | None) -> Iterator[None]:
    """Within the block, tiles and lists of pairs that do not fit go to files without a name."""
    if memory is None:
        yield
        return
    limit = checked_memory(bytes_in(memory) if isinstance(memory, str) else memory)
    with on_disk(Path(tempfile.gettempdir()), (limit - FIXED_BYTES) / SHARES):
        yield


def _mind_the_memory(n_stored: int, n_seen: int, n_words: int, n_topics: int) -> None:
    """Say what a large fit will take, and refuse what cannot fit.

    n_stored : pairs that are to be in memory
    """
    pairs = 10 * n_stored + min(10 * n_stored, 4_096 * n_seen)  # tiles and lists, ratios (benchmarks/memory.py)
    topics = 100 * n_seen * n_topics + 32 * n_words * n_topics  # of a pass in float32; mixtures in float64
    start = 8 * n_seen * min(n_seen, max(DIMENSIONS, 2 * n_topics))  # points in random dimensions, before all that
    needed = pairs + max(topics, start) + 60 * n_topics**2
    if needed > LARGE_FIT:
        log.info("the fit of %d topics will take about %s of memory", n_topics, in_words(needed))
    if needed * processes_here() > available_bytes():
        each = f" in each of {processes_here()} processes" if processes_here() > 1 else ""
        raise MemoryError(
            f"the fit would need about {in_words(needed)}{each} but {in_words(available_bytes())} are free: "
            "use fewer topics, or fewer words (Moments.top)"
        )


def _aligned_start(start: Mixture, n_topics: int, seen: Any, moments: PairMoments, seed: int) -> Mixture:
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


def _with_all_words(mixture: Mixture, seen: Any, moments: PairMoments, provenance: dict[str, Any]) -> Mixture:
    topics = np.zeros((mixture.n_topics, moments.n_words))
    topics[:, seen] = mixture.topics
    return Mixture(
        topics, mixture.correlations, moments.vocabulary, moments.preparation, provenance,
        relevance=mixture.relevance, n_tokens=mixture.n_tokens,
    )  # fmt: skip


def _provenance(moments: PairMoments, solver: Solver, seed: int) -> dict[str, Any]:
    """What it takes to do the fit again."""
    return {
        "fdmix": version("fdmix"),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "solver": repr(solver),
        "seed": int(seed),
        "moments": moments.provenance(),
    }
