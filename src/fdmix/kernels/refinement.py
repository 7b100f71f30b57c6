"""Leave-one-out passes over documents: zeroth-order collapsed variational Bayes (CVB0), on sparse topics."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.documents import njit


@njit
def _with_room(r, begin, end, words, first):
    """The array r, or a larger one, with room for the responsibilities of a document's words."""
    needed = 0
    for i in range(begin, end):
        needed += first[words[i] + 1] - first[words[i]]
    return r if needed <= r.size else np.empty(2 * needed)


@njit
def visit_documents(begin, end, table, topics, prior, rounds, tolerance, out, n_out):
    """Responsibilities of the tokens of the documents begin <= d < end, added up by entry of the topics.

    r_ut ~ (a_t + n_dt - r_ut) mu_t(u),    out[e] += sum_d c_d(u) r_ut for the entry e = (u, t),    n_out[d] = n_d.

    table : (indptr, words, counts) of the documents
    topics : (first, topic, chance), the entries first[u] <= e < first[u + 1] of each word: mu_topic[e](u) = chance[e]
    n_out : (documents of the block, topics), or without rows if it is not wanted
    """
    indptr, words, counts = table
    first, topic, chance = topics
    T = prior.size
    r = np.empty(1)
    g = np.empty(T)
    new = np.empty(T)
    for d in range(begin, end):
        r = _with_room(r, indptr[d], indptr[d + 1], words, first)
        _respond(indptr[d], indptr[d + 1], words, counts, first, topic, chance, prior, rounds, tolerance, r, g, new)
        at = 0
        for i in range(indptr[d], indptr[d + 1]):
            for e in range(first[words[i]], first[words[i] + 1]):
                out[e] += counts[i] * r[at]
                at += 1
        if n_out.shape[0] > 0:
            for t in range(T):
                n_out[d - begin, t] = g[t] - prior[t]


@njit
def complete_documents(begin, end, table, second, topics, unigram, shares, prior, rounds, tolerance, scores):
    """scores[d, k] = sum over tokens u of d's second half of log ((1 - b_k) sum_t theta_t mu_t(u) + b_k unigram(u)).

    theta_t = (a_t + n_t) / (A + l) from the document's first half, which is in `table`; b = `shares`.
    """
    indptr, words, counts = table
    held, held_words, held_counts = second
    first, topic, chance = topics
    T = prior.size
    r = np.empty(1)
    g = np.empty(T)
    new = np.empty(T)
    for d in range(begin, end):
        r = _with_room(r, indptr[d], indptr[d + 1], words, first)
        _respond(indptr[d], indptr[d + 1], words, counts, first, topic, chance, prior, rounds, tolerance, r, g, new)
        total = 0.0
        for t in range(T):
            total += g[t]
        scores[d] = 0.0
        for i in range(held[d], held[d + 1]):
            m = 0.0
            for e in range(first[held_words[i]], first[held_words[i] + 1]):
                m += g[topic[e]] / total * chance[e]
            for k in range(shares.size):
                mixed = (1 - shares[k]) * m + shares[k] * unigram[held_words[i]]
                scores[d, k] += held_counts[i] * np.log(mixed)


@njit
def _respond(begin, end, words, counts, first, topic, chance, prior, rounds, tolerance, r, g, new):
    """Responsibilities r of one document, entry by entry of its words, and g = a + n.

    They begin as r ~ a_t mu_t(u), the answer of a document of one token.
    """
    T = prior.size
    length = 0.0
    for t in range(T):
        g[t] = prior[t]
    at = 0
    for i in range(begin, end):
        low, high = first[words[i]], first[words[i] + 1]
        total = 0.0
        for e in range(low, high):
            r[at + e - low] = prior[topic[e]] * chance[e]
            total += r[at + e - low]
        for e in range(low, high):
            r[at + e - low] /= total
            g[topic[e]] += counts[i] * r[at + e - low]
        if high > low:
            length += counts[i]
        at += high - low
    for _ in range(rounds):
        moved = 0.0
        at = 0
        for i in range(begin, end):
            low, high = first[words[i]], first[words[i] + 1]
            total = 0.0
            for e in range(low, high):
                k = at + e - low
                new[e - low] = max(g[topic[e]] - r[k], 1e-12) * chance[e]
                total += new[e - low]
            scale = 1.0 / total
            for e in range(low, high):
                k = at + e - low
                change = counts[i] * (new[e - low] * scale - r[k])
                g[topic[e]] += change
                moved += abs(change)
                r[k] += change / counts[i]
            at += high - low
        if moved <= tolerance * length:
            break
