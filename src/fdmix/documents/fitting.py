"""Fit topics to a corpus: to its word pairs first, which is fast, then to its documents, which know more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.splits import MIN_DOCUMENTS, held_out_split, with_pairs
from fdmix.documents.document_fit import DocumentFit, Refinement
from fdmix.documents.refining import MAX_DOCUMENTS, begin_document_fit, require_memory
from fdmix.engines import checked_engine
from fdmix.fit.correlations import fit_correlations
from fdmix.fit.fitting import check_n_topics, fit_mixture
from fdmix.fit.solution import Progress, Solution
from fdmix.fit.stopping import Stop, Stopping
from fdmix.fit.word_ranking import with_word_ranking
from fdmix.moments.moments import Moments
from fdmix.moments.weighting import DEFAULT_WEIGHTING, known_weighting
from fdmix.runtime.interruption import completed, deferred_ctrl_c
from fdmix.runtime.processes import process_count
from fdmix.runtime.threads import one_blas_thread
from fdmix.runtime.whole_numbers import whole_number
from fdmix.solvers import EM


def fit_documents(
    corpus: Any,
    n_topics: int,
    *,
    max_documents: int = MAX_DOCUMENTS,
    max_passes: int = 2000,
    tolerance: float = 0.01,
    time_limit: float | None = None,
    weighting: str = DEFAULT_WEIGHTING,
    engine: str = "auto",
    device: str = "auto",
    seed: int = 0,
    callback: Callable[[Progress | Refinement], Any] | None = None,
    n_threads: int | None = None,
) -> Solution:
    """FDM, then LDA: topics fitted to word pairs (`fit_mixture`), then CVB0 and Gibbs sampling from them (`refine`).

    The fit to the pairs sees the whole corpus at once and is fast; it is the paper's model, which assumes nothing
    about the topics of documents. Documents know more than pairs, but what goes on with them is LDA, which assumes a
    Dirichlet prior. On real text its topics are far from those of the pairs. A few documents
    are held out of both and choose how far passes and sampling go. They are learned from at the end. Last, alpha is
    fitted to the pairs again, with the refined topics. The order of the documents changes nothing.

    max_documents : for passes and sampling; of a larger corpus, or one of more than 20 million tokens, a sample
    max_passes, tolerance : of the fit to the pairs, as in `fit_mixture`
    weighting : of documents in the moments, as in `Moments.of`
    engine, device : of all passes over pairs, as in `fit_mixture`; passes over documents run on the CPU
    time_limit : stop after this many seconds, at the next pass or step of sampling, with the best topics so far
    callback : called with a `Progress` or a `Refinement` after each pass; returning True stops with the best topics
        so far, and so does Ctrl-C

    >>> from fdmix import worlds
    >>> fit_documents(worlds.intervals().sample(2000, length=20), 3).mixture
    Mixture(3 topics over 100 words)
    """
    stopping = Stopping(callback, time_limit)
    corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
    n_topics, seed = check_n_topics(n_topics), whole_number("seed", seed)
    max_documents = whole_number("max_documents", max_documents, least=1)
    settings: dict[str, Any] = {
        "max_passes": max_passes, "tolerance": tolerance, "time_limit": time_limit, "seed": seed,
        "callback": callback, "n_threads": n_threads, "engine": engine, "device": device,
    }  # fmt: skip
    if corpus.preparation is not None and corpus.preparation.cleaning.open_vocabulary:
        raise ValueError("this corpus has an open vocabulary, rare words included: read it without open_vocabulary")
    known_weighting(weighting)
    checked_engine(engine, device)
    if time_limit is not None and process_count() > 1:
        raise ValueError(
            "several processes agree on a time limit only in a fit to pairs alone: use fit_mixture or --pairs-only"
        )
    useful = with_pairs(corpus.counts)
    if useful.size < MIN_DOCUMENTS:
        return fit_mixture(Moments.of(corpus, weighting=weighting, n_threads=n_threads), n_topics, **settings)
    corpus = corpus[useful]
    if n_topics > 1:
        require_memory(corpus.counts, n_topics, max_documents, n_threads)
    chosen, others = held_out_split(corpus.counts)
    held_out, rest = corpus[chosen], corpus[others]
    left_out = corpus[np.setdiff1d(np.arange(corpus.n_documents), others)]
    with deferred_ctrl_c:
        counting: dict[str, Any] = {"weighting": weighting, "held_out": False, "n_threads": n_threads}
        moments, judges = Moments.of(rest, **counting), Moments.of(held_out, **counting)
        fitted = fit_mixture(moments, n_topics, solver=EM(swaps=True), held_out=judges, **settings)
        if not fitted.converged:  # stopped by a limit, the callback or the user
            return fitted
        try:
            fit = begin_document_fit(
                fitted.mixture, rest, held_out, max_documents, seed, n_threads, stopping, left_out
            )
        except KeyboardInterrupt:
            return _stopped(fitted, Stop.INTERRUPTED)
        if fit is None:
            return fitted
        stop = _run(fit)
        if not fit.has_result:
            return _stopped(fitted, stop) if stop is not None else fitted
        return _with_correlations(fit, fitted, moments, left_out, stop, settings)


def _run(fit: DocumentFit) -> Stop | None:
    """Passes over documents and sampling; what stopped them early, if anything did."""
    try:
        with one_blas_thread:
            stopped = fit.run_passes() or fit.run_sampling()
            fit.learn_from_left_out()
    except KeyboardInterrupt:
        return Stop.INTERRUPTED
    return fit.stopping.stop if stopped else None


def _with_correlations(
    fit: DocumentFit, fitted: Solution, moments: Moments, left_out: Corpus, stop: Stop | None, chosen: dict[str, Any]
) -> Solution:
    """The refined topics, and alpha as all pairs have it, or as far as it was fitted when Ctrl-C was pressed."""
    n_threads, where = chosen["n_threads"], {name: chosen[name] for name in ("engine", "device")}
    settings: dict[str, Any] = {"weighting": moments.weighting, "held_out": False, "n_threads": n_threads}
    (refined, pairs), late = completed(lambda: (fit.mixture(), moments + Moments.of(left_out, **settings)))
    tell = None if stop is not None else fit.tell_of_correlations
    alpha, likelihood, last = fit_correlations(refined, pairs, n_threads, tell, **where)
    if late or last:
        stop = Stop.INTERRUPTED
    likelihoods = [*fitted.log_likelihoods[:-1], likelihood]
    told = {**refined.provenance, "moments": pairs.provenance()}  # the left-out documents were learned from, too
    refined = replace(refined, correlations=alpha, provenance=told)
    mixture = with_word_ranking(refined, moments.matrix, moments.n_tokens)
    if stop is None:
        return Solution(mixture, likelihoods, True, fit.reason)
    return Solution(mixture, likelihoods, False, stop.value, stop)


def _stopped(solution: Solution, stop: Stop) -> Solution:
    return replace(solution, converged=False, reason=stop.value, stop=stop)
