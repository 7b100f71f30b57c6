"""The approximate posterior mean of a document's topic shares under a Dirichlet prior."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_reordering as njit
from fdmix.kernels.most_likely_topics import gather, scale_columns


@njit
def assign_posterior(
    begin, end, indptr, words, counts, first, topic, value, floor, prior, rounds, tolerance, theta, scores
):
    """theta_d = the approximate posterior mean under a Dirichlet(prior), by CVB0; scores[d] = L_d.

    r_ut ~ mu_t(u) (a_t + n_t - r_ut),   n_t = sum_u c(u) r_ut,   theta_t = (a_t + n_t) / (A + l).
    Words that no topic has say nothing about theta and are left out of n and l.
    """
    T = prior.size
    total_prior = prior.sum()
    local = np.full(T, -1, np.int64)
    topics = np.empty(T, np.int64)
    for d in range(begin, end):
        some = words[indptr[d] : indptr[d + 1]]
        length = 0.0
        known = 0.0
        for i in range(some.size):
            length += counts[indptr[d] + i]
            if first[some[i] + 1] > first[some[i]]:
                known += counts[indptr[d] + i]
        for t in range(T):
            theta[d, t] = prior[t]
        if known > 0:
            B = np.empty((T, some.size))
            K = gather(some, first, topic, value, floor, local, topics, B)
            scale_columns(B, K, np.ones(some.size))
            by_word = B[:K].T.copy()
            r = np.zeros((some.size, K))
            n = np.zeros(K)
            for _ in range(rounds):
                for i in range(some.size):
                    if first[some[i] + 1] == first[some[i]]:
                        continue
                    c = counts[indptr[d] + i]
                    total = 0.0
                    for k in range(K):
                        n[k] -= c * r[i, k]
                        own = max(c - 1, 0) * r[i, k]
                        new = by_word[i, k] * (prior[topics[k]] + max(n[k], 0.0) + own)
                        r[i, k] = new
                        total += new
                    for k in range(K):
                        r[i, k] /= total
                        n[k] += c * r[i, k]
                moved = 0.0
                for k in range(K):
                    moved += abs(n[k] - (theta[d, topics[k]] - prior[topics[k]]))
                    theta[d, topics[k]] = prior[topics[k]] + n[k]
                if moved <= tolerance * known:
                    break
        for t in range(T):
            theta[d, t] /= total_prior + known
        scores[d] = 0.0
        for i in range(some.size):
            m = floor
            for e in range(first[some[i]], first[some[i] + 1]):
                m += theta[d, topic[e]] * value[e]
            scores[d] += counts[indptr[d] + i] / length * np.log(m)
