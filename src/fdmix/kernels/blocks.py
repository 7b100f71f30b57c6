"""Dense blocks of the pair matrix, and EM for two topics on such a block."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_reordering as njit


@njit
def dense_block(indptr, indices, data, words):
    """block[i, j] = Mhat[words[i], words[j]]."""
    place = np.full(indptr.size - 1, -1, np.int64)
    for i in range(words.size):
        place[words[i]] = i
    block = np.zeros((words.size, words.size))
    for i in range(words.size):
        for e in range(indptr[words[i]], indptr[words[i] + 1]):
            j = place[indices[e]]
            if j >= 0:
                block[i, j] = data[e]
    return block


@njit
def fit_two_topics(W, halves, joint, rounds):
    """EM for W ~ halves' joint halves; returns the gain over one topic, sum W log (halves' joint halves / r r').

    W is symmetric and sums to 1; r are its row sums, so that r r' is the best fit of one topic. `halves` (2, n) and
    `joint` (2, 2) are improved in place.
    """
    n = W.shape[0]
    r = np.zeros(n)  # in a loop, because compiling W.sum(axis=1) takes more than a second
    for v in range(n):
        for u in range(n):
            r[u] += W[u, v]
    H = np.empty((2, n))
    gain = 0.0
    for k in range(rounds + 1):
        gain = 0.0
        H[:] = 0.0
        for u in range(n):
            left0 = joint[0, 0] * halves[0, u] + joint[0, 1] * halves[1, u]
            left1 = joint[1, 0] * halves[0, u] + joint[1, 1] * halves[1, u]
            for v in range(u + 1):
                if W[u, v] > 0:
                    m = left0 * halves[0, v] + left1 * halves[1, v] + 1e-300
                    ratio = W[u, v] / m
                    if k == rounds:
                        twice = 1.0 if u == v else 2.0
                        gain += twice * W[u, v] * np.log(m / (r[u] * r[v]))
                    H[0, u] += ratio * halves[0, v]
                    H[1, u] += ratio * halves[1, v]
                    if v != u:
                        H[0, v] += ratio * halves[0, u]
                        H[1, v] += ratio * halves[1, u]
        if k == rounds:
            break
        seen = np.zeros((2, 2))
        for a in range(2):
            for b in range(2):
                for u in range(n):
                    seen[a, b] += halves[a, u] * H[b, u]
        totals = np.zeros(2)
        for u in range(n):
            factor0 = joint[0, 0] * H[0, u] + joint[0, 1] * H[1, u]
            factor1 = joint[1, 0] * H[0, u] + joint[1, 1] * H[1, u]
            halves[0, u] *= factor0
            halves[1, u] *= factor1
            totals[0] += halves[0, u]
            totals[1] += halves[1, u]
        for a in range(2):
            for u in range(n):
                halves[a, u] /= max(totals[a], 1e-300)
        both = 0.0
        for a in range(2):
            for b in range(2):
                seen[a, b] *= joint[a, b]
                both += seen[a, b]
        for a in range(2):
            for b in range(2):
                joint[a, b] = (seen[a, b] + seen[b, a]) / (2 * both)
    return gain
