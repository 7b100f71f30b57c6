"""How likely the observed word pairs are under a mixture, in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

ROWS_AT_A_TIME = 256


def log_likelihood_and_ratios(P: Any, alpha: Any, mhat: sp.csr_array) -> tuple[float, sp.csr_array]:
    """L and R = Mhat / M with M = P alpha P', some rows at a time.

    A pair that the model gives no chance has R = 0, and then L = -inf.
    """
    left = P @ alpha
    model = np.empty(mhat.nnz)
    for begin in range(0, mhat.shape[0], ROWS_AT_A_TIME):
        end = min(begin + ROWS_AT_A_TIME, mhat.shape[0])
        stored = slice(mhat.indptr[begin], mhat.indptr[end])
        row = np.repeat(np.arange(end - begin), np.diff(mhat.indptr[begin : end + 1]))
        model[stored] = (left[begin:end] @ P.T)[row, mhat.indices[stored]]
    with np.errstate(divide="ignore"):
        log_likelihood = float(np.sum(mhat.data * np.log(model)))
    ratios = np.divide(mhat.data, model, out=np.zeros_like(model), where=model > 0)
    return log_likelihood, sp.csr_array((ratios, mhat.indices, mhat.indptr), shape=mhat.shape)
