"""Error bars of shares in many cells: variances that cells lend each other, and intervals that respect zero.

The jackknife of a cell has few folds, and few documents stand behind a rare topic: its variance is noisy, and small
where the share came out small by chance. So variances are smoothed over the cells of a topic,

    n_c V_ct ~ a_t + b_t s_ct   (noise of tokens, and documents that have the topic or not),

and each cell's own variance is averaged with it, with equal weight. An interval holds all shares s that the estimate
x does not contradict, (x - s)^2 <= q^2 (a + b s) k / n, as Wilson's interval for a proportion does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

Floats = np.ndarray[Any, np.dtype[np.float64]]
ROUNDS = 4  # of reweighting: the variance of a variance grows with its square
MIN_CELLS = 3  # to fit a_t and b_t; with fewer, the variance is a_t


@dataclass(frozen=True, eq=False)
class Spread:
    """The variance of shares: (constant + slope s) for each cell and topic, and its degrees of freedom, (C, 1)."""

    constant: Floats
    slope: Floats
    freedom: Floats

    @classmethod
    def of(cls, shares: Floats, errors: Floats, freedom: Any, documents: Any) -> Spread:
        """From (C, T) shares and jackknife errors of cells with documents; freedom and documents are (C,)."""
        n, own = np.asarray(documents, float)[:, None], np.asarray(freedom, float)[:, None]
        variances = np.where(own > 0, n * np.nan_to_num(errors) ** 2, np.nan)
        usable = np.flatnonzero(own.ravel() > 0)
        a, b = np.full(shares.shape[1], np.nan), np.zeros(shares.shape[1])
        for t in range(shares.shape[1]):
            if usable.size:
                a[t], b[t] = _line(shares[usable, t], variances[usable, t])
        pooled = a + b * shares
        ratio = np.divide(variances, pooled, out=np.ones_like(pooled), where=(pooled > 0) & (own > 0))
        prior = own.max(initial=0.0)
        factor = (prior + own * ratio) / np.maximum(prior + own, 1)
        return cls(a * factor / n, b * factor / n, prior + own)

    def intervals(self, estimates: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """(low, high, standard errors): the shares from 0 to 1 that the estimates do not contradict.

        An error is the half width in units of the quantile: at a share of 0 it is not 0, as the formula above is. An
        estimate below 0 counts as 0 for the upper end: where topics do not fit, it may be far below.
        """
        quantile = stdtrit(np.maximum(self.freedom, 1), (1 + level) / 2)
        shift = quantile**2 * self.slope / 2
        possible = np.maximum(estimates, 0)
        half = np.sqrt(shift**2 + quantile**2 * (self.constant + self.slope * possible))
        return np.clip(estimates + shift - half, 0, 1), np.clip(possible + shift + half, 0, 1), half / quantile


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """a, b >= 0 of y ~ a + b x, where the error of y is proportional to y."""
    from scipy.optimize import nnls  # noqa: PLC0415  (slow to import)

    if x.size < MIN_CELLS:
        return float(y.mean()), 0.0
    weights = np.ones_like(x)
    a = b = 0.0
    for _ in range(ROUNDS):
        (a, b), _ = nnls(np.column_stack([weights, weights * x]), weights * y)
        fitted = np.maximum(a + b * x, 1e-6 * max(float(y.mean()), 1e-300))
        weights = y.mean() / fitted if y.mean() > 0 else np.ones_like(x)
    return float(a), float(b)
