"""Passes of CVB0 (zeroth-order collapsed variational Bayes, Asuncion et al. 2009) over documents."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_reordering as njit


@njit
def cvb0_pass(begin, end, table, topics, prior, convergence, out):
    """Add the topic counts of the documents begin <= d < end to `out`, an entry for each entry of the topics.

    r_ut ~ (a_t + n_dt - r_ut) mu_t(u),    out[e] += sum_d c_d(u) r_ut for the entry e = (u, t).

    table : (indptr, words, counts) of the documents
    topics : (first, topic, probability): mu_topic[e](u) = probability[e] for first[u] <= e < first[u + 1]
    convergence : (max_rounds, tolerance, prune_below): rounds in a document end when one moves less than the
        tolerance, a share of the document's tokens. A topic leaves a word for the rest of the rounds if its
        responsibility is less than prune_below times the largest one
    """
    indptr, _, counts = table
    T = prior.size
    guess = _first_guess(topics, prior)
    g = np.empty(T)
    scratch = _scratch(1, 1, T)
    for d in range(begin, end):
        scratch = _large_enough(scratch, indptr[d], indptr[d + 1], table, topics)
        _fit_sparse(indptr[d], indptr[d + 1], table, topics, prior, guess, convergence, scratch, g)
        starts, entries, r, _ = scratch
        for i in range(indptr[d], indptr[d + 1]):
            for k in range(starts[i - indptr[d]], starts[i - indptr[d] + 1]):
                out[entries[k]] += counts[i] * r[k]


@njit
def completion_scores(begin, end, table, second, topics, unigram, shares, prior, convergence, scores):
    """scores[d, k] = sum over tokens u of d's second half of log ((1 - b_k) sum_t theta_t mu_t(u) + b_k unigram(u)).

    theta_t = (a_t + n_t) / (A + l), fitted to the document's first half, which is in `table`; b = `shares`.
    convergence : (max_rounds, tolerance) as in `cvb0_pass`. Every round looks at all topics, eight at a time
    """
    indptr = table[0]
    held, held_words, held_counts = second
    first, topic, probability = topics
    T = prior.size
    guess = _first_guess(topics, prior)
    g = np.empty(T, np.float32)
    r, mu = np.empty((1, T), np.float32), np.empty((1, T), np.float32)
    for d in range(begin, end):
        if indptr[d + 1] - indptr[d] > r.shape[0]:
            n = 2 * (indptr[d + 1] - indptr[d])
            r, mu = np.empty((n, T), np.float32), np.empty((n, T), np.float32)
        _fit_dense(indptr[d], indptr[d + 1], table, topics, prior, guess, convergence, (r, mu), g)
        total = 0.0
        for t in range(T):
            total += g[t]
        scores[d] = 0.0
        for i in range(held[d], held[d + 1]):
            m = 0.0
            for e in range(first[held_words[i]], first[held_words[i] + 1]):
                m += g[topic[e]] / total * probability[e]
            for k in range(shares.size):
                mixed = (1 - shares[k]) * m + shares[k] * unigram[held_words[i]]
                scores[d, k] += held_counts[i] * np.log(mixed)


@njit
def _fit_dense(begin, end, table, topics, prior, guess, convergence, scratch, g):
    """g = a + n of one document, with all topics in every round; scratch : two arrays (words, topics), r and mu."""
    _, words, counts = table
    first, topic, probability = topics
    max_rounds, tolerance = convergence
    r, mu = scratch
    new = np.empty(g.size, np.float32)
    length = 0.0
    for t in range(g.size):
        g[t] = prior[t]
    for i in range(end - begin):
        for t in range(g.size):
            r[i, t] = 0
            mu[i, t] = 0
    for i in range(begin, end):
        for e in range(first[words[i]], first[words[i] + 1]):
            r[i - begin, topic[e]], mu[i - begin, topic[e]] = guess[e], probability[e]
            g[topic[e]] += counts[i] * guess[e]
        if first[words[i]] < first[words[i] + 1]:
            length += counts[i]
    for _ in range(max_rounds):
        moved = np.float32(0)
        for i in range(end - begin):
            count, total = np.float32(counts[begin + i]), np.float32(0)
            for t in range(g.size):
                new[t] = max(g[t] - r[i, t], np.float32(1e-12)) * mu[i, t]
                total += new[t]
            total = np.float32(1) / total if total > 0 else np.float32(0)
            for t in range(g.size):
                share = new[t] * total
                change = count * (share - r[i, t])
                g[t] += change
                moved += abs(change)
                r[i, t] = share
        if moved <= tolerance * length:
            break


@njit
def _first_guess(topics, prior):
    """r ~ a_t mu_t(u) for each entry, with which every document starts: the exact r of a document of one token."""
    first, topic, probability = topics
    guess = np.empty(probability.size)
    for u in range(first.size - 1):
        total = 0.0
        for e in range(first[u], first[u + 1]):
            guess[e] = prior[topic[e]] * probability[e]
            total += guess[e]
        for e in range(first[u], first[u + 1]):
            guess[e] /= total
    return guess


@njit
def _scratch(n_words, n_entries, n_topics):
    """(starts, entries, r, new): memory for a document's entries by word, their r, and the new r of one word."""
    entries = np.empty(n_entries, np.int64)
    return np.empty(n_words + 1, np.int64), entries, np.empty(n_entries), np.empty(n_topics)


