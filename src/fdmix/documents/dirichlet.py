"""The Dirichlet prior of documents, learned from how many tokens of each topic they have."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma

Floats = np.ndarray[Any, np.dtype[np.float64]]
WEAKEST_PRIOR, STRONGEST_PRIOR = 1e-3, 1e3  # concentrations A = sum of a_t
FIXED_POINT_ROUNDS = 10  # of one estimate; the next one goes on from there
SMALLEST_SHARE = 0.02  # of the mean a_t: a topic that has lost its documents by chance can come back


def learned_prior(prior: Floats, lengths: Any, document_lengths: Any, equal: bool = False) -> Floats:
    """a_t after some rounds of Minka's fixed point, which raise the likelihood of the counts n_dt under Dirichlet(a).

    a_t <- a_t sum_d [psi(n_dt + a_t) - psi(a_t)] / sum_d [psi(l_d + A) - psi(A)]

    psi(n + a) - psi(a) = sum_{j < n} 1 / (a + j), so the numerator needs only how many documents have more than j
    tokens of topic t (Wallach 2008).

    prior : a_t to begin with
    lengths : (topics, numbers), how many documents have n tokens of topic t
    document_lengths : l_d
    equal : whether all topics have the same a_t, which is then the mean of the formula's
    """
    more_than = np.cumsum(lengths[:, :0:-1], axis=1)[:, ::-1]  # documents with more than j = 0, 1, ... tokens
    j = np.arange(more_than.shape[1])
    length, n_documents = np.unique(document_lengths[document_lengths > 0], return_counts=True)
    a = prior
    for _ in range(FIXED_POINT_ROUNDS):
        total = a.sum()
        of_topics = np.sum(more_than / (a[:, None] + j), axis=1)
        of_documents = np.sum(n_documents * (digamma(length + total) - digamma(total)))
        a = a * of_topics / of_documents
        a = np.full(a.size, a.mean()) if equal else np.maximum(a, SMALLEST_SHARE * a.mean())
    return a * float(np.clip(a.sum(), WEAKEST_PRIOR, STRONGEST_PRIOR) / a.sum())
