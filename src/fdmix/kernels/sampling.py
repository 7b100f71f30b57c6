"""A topic for every token, drawn given all others: Gibbs sampling in which all documents see the same topics."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.documents import njit


@njit
def weigh_words(begin, end, topics, scale, eta, weights, reached):
    """What a sweep needs to know of the words begin <= u < end: how they are shared among topics.

    topics : (first, topic, count), the entries first[u] <= e < first[u + 1] of each word: K_u,topic[e] = count[e]
    scale : 1 / (K_t + N eta)
    weights[u, t] = (K_ut + eta) scale_t; reached[e] is the sum of K_ut scale_t over a word's entries up to e
    """
    first, topic, count = topics
    for u in range(begin, end):
        for t in range(scale.size):
            weights[u, t] = eta * scale[t]
        total = 0.0
        for e in range(first[u], first[u + 1]):
            share = count[e] * scale[topic[e]]
            weights[u, topic[e]] += share
            total += share
            reached[e] = total


@njit
def sweep_documents(begin, end, tokens, z, weights, words, scale, a, eta, rounds, seed):
    """Draw the topics z of the tokens of the documents begin <= d < end again, `rounds` times each.

    p(z_i = t) ~ (a + n_dt) (K_ut + eta) / (K_t + N eta), without token i itself. It is drawn from one of two parts:
    that of n_dt, for which only the document's topics need to be looked at, or that of a, which is known for each
    word beforehand, but for the token itself: a topic that is drawn for its sake is drawn again.

    tokens : (indptr, words), all tokens of each document
    weights, reached : of `weigh_words`; words : (first, topic, reached)
    """
    indptr, word = tokens
    first, topic, reached = words
    T = scale.size
    n = np.zeros(T)
    there = np.empty(T, np.int64)  # the topics of a document,
    place = np.full(T, -1)  # and where they stand in this list
    parts = np.empty(T)
    state = np.empty(1, np.uint64)
    reached_by_all = eta * np.cumsum(scale)
    of_all = reached_by_all[T - 1]
    for d in range(begin, end):
        _seed(state, seed, d)
        m = 0
        for i in range(indptr[d], indptr[d + 1]):
            m = _enter(z[i], n, there, place, m)
        for _ in range(rounds):
            for i in range(indptr[d], indptr[d + 1]):
                u = word[i]
                mine = z[i]
                low, high = first[u], first[u + 1]
                known = max(weights[u, mine] - eta * scale[mine], 0.0)
                own = min(scale[mine], known)  # this token's vote in it
                n[mine] -= 1
                of_document = 0.0
                for k in range(m):
                    of_document += n[there[k]] * (weights[u, there[k]] - (own if there[k] == mine else 0.0))
                    parts[k] = of_document
                of_word = reached[high - 1] if high > low else 0.0
                drawn = _uniform(state) * (of_document + a * (of_word + of_all - own))
                if drawn < of_document:
                    k = 0
                    while parts[k] <= drawn:
                        k += 1
                    chosen = there[k]
                else:
                    while True:
                        drawn = _uniform(state) * (of_word + of_all)
                        if drawn >= of_word:
                            chosen = min(np.searchsorted(reached_by_all, drawn - of_word, side="right"), T - 1)
                            break
                        chosen = topic[low + np.searchsorted(reached[low:high], drawn, side="right")]
                        if chosen != mine or _uniform(state) * known >= own:
                            break
                if n[mine] == 0:
                    m = _leave(mine, there, place, m)
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
def _leave(t, there, place, m):
    """Topic t has no token of the document any more; returns how many topics have."""
    there[place[t]] = there[m - 1]
    place[there[m - 1]] = place[t]
    place[t] = -1
    return m - 1


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
