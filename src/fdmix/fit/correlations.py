"""alpha for given topics: a concave problem, solved by EM on the pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix.engines import State, engine_for
from fdmix.mixture.mixture import Mixture
from fdmix.moments.contract import PairMoments
from fdmix.moments.pair_matrix import pair_matrix_of
from fdmix.runtime.interruption import completed
from fdmix.runtime.threads import one_blas_thread

MAX_PASSES = 100
MIN_GAIN = 2e-5  # in L; a pass that gains less is the last


def fit_correlations(
    mixture: Mixture,
    moments: PairMoments,
    n_threads: int | None = None,
    tell: Callable[[int, int], Any] | None = None,
    *,
    engine: str = "auto",
    device: str = "auto",
) -> tuple[Any, float, bool]:
    """alpha by EM on the pairs, alpha <- alpha (P' H), with the topics held fixed; L; whether Ctrl-C ended it.

    For fixed topics L = sum Mhat log M is concave in alpha, so that it does not matter where it begins, as long as
    nothing is zero. Every pass improves alpha; when Ctrl-C ends them, the last alpha is returned. A topic with no
    word that the moments know gets nothing.

    tell : called with the number of passes, and how many there are at most
    engine, device : as in `fit_mixture`
    """
    alpha, likelihood = mixture.correlations, -np.inf
    passes = _passes_for_correlations(mixture, moments, n_threads, engine, device)
    try:
        for done, found in enumerate(passes):
            alpha, likelihood = found
            if tell is not None:
                tell(done, MAX_PASSES)
    except KeyboardInterrupt:
        mhat = moments.matrix
        likelihood, _ = completed(lambda: replace(mixture, correlations=alpha).log_likelihood(mhat))
        return alpha, likelihood, True
    return alpha, likelihood, False


def _passes_for_correlations(
    mixture: Mixture, moments: PairMoments, n_threads: int | None, name: str, device: str
) -> Iterator[tuple[Any, float]]:
    """alpha and its likelihood, first where the passes begin, then after each of them."""
    mhat = pair_matrix_of(moments)
    seen = np.flatnonzero(mhat.row_sums)
    mhat, topics = mhat.among(seen), mixture.topics[:, seen]
    known = np.flatnonzero(topics.sum(axis=1) > 0)
    if known.size == 0:
        return
    topics, shares = topics[known], mixture.shares[known] + 1e-3 / mixture.n_topics
    alpha = 0.99 * mixture.correlations[np.ix_(known, known)] + 0.01 * np.outer(shares, shares)

    engine = engine_for(name, mhat, known.size, n_threads, device)

    def whole(state: State) -> Any:
        everywhere = np.zeros((mixture.n_topics, mixture.n_topics))
        everywhere[np.ix_(known, known)] = engine.correlations(state)
        return everywhere

    trace: list[float] = []
    with one_blas_thread:
        state = engine.place(Mixture(topics / topics.sum(axis=1, keepdims=True), alpha / alpha.sum()))
        while len(trace) < MAX_PASSES and not (len(trace) > 1 and trace[-1] - trace[-2] < MIN_GAIN):
            now = engine.expect(state)
            trace.append(now.log_likelihood)
            yield whole(state), now.log_likelihood
            state = engine.reweigh(state, now)
        yield whole(state), engine.expect(state, joint=False).log_likelihood
