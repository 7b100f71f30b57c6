"""The EM step on the topics, P <- [P factors - shrinkage]+, over-relaxed and normalised, for a range of rows."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_fast as njit

SMALLEST = np.float32(1e-20)  # smaller probabilities become exact zeros, because subnormal numbers are slow


@njit
def shrink(begin, end, P, factors, shrinkage, out, totals):
    """out = [P factors - shrinkage]+ and totals[t] += sum_u out[u, t].

    A word whose entries would all become zero keeps its largest one, unshrunk.
    """
    n_topics = P.shape[1]
    for u in range(begin, end):
        p = P[u]
        g = factors[u]
        o = out[u]
        remaining = np.float32(0)
        for t in range(n_topics):
            count = p[t] * g[t] if p[t] > 0 else np.float32(0)
            o[t] = max(count - shrinkage, np.float32(0))
            remaining += o[t]
        if remaining == 0:
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
def overrelax(begin, end, P, scale, power, largest, out, totals):
    """out = new min(new / P, largest)^(power - 1), where new[u, t] = out[u, t] scale[t].

    Also totals[t] += sum_u out[u, t]. The number of columns must be a multiple of 8.
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
    """out[u, t] *= scale[t], entries up to SMALLEST become 0; returns the number of non-zero entries."""
    active = 0
    for u in range(begin, end):
        o = out[u]
        for t in range(out.shape[1]):
            value = o[t] * scale[t]
            o[t] = value if value > SMALLEST else np.float32(0)
            active += o[t] > 0
    return active
