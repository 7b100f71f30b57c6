"""The fit with documents at hand: pairs and documents in turn, each helping the other out of its local optima."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix.corpus import Corpus
from fdmix.engines import engine_for
from fdmix.fit import Progress, Solution, fit_mixture
from fdmix.kernels.threads import one_blas_thread
from fdmix.mixture import Mixture
from fdmix.moments import Moments
from fdmix.refinement import FEWEST, MOST_DOCUMENTS, Refinement, begin_refinement, n_set_aside
from fdmix.solvers import EM

ROUNDS = 2
ALPHA_STEPS = 5


def fit_documents(
    corpus: Any,
    n_topics: int,
    *,
    rounds: int = ROUNDS,
    max_documents: int = MOST_DOCUMENTS,
    max_passes: int = 2000,
    tolerance: float = 0.01,
    seed: int = 0,
    callback: Callable[[Progress | Refinement], Any] | None = None,
    n_threads: int | None = None,
) -> Solution:
    """Fit to the pairs of all documents but a few (`fit_mixture`), `refine` on documents, and again from there.

    The fit to the pairs sees the whole corpus at once and is fast; the passes over documents know more than pairs.
    Each moves the other out of local optima. The documents left out judge: the round that completes them best is
    kept, and a round that does worse than the one before is the last. At the end the topics of single tokens are
    sampled, as in `refine`.

    rounds : at most; 1 is a fit and a refinement
    max_documents : for the passes over documents, a sample of a larger corpus
    max_passes, tolerance : of each fit, as in `fit_mixture`
    callback : called with a `Progress` or a `Refinement` after each pass; returning True stops, with what is fitted

    >>> from fdmix import worlds
    >>> fit_documents(worlds.intervals().sample(2000, length=20), 3).mixture
    Mixture(3 topics over 100 words)
    """
    if type(rounds) is not int or rounds < 1:
        raise ValueError(f"rounds must be a whole number from 1 upwards, not {rounds!r}")
    corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
    settings: dict[str, Any] = {
        "max_passes": max_passes, "tolerance": tolerance, "seed": seed, "callback": callback, "n_threads": n_threads,
    }  # fmt: skip
    if corpus.n_documents < FEWEST:
        return fit_mixture(Moments.of(corpus), n_topics, **settings)
    chosen = np.random.default_rng([seed, 2]).permutation(corpus.n_documents)
    n_aside = n_set_aside(corpus.n_documents)
    judges, rest = (corpus[np.sort(some)] for some in np.split(chosen, [n_aside]))
    moments = Moments.of(rest, n_threads=n_threads)
    start: Any = "anchors"
    passes: list[float] = []  # log-likelihoods
    kept, reason = None, f"after {rounds} rounds of pairs and documents, as asked"
    for done in range(rounds):
        fitted = fit_mixture(moments, n_topics, solver=EM(swaps=True), start=start, **settings)
        passes += fitted.log_likelihoods[:-1]
        if not fitted.converged:  # stopped by a limit, the callback or the user
            return replace(fitted, log_likelihoods=[*passes, fitted.log_likelihoods[-1]])
        run = begin_refinement(fitted.mixture, rest, judges, max_documents, seed, n_threads)
        if run is None:
            return fitted
        with one_blas_thread:
            stopped = run.loop("auto", callback)
        if kept is not None and run.best.score <= kept[1].best.score:
            reason = f"round {done + 1} of pairs and documents did not improve on the one before"
            break
        kept, start = (fitted, run), run.mixture()
        if stopped:
            reason = "stopped by the callback"
            break
    assert kept is not None
    if not stopped:
        with one_blas_thread:
            stopped = kept[1].sample(callback)
    fitted, refined = kept[0], kept[1].mixture()
    alpha, likelihood = _correlations(refined, fitted.mixture, moments, n_threads)
    return Solution(replace(refined, correlations=alpha), [*passes, likelihood], not stopped, reason)


def _correlations(refined: Mixture, fitted: Mixture, moments: Moments, n_threads: int | None) -> tuple[Any, float]:
    """alpha of the fit, improved by EM on the pairs with the refined topics held fixed; and L = sum Mhat log M."""
    seen = np.flatnonzero(np.diff(moments.matrix.indptr))
    mhat = moments.matrix[seen][:, seen]
    topics = refined.topics[:, seen]
    known = topics.sum(axis=1, keepdims=True)
    with one_blas_thread:
        engine = engine_for("auto", mhat, refined.n_topics, n_threads)
        state = engine.place(Mixture(topics / np.where(known > 0, known, 1), fitted.correlations))
        for _ in range(ALPHA_STEPS):
            joint = engine.expect(state).joint
            alpha = state.correlations * (joint + joint.T)
            state = replace(state, correlations=alpha / alpha.sum())
        return state.correlations, engine.expect(state).log_likelihood
