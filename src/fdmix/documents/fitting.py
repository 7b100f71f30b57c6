"""The fit with documents at hand: to the pairs first, which see the whole corpus at once, then to documents."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.splits import MIN_DOCUMENTS, held_out_split, with_pairs
from fdmix.documents.refining import MOST_DOCUMENTS, Refinement, RefinementRun, begin_refinement, mind_the_memory
from fdmix.fit.fitting import Progress, Solution, check_n_topics, fit_correlations, fit_mixture
from fdmix.moments.moments import Moments
from fdmix.runtime.interruption import INTERRUPTED, completed, deferred_ctrl_c
from fdmix.runtime.threads import one_blas_thread
from fdmix.runtime.whole_numbers import whole_number
from fdmix.solvers import EM


def fit_documents(
    corpus: Any,
    n_topics: int,
    *,
    max_documents: int = MOST_DOCUMENTS,
    max_passes: int = 2000,
    tolerance: float = 0.01,
    time_limit: float | None = None,
    seed: int = 0,
    callback: Callable[[Progress | Refinement], Any] | None = None,
    n_threads: int | None = None,
) -> Solution:
    """Fit to the pairs of all documents but a few (`fit_mixture`), and `refine` on documents.

    The fit to the pairs sees the whole corpus at once and is fast; documents know more than pairs. Those that are
    left out judge how far to go with passes and sampling. alpha is then fitted to the pairs again, with the refined
    topics.

    max_documents : for passes and sampling; of a larger corpus, or one of more than 20 million tokens, a sample
    max_passes, tolerance : of the fit to the pairs, as in `fit_mixture`
    time_limit : stop after so many seconds, at the next pass or after the next sweeps, with what is fitted
    callback : called with a `Progress` or a `Refinement` after each pass; returning True stops, with what is fitted.
        Ctrl-C does, too

    >>> from fdmix import worlds
    >>> fit_documents(worlds.intervals().sample(2000, length=20), 3).mixture
    Mixture(3 topics over 100 words)
    """
    begin = time.monotonic()
    corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
    n_topics, seed = check_n_topics(n_topics), whole_number("seed", seed)
    max_documents = whole_number("max_documents", max_documents, least=1)
    settings: dict[str, Any] = {
        "max_passes": max_passes, "tolerance": tolerance, "time_limit": time_limit, "seed": seed,
        "callback": callback, "n_threads": n_threads,
    }  # fmt: skip
    if corpus.preparation is not None and corpus.preparation.cleaning.open_vocabulary:
        raise ValueError(
            "this corpus has an open vocabulary, with all its rare words: read it without open_vocabulary"
        )
    useful = with_pairs(corpus.counts)
    if useful.size < MIN_DOCUMENTS:
        return fit_mixture(Moments.of(corpus, n_threads=n_threads), n_topics, **settings)
    corpus = corpus[useful]
    if n_topics > 1:
        mind_the_memory(corpus.counts, n_topics, max_documents)
    judges, rest = (corpus[some] for some in held_out_split(corpus.counts))
    with deferred_ctrl_c:
        moments = Moments.of(rest, n_threads=n_threads)
        fitted = fit_mixture(moments, n_topics, solver=EM(swaps=True), **settings)
        if not fitted.converged:  # stopped by a limit, the callback or the user
            return fitted
        try:
            run = begin_refinement(fitted.mixture, rest, judges, max_documents, seed, n_threads)
        except KeyboardInterrupt:
            return replace(fitted, converged=False, reason=INTERRUPTED)
        if run is None:
            return fitted
        stopped = _refined(run, callback, None if time_limit is None else begin + time_limit)
        if not run.begun:
            return replace(fitted, converged=False, reason=stopped or fitted.reason)
        return _with_correlations(run, fitted, moments, callback, stopped, n_threads)


def _with_correlations(
    run: RefinementRun,
    fitted: Solution,
    moments: Moments,
    callback: Callable[[Any], Any] | None,
    stopped: str | None,
    n_threads: int | None,
) -> Solution:
    """The refined topics, and alpha as the pairs have it, or as far as it was fitted when Ctrl-C was pressed."""
    refined, late = completed(run.mixture)
    tell = None if stopped else run.correlations_teller(callback)
    alpha, likelihood, last = fit_correlations(refined, moments, n_threads, tell)
    if late or last:
        stopped = INTERRUPTED
    reason = stopped or "documents set aside gained no more, or all sweeps of sampling were made"
    likelihoods = [*fitted.log_likelihoods[:-1], likelihood]
    return Solution(replace(refined, correlations=alpha), likelihoods, stopped is None, reason)


def _refined(run: RefinementRun, callback: Callable[[Any], Any] | None, deadline: float | None) -> str | None:
    """Passes over documents and sampling; what stopped them on the way, in words."""
    late = False

    def told(now: Refinement) -> bool:
        nonlocal late
        late = deadline is not None and time.monotonic() >= deadline
        return bool(callback is not None and callback(now)) or late

    try:
        with one_blas_thread:
            stopped = run.loop("auto", told) or run.sample(told)
    except KeyboardInterrupt:
        return INTERRUPTED
    if not stopped:
        return None
    return "the time limit was reached" if late else "the callback asked to stop"
