"""Loops over the pair sums of one cell: the totals of its words, and their expected counts in each topic."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit, njit_fast


@njit
def add_row_totals(first, columns, sums, total):
    """total[u] += sum_v S[u, v], for symmetric S that is stored for v <= u."""
    for u in range(first.size - 1):
        own = 0.0
        for entry in range(first[u], first[u + 1]):
            value = float(sums[entry])
            own += value
            if columns[entry] != u:
                total[columns[entry]] += value
        total[u] += own


@njit_fast
def add_ratios(first, columns, sums, left, right, smallest, out):
    """out[u] += sum_v (S[u, v] / M[u, v]) right[v],  M[u, v] = left[u] . right[v], for symmetric S and M.

    Pairs with M below `smallest` are left out: no topics explain them.
    """
    n_topics = right.shape[1]
    for u in range(first.size - 1):
        for entry in range(first[u], first[u + 1]):
            v = columns[entry]
            probability = np.float32(0)
            for t in range(n_topics):
                probability += left[u, t] * right[v, t]
            if probability < smallest:
                continue
            ratio = np.float32(sums[entry]) / probability
            for t in range(n_topics):
                out[u, t] += ratio * right[v, t]
            if v != u:
                for t in range(n_topics):
                    out[v, t] += ratio * right[u, t]
