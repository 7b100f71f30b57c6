"""The EM step on the topics, P <- [P lift - toll]+, over-relaxed and normalised, some rows at a time."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_fast as njit

SMALLEST = np.float32(1e-20)  # smaller probabilities become exact zeros: subnormal numbers are slow and useless


@njit
def pay(begin, end, P, lift, toll, out, totals):
    """out = [P lift - toll]+; a word that would lose all keeps its largest. Adds the columns to `totals`."""
    n_topics = P.shape[1]
    for u in range(begin, end):
        p = P[u]
        g = lift[u]
        o = out[u]
        left = np.float32(0)
        for t in range(n_topics):
            count = p[t] * g[t] if p[t] > 0 else np.float32(0)
            o[t] = max(count - toll, np.float32(0))
            left += o[t]
        if left == 0:
            best = 0
            most = np.float32(0)
            for t in range(n_topics):
                if p[t] > 0 and p[t] * g[t] > most:
                    most = p[t] * g[t]
                    best = t
            o[best] = most
        for t in range(n_topics):
            totals[t] += o[t]


@njit
def relax(begin, end, P, scale, power, largest, out, totals):
    """out = new min(new / P, largest)^(power - 1) with new = out scale, one scale per topic.

    Adds the columns to `totals`. The number of columns is a multiple of 8.
    """
    n_topics = P.shape[1]
    for u in range(begin, end):
        p = P[u]
        o = out[u]
        for group in range(0, n_topics, 8):  # most groups of sparse topics are empty
            present = np.float32(0)
            for t in range(group, group + 8):
                present += o[t]
            if present > 0:
                for t in range(group, group + 8):
                    value = o[t] * scale[t]
                    if value > 0 and power != 1:
                        value *= min(value / p[t], largest) ** (power - np.float32(1))
                    o[t] = value
                    totals[t] += value


@njit
def normalise(begin, end, scale, out):
    """out *= scale, one number per topic, without tiny entries; returns how many are left."""
    active = 0
    for u in range(begin, end):
        o = out[u]
        for t in range(out.shape[1]):
            value = o[t] * scale[t]
            o[t] = value if value > SMALLEST else np.float32(0)
            active += o[t] > 0
    return active
