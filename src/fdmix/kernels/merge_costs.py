"""Loops for trees of topics: what merging two topics costs in likelihood, over listed word pairs.

A merge changes the probability of a word pair by

    M'[u, v] - M[u, v] = d[u] h[v] + h[u] d[v]

with two vectors d and h over the words (docs/how-to/tree.md). Loops are float32; sums over pairs are float64.
"""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_fast as njit
from fdmix.kernels.logarithm import F, weighted_log

LEAST = F(1e-6)  # smallest M' / M: rounding must not make it zero or negative
PAIRS = 1024  # word pairs at a time: their scratch rows stay in the L1 cache


@njit
def log_ratios(first, last, row, column, weight, model, d, h, gains):
    """gains[k] = sum_j weight[j] log(M'_k / M) over the pairs first, ..., last - 1: each merge k by itself."""
    q = np.empty(PAIRS, F)
    bits = q.view(np.uint32)
    mant = np.empty(PAIRS, np.uint32)
    mantf = mant.view(F)
    expo = np.empty(PAIRS, F)
    for begin in range(first, last, PAIRS):
        end = min(begin + PAIRS, last)
        u = row[begin:end]
        v = column[begin:end]
        m = model[begin:end]
        w = weight[begin:end]
        for k in range(d.shape[0]):
            dk = d[k]
            hk = h[k]
            for j in range(end - begin):
                q[j] = max(F(1) + (dk[u[j]] * hk[v[j]] + hk[u[j]] * dk[v[j]]) / m[j], LEAST)
            gains[k] += weighted_log(w, bits, mant, mantf, expo)


@njit
def likelihoods(first, last, starts, row, column, weight, model, d, h, out):
    """out[k] = sum_j weight[j] log M_k after merges 0, ..., k, over the runs first, ..., last - 1 of pairs.

    Run r is the pairs starts[r], ..., starts[r + 1] - 1; they have the same row. `model` is M before the merges, and
    becomes M after them.
    """
    size = 0
    for r in range(first, last):
        size = max(size, starts[r + 1] - starts[r])
    size = max(size, PAIRS)
    bits_of = model.view(np.uint32)
    mant = np.empty(size, np.uint32)
    mantf = mant.view(F)
    expo = np.empty(size, F)
    r = first
    while r < last:
        end = r + 1
        while end < last and starts[end + 1] - starts[r] <= PAIRS:
            end += 1
        w = weight[starts[r] : starts[end]]
        bits = bits_of[starts[r] : starts[end]]
        for k in range(d.shape[0]):
            dk = d[k]
            hk = h[k]
            for run in range(r, end):
                u = row[starts[run]]
                du = dk[u]
                hu = hk[u]
                v = column[starts[run] : starts[run + 1]]
                one = model[starts[run] : starts[run + 1]]
                if du == 0:  # as in most rows, because topics are sparse
                    for j in range(v.size):
                        one[j] = max(one[j] + hu * dk[v[j]], LEAST * one[j])
                else:
                    for j in range(v.size):
                        one[j] = max(one[j] + du * hk[v[j]] + hu * dk[v[j]], LEAST * one[j])
            out[k] += weighted_log(w, bits, mant, mantf, expo)
        r = end


@njit
def pair_probabilities(first, last, row, column, left, right, model):
    """model[j] = left[u] . right[v] for the pairs first, ..., last - 1; left = P alpha and right = P give M."""
    for j in range(first, last):
        a = left[row[j]]
        b = right[column[j]]
        total = F(0)
        for t in range(a.size):
            total += a[t] * b[t]
        model[j] = total


@njit
def add_outer_product(table, rows, factor, values, words):
    """table[r, u] += factor[r] values[u] for the given rows r and words u."""
    for r in rows:
        line = table[r]
        f = factor[r]
        for u in words:
            line[u] += f * values[u]


@njit
def products_with_row(table, rows, values, words, out):
    """out[r] = sum_u table[r, u] values[u] over the given words u, for the given rows r."""
    for r in rows:
        line = table[r]
        total = F(0)
        for u in words:
            total += line[u] * values[u]
        out[r] = total