@njit
def _large_enough(scratch, begin, end, table, topics):
    """The scratch memory, or a larger one if the document needs it."""
    words, first = table[1], topics[0]
    needed = 0
    for i in range(begin, end):
        needed += first[words[i] + 1] - first[words[i]]
    if needed <= scratch[1].size and end - begin < scratch[0].size:
        return scratch
    return _scratch(2 * (end - begin), 2 * needed, scratch[3].size)


@njit
def _fit_sparse(begin, end, table, topics, prior, guess, convergence, scratch, g):
    """The responsibilities of one document and g = a + n, with fewer topics of a word from round to round.

    The entry entries[k] of the document's i-th word has the responsibility r[k], starts[i] <= k < starts[i + 1]. The
    first round uses all topics of every word and the same g for all words; later rounds update g after each word.
    """
    _, words, counts = table
    first, topic, probability = topics
    max_rounds, tolerance, prune_below = convergence
    starts, entries, r, new = scratch
    for t in range(g.size):
        g[t] = prior[t]
    at = 0
    length = 0.0
    for i in range(begin, end):
        starts[i - begin] = at
        for e in range(first[words[i]], first[words[i] + 1]):
            g[topic[e]] += counts[i] * guess[e]
            at += 1
        if starts[i - begin] < at:
            length += counts[i]
    at = 0
    for i in range(begin, end):
        low, high = first[words[i]], first[words[i] + 1]
        starts[i - begin] = at
        least = 0.0
        for e in range(low, high):
            new[e - low] = max(g[topic[e]] - guess[e], 1e-12) * probability[e]
            least = max(least, prune_below * new[e - low])
        for e in range(low, high):
            entries[at], r[at] = e, new[e - low]
            at += new[e - low] >= least
        total = 0.0
        for k in range(starts[i - begin], at):
            total += r[k]
        total = 1.0 / total
        for k in range(starts[i - begin], at):
            r[k] *= total
    starts[end - begin] = at
    for t in range(g.size):
        g[t] = prior[t]
    for i in range(begin, end):
        for k in range(starts[i - begin], starts[i - begin + 1]):
            g[topic[entries[k]]] += counts[i] * r[k]
    for _ in range(max_rounds):
        moved = 0.0
        at = 0
        for i in range(begin, end):
            low, high = starts[i - begin], starts[i - begin + 1]
            least = total = 0.0
            for k in range(low, high):
                e = entries[k]
                new[k - low] = max(g[topic[e]] - r[k], 1e-12) * probability[e]
                least = max(least, prune_below * new[k - low])
            for k in range(high - low):
                if new[k] < least:
                    new[k] = 0.0
                total += new[k]
            total = 1.0 / total
            starts[i - begin] = at
            for k in range(low, high):
                e = entries[k]
                share = new[k - low] * total
                change = counts[i] * (share - r[k])
                g[topic[e]] += change
                moved += abs(change)
                entries[at], r[at] = e, share
                at += share > 0
        starts[end - begin] = at
        if moved <= tolerance * length:
            break
