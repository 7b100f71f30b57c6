"""Do the word pairs look like a mixture of these topics at all? Residuals against the noise that the folds tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from fdmix.fit.correlations import fit_correlations
from fdmix.mixture.mixture import Mixture
from fdmix.mixture.reliability import PairCheck
from fdmix.moments.moments import Moments

MIN_EXPECTED = 5.0  # tokens; rarer pairs say nothing by themselves
N_MISFITS = 20
MIN_Z = 4.0  # standard errors; of many pairs, a few reach 3 by chance
ROWS_AT_A_TIME = 256

Floats = np.ndarray[Any, np.dtype[np.float64]]


def check_pairs(
    mixture: Mixture, moments: Moments, min_expected: float = MIN_EXPECTED, n_threads: int | None = None
) -> PairCheck:
    """Residuals of the word pairs, compared with the sampling of documents, and the pairs that fit worst.

    With r = Mhat - M the residual of a pair, r_k the same in fold k, which is the share w_k of the whole, and sums
    over pairs u < v,

        excess = sum r^2 / M  /  sum var / M,    var = K / (K - 1) sum_k w_k^2 (r_k - r)^2

    M_k has an alpha of its own, fitted to the fold: documents of a fold differ in their topics, which the model
    allows. The excess is about 1, or a little less, if documents are drawn from the mixture. Only pairs count that
    the model expects often enough; they are chosen by M alone, so that no pair is chosen for its residual.

    mixture, moments : over the same words; the moments with folds
    min_expected : tokens that a pair must be worth under the model, M x the number of tokens
    """
    if mixture.n_words != moments.n_words:
        raise ValueError(f"the mixture has {mixture.n_words:,} words and the moments {moments.n_words:,}")
    if len(moments.folds) < 2:
        raise ValueError("the folds tell the noise of the pairs: count with Moments.of(..., folds=16)")
    mhat, masses = moments.matrix, [fold.pairs.total() for fold in moments.folds]
    topics, left = mixture.topics, mixture.topics.T @ mixture.correlations
    parts = [
        (fold.matrix, mass / sum(masses), topics.T @ fit_correlations(mixture, fold, n_threads)[0])
        for fold, mass in zip(moments.folds, masses, strict=True)
        if mass
    ]
    blocks = []
    for begin in range(0, mixture.n_words, ROWS_AT_A_TIME):
        rows = slice(begin, min(begin + ROWS_AT_A_TIME, mixture.n_words))
        model = left[rows] @ topics
        later = np.arange(mixture.n_words) > np.arange(rows.start, rows.stop)[:, None]
        u, v = np.nonzero(later & (model * moments.n_tokens >= min_expected))
        seen = mhat[rows].toarray()[u, v]
        residual, noise = seen - model[u, v], np.zeros(u.size)
        for part, share, left_of_part in parts:
            of_part = (part[rows].toarray() - left_of_part[rows] @ topics)[u, v]
            noise += (share * (of_part - residual)) ** 2
        blocks.append((u + begin, v, model[u, v], seen, noise * len(parts) / (len(parts) - 1)))
    u, v, model, seen, noise = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return _summary(u, v, model, seen, noise)


def _summary(u: Any, v: Any, model: Floats, seen: Floats, noise: Floats) -> PairCheck:
    by_chance = float(np.sum(noise / model))
    if not u.size or not by_chance > 0:
        return PairCheck(np.nan, np.nan, 0)
    found = float(np.sum((seen - model) ** 2 / model))
    # One dispersion for all pairs: the noise of a single pair, from a few folds, is too uncertain.
    z = (seen - model) / np.sqrt(model * by_chance / u.size)
    worst = np.argsort(-np.abs(z), kind="stable")[:N_MISFITS]
    misfits = tuple(
        (int(u[i]), int(v[i]), float(seen[i] / model[i]), float(z[i])) for i in worst.tolist() if abs(z[i]) >= MIN_Z
    )
    error = float(np.sqrt(max(found - by_chance, 0) / model.sum()))
    return PairCheck(found / by_chance, error, int(u.size), misfits)
