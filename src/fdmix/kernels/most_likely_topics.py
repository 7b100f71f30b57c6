"""The most likely topic shares of documents. A document's result does not depend on the other documents."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_reordering as njit

EM_ROUNDS = 12  # rounds of EM before Newton's method takes over
MAX_WORKING_SETS = 100  # working sets of topics for Newton's method
NEWTON_ROUNDS = 40  # Newton steps on one working set, at most
SMALL_SHARE = 0.005  # topic shares below this leave the working set after EM
MAX_JOINING = 4  # topics that join the working set at a time
RIDGE = 1e-12  # added to the Hessian's diagonal: keeps the Cholesky factorisation stable


@njit
def gather(words, first, topic, value, floor, local, topics, B):
    """B[k, i] = mu_t(words[i]) + floor for the topics t = topics[k] that have any of the words; returns their number.

    `local`, which maps topics to k, is filled with -1 before and after the call.
    """
    k = 0
    for i in range(words.size):
        for e in range(first[words[i]], first[words[i] + 1]):
            if local[topic[e]] < 0:
                local[topic[e]] = k
                topics[k] = topic[e]
                k += 1
    for j in range(k):
        for i in range(words.size):
            B[j, i] = floor
    for i in range(words.size):
        for e in range(first[words[i]], first[words[i] + 1]):
            B[local[topic[e]], i] += value[e]
    for j in range(k):
        local[topics[j]] = -1
    return k


@njit
def scale_columns(B, K, share):
    """Divide each word's column by its largest entry; returns sum_i share_i log(largest_i).

    This changes no theta, and keeps products of probabilities of rare words from underflowing.
    """
    total = 0.0
    for i in range(share.size):
        largest = 0.0
        for k in range(K):
            largest = max(largest, B[k, i])
        if largest > 0:
            for k in range(K):
                B[k, i] /= largest
            total += share[i] * np.log(largest)
    return total


@njit
def objective(share, B, theta, m):
    """sum_i share_i log m_i with m = theta B; fills `m`."""
    total = 0.0
    for i in range(share.size):
        m[i] = 0.0
    for k in range(theta.size):
        if theta[k] > 0:
            for i in range(share.size):
                m[i] += B[k, i] * theta[k]
    for i in range(share.size):
        total += share[i] * np.log(m[i])
    return total


@njit
def gradient(share, B, m, g):
    """g_k = sum_i B[k, i] share_i / m_i; sum_k theta_k g_k = 1."""
    r = share / m
    for k in range(g.size):
        total = 0.0
        for i in range(share.size):
            total += r[i] * B[k, i]
        g[k] = total


@njit
def solve(A, b, n):
    """Solve A x = b for a symmetric positive definite A (n x n) by Cholesky; overwrites A, and b by x."""
    for j in range(n):
        for k in range(j):
            A[j, j] -= A[j, k] * A[j, k]
        A[j, j] = np.sqrt(max(A[j, j], RIDGE))
        for i in range(j + 1, n):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
    for c in range(b.shape[1]):
        for i in range(n):
            for k in range(i):
                b[i, c] -= A[i, k] * b[k, c]
            b[i, c] /= A[i, i]
        for i in range(n - 1, -1, -1):
            for k in range(i + 1, n):
                b[i, c] -= A[k, i] * b[k, c]
            b[i, c] /= A[i, i]


@njit
def newton_direction(share, B, m, g, theta, members, n):
    """The step d, with sum 0, that maximises g.d - d'Hd / 2; returns (number of members left, their steps).

    H = sum_i share_i s_i s_i' with s_i = B[:, i] / m_i. Members with share 0 that would become negative are left out.
    """
    while True:
        H = np.zeros((n, n))
        r = share / (m * m)
        for a in range(n):
            left = r * B[members[a]]
            for b in range(a + 1):
                right = B[members[b]]
                total = 0.0
                for i in range(share.size):
                    total += left[i] * right[i]
                H[a, b] = total
        for a in range(n):
            H[a, a] = H[a, a] * (1 + 1e-10) + RIDGE
        sides = np.ones((n, 2))
        for a in range(n):
            sides[a, 0] = g[members[a]]
        solve(H, sides, n)
        multiplier = sides[:, 0].sum() / sides[:, 1].sum()
        kept = 0
        for a in range(n):
            d = sides[a, 0] - multiplier * sides[a, 1]
            if theta[members[a]] > 0 or d > 0:
                sides[kept, 0] = d
                members[kept] = members[a]
                kept += 1
        if kept in (n, 0):
            return kept, sides[:, 0].copy()
        n = kept


@njit
def drop_small_shares(B, theta, needed):
    """Set small shares to zero and normalise; every word keeps the topic that explains most of it."""
    needed[:] = 0
    for i in range(B.shape[1]):
        best = 0
        for k in range(theta.size):
            if B[k, i] * theta[k] > B[best, i] * theta[best]:
                best = k
        needed[best] = 1
    for k in range(theta.size):
        if theta[k] < SMALL_SHARE and not needed[k]:
            theta[k] = 0.0
    theta /= theta.sum()


@njit
def most_likely(share, B, theta, tolerance):
    """theta = argmax over the simplex of sum_i share_i log (theta B)_i, from a given theta; returns the duality gap.

    The objective is concave, so max_k g_k - 1 bounds what any other theta could gain. EM comes near the optimum. Then
    Newton's method finishes on a working set: the topics in use and those with the largest g_k.
    """
    K = theta.size
    m = np.empty(share.size)
    g = np.empty(K)
    trial = np.empty(K)
    members = np.empty(K, np.int64)
    value = objective(share, B, theta, m)
    for _ in range(EM_ROUNDS):
        gradient(share, B, m, g)
        if g.max() - 1 <= tolerance:
            return g.max() - 1
        for k in range(K):
            theta[k] *= g[k]
        value = objective(share, B, theta, m)
    drop_small_shares(B, theta, members)
    value = objective(share, B, theta, m)
    for _ in range(MAX_WORKING_SETS):
        gradient(share, B, m, g)
        if g.max() - 1 <= tolerance:
            break
        n = 0
        for k in range(K):
            if theta[k] > 0:
                members[n] = k
                n += 1
        for _ in range(MAX_JOINING):
            best = -1
            for k in range(K):
                if theta[k] == 0 and g[k] > 1 and (best < 0 or g[k] > g[best]):
                    best = k
            if best < 0:
                break
            members[n] = best
            n += 1
            g[best] = -g[best]  # marked as taken
        for a in range(n):
            g[members[a]] = abs(g[members[a]])
        improved = False
        for _ in range(NEWTON_ROUNDS):
            n, d = newton_direction(share, B, m, g, theta, members, n)
            slope = 0.0
            step = 1.0
            for a in range(n):
                slope += g[members[a]] * d[a]
                if d[a] < 0:
                    step = min(step, -theta[members[a]] / d[a])
            if slope <= 1e-15:
                break
            found = False
            for _ in range(40):
                for k in range(K):
                    trial[k] = theta[k]
                for a in range(n):
                    moved = theta[members[a]] + step * d[a]
                    trial[members[a]] = moved if moved > 1e-14 else 0.0
                trial /= trial.sum()
                new = objective(share, B, trial, m)
                if new >= value + 1e-4 * step * slope:
                    found = True
                    break
                step /= 2
            if not found:
                value = objective(share, B, theta, m)
                break
            improved = True
            for k in range(K):
                theta[k] = trial[k]
            value = new
            gradient(share, B, m, g)
            kept = 0
            largest = 0.0
            for a in range(n):
                if theta[members[a]] > 0:
                    members[kept] = members[a]
                    kept += 1
                    largest = max(largest, g[members[a]])
            n = kept
            if largest - 1 <= tolerance / 2:
                break
        if not improved:  # Newton is stuck, but EM rounds always improve
            for _ in range(EM_ROUNDS):
                gradient(share, B, m, g)
                for k in range(K):
                    theta[k] = max(theta[k], 1e-12) * g[k]
                theta /= theta.sum()
                value = objective(share, B, theta, m)
    gradient(share, B, m, g)
    return g.max() - 1


@njit
def assign_most_likely(
    begin, end, indptr, words, counts, first, topic, value, floor, average, tolerance, theta, gaps, scores
):
    """theta_d, its duality gap and L_d = sum_u dhat(u) log m(u) for the documents begin <= d < end."""
    T = average.size
    local = np.full(T, -1, np.int64)
    topics = np.empty(T, np.int64)
    for d in range(begin, end):
        some = words[indptr[d] : indptr[d + 1]]
        if some.size == 0:
            for t in range(T):
                theta[d, t] = average[t]
            continue
        B = np.empty((T, some.size))
        K = gather(some, first, topic, value, floor, local, topics, B)
        if K == 0:  # no topic has any of the words: all explain them equally badly
            for t in range(T):
                theta[d, t] = average[t]
            scores[d] = np.log(floor)
            continue
        B = B[:K]
        share = counts[indptr[d] : indptr[d + 1]] / counts[indptr[d] : indptr[d + 1]].sum()
        scale = scale_columns(B, K, share)
        guess = np.empty(K)
        for k in range(K):
            guess[k] = average[topics[k]] + 1e-6
        guess /= guess.sum()
        gaps[d] = most_likely(share, B, guess, tolerance)
        m = np.empty(some.size)
        scores[d] = scale + objective(share, B, guess, m)
        for k in range(K):
            theta[d, topics[k]] = guess[k]
