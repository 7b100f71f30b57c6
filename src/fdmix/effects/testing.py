"""Intervals and tests from estimates with standard errors and degrees of freedom."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

Floats = np.ndarray[Any, np.dtype[np.float64]]


def checked_level(level: float) -> float:
    """The level of intervals, such as 0.9, or a ValueError."""
    if not 0 < level < 1:
        raise ValueError(f"the level of intervals is between 0 and 1, such as 0.9, not {level!r}")
    return float(level)


def half_widths(errors: Any, freedom: Any, level: float) -> Floats:
    """Half the width of the intervals: the quantile of Student's t times the error; NaN without freedom."""
    freedom = np.asarray(freedom, float)
    quantile = np.where(freedom > 0, stdtrit(np.maximum(freedom, 1), (1 + level) / 2), np.nan)
    return np.asarray(quantile * errors)


def p_values(estimates: Any, errors: Any, freedom: Any) -> Floats:
    """Two-sided p-values against zero: 1 where nothing is known, or where the error is zero."""
    errors = np.asarray(errors, float)
    ratio = np.divide(np.abs(estimates), errors, out=np.zeros_like(errors), where=errors > 0)
    ratio = np.nan_to_num(ratio)
    return np.asarray(2 * stdtr(np.maximum(freedom, 1), -ratio))


def adjusted(p: Any) -> Floats:
    """Benjamini-Hochberg: report what is at most 0.05, and at most 5 % of the reports are false, on average.

    >>> adjusted([0.01, 0.04, 0.03, 0.5]).round(3).tolist()
    [0.04, 0.053, 0.053, 0.5]
    """
    p = np.asarray(p, float).ravel()
    order = np.argsort(-p, kind="stable")
    ranks = np.arange(p.size, 0, -1)
    q = np.empty(p.size)
    q[order] = np.minimum.accumulate(np.minimum(p[order] * p.size / ranks, 1.0))
    return q


def pooled_freedom(variances: Any, freedom: Any) -> Floats:
    """Degrees of freedom of a sum of independent estimates (Welch and Satterthwaite), over the first axis."""
    variances, freedom = np.asarray(variances, float), np.asarray(freedom, float)
    total = variances.sum(axis=0)
    parts = (variances**2 / np.maximum(freedom, 1)).sum(axis=0)
    return np.asarray(np.divide(total**2, parts, out=np.ones_like(total), where=parts > 0))
