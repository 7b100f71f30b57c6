"""A topic for every token, drawn given all others: Gibbs sampling in which all documents see the same topics."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.documents import njit


@njit
def sweep_documents(begin, end, tokens, z, topics, scale, prior, eta, rounds, seed):
    """Draw the topics z of the tokens of the documents begin <= d < end again, `rounds` times each.

    p(z_i = t) ~ (a_t + n_dt) (K_ut + eta) / (K_t + N eta), without token i itself. It is drawn from one of three
    parts, so that most topics need not be looked at: the word's (K_ut), the document's (eta n_dt), all (eta a_t).

    tokens : (indptr, words), all tokens of each document
    topics : (first, topic, count), the entries first[u] <= e < first[u + 1] of each word: K_u,topic[e] = count[e]
    scale : 1 / (K_t + N eta)
    """
    indptr, words = tokens
    first, topic, count = topics
    T = prior.size
    n = np.zeros(T)
    there = np.empty(T, np.int64)  # the topics of a document,
    place = np.full(T, -1)  # and where they stand in this list
    reached = np.empty(T)
    state = np.empty(1, np.uint64)
    of_all = 0.0
    for t in range(T):
        of_all += eta * prior[t] * scale[t]
    for d in range(begin, end):
        _seed(state, seed, d)
        m = 0
        for i in range(indptr[d], indptr[d + 1]):
            m = _enter(z[i], n, there, place, m)
        for _ in range(rounds):
            for i in range(indptr[d], indptr[d + 1]):
                low, high = first[words[i]], first[words[i] + 1]
                n[z[i]] -= 1
                of_word = 0.0
                for e in range(low, high):
                    t = topic[e]
                    others = max(count[e] - 1, 0.0) if t == z[i] else count[e]
                    of_word += (prior[t] + n[t]) * others * scale[t]
                    reached[e - low] = of_word
                of_document = 0.0
                for k in range(m):
                    of_document += eta * n[there[k]] * scale[there[k]]
                drawn = _uniform(state) * (of_word + of_document + of_all)
                if drawn < of_word:
                    chosen = topic[low + np.searchsorted(reached[: high - low], drawn, side="right")]
                elif drawn < of_word + of_document:
                    chosen = _walk(drawn - of_word, eta, n, scale, there, m)
                else:
                    chosen = _walk_all(drawn - of_word - of_document, eta, prior, scale)
                z[i] = chosen
                m = _enter(chosen, n, there, place, m)
        for k in range(m):
            n[there[k]] = 0
            place[there[k]] = -1


@njit
def count_topics(order, first, z, n_topics, indptr, indices, data):
    """The table of words and topics, by rows: tokens order[first[u]:first[u + 1]] have the word u."""
    count = np.zeros(n_topics)
    at = 0
    for u in range(first.size - 1):
        for j in range(first[u], first[u + 1]):
            count[z[order[j]]] += 1
        for t in range(n_topics):
            if count[t] > 0:
                indices[at], data[at] = t, count[t]
                count[t] = 0
                at += 1
        indptr[u + 1] = at
    return at


@njit
def _enter(t, n, there, place, m):
    """One more token of topic t in the document; returns how many topics it has."""
    n[t] += 1
    if place[t] >= 0:
        return m
    place[t] = m
    there[m] = t
    return m + 1


@njit
def _walk(left, eta, n, scale, there, m):
    chosen = there[0]
    for k in range(m):
        if n[there[k]] > 0:
            chosen = there[k]
            left -= eta * n[chosen] * scale[chosen]
            if left < 0:
                break
    return chosen


@njit
def _walk_all(left, eta, prior, scale):
    chosen = 0
    for t in range(prior.size):
        chosen = t
        left -= eta * prior[t] * scale[t]
        if left < 0:
            break
    return chosen


@njit
def _seed(state, seed, d):
    """A state of its own for each document, mixed well (splitmix64)."""
    mixed = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(d + 1) * np.uint64(0xD1342543DE82EF95)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state[0] = (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)


@njit
def _uniform(state):
    """A number from 0 to below 1 (xorshift64*)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.float64((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) / 9007199254740992.0
