"""A topic for every token, drawn given all others: Gibbs sampling in which all documents see the same topics."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.documents import njit


@njit
def weigh_words(begin, end, counts, scale, eta, weights, reached):
    """What a sweep needs to know of the words begin <= u < end: how they are shared among topics.

    weights[u, t] = (K_ut + eta) scale_t with scale_t = 1 / (K_t + N eta); reached[u, t] is its sum up to t
    """
    for u in range(begin, end):
        total = 0.0
        for t in range(scale.size):
            weights[u, t] = (counts[u, t] + eta) * scale[t]
            total += weights[u, t]
            reached[u, t] = total


@njit
def sweep_documents(begin, end, tokens, z, weights, reached, scale, a, eta, rounds, seed):
    """Draw the topics z of the tokens of the documents begin <= d < end again, `rounds` times each.

    p(z_i = t) ~ (a + n_dt) (K_ut + eta) / (K_t + N eta), without token i itself. It is drawn from one of two parts:
    that of n_dt, for which only the document's topics need to be looked at, or that of a, which is known for each
    word beforehand, but for the token itself: a topic that is drawn for its sake is drawn again.

    tokens : (indptr, words), all tokens of each document; weights, reached : of `weigh_words`
    """
    indptr, word = tokens
    T = scale.size
    n = np.zeros(T)
    there = np.empty(T, np.int64)  # the topics of a document,
    place = np.full(T, -1)  # and where they stand in this list
    parts = np.empty(T)
    state = np.empty(1, np.uint64)
    for d in range(begin, end):
        _seed(state, seed, d)
        m = 0
        for i in range(indptr[d], indptr[d + 1]):
            m = _enter(z[i], n, there, place, m)
        for _ in range(rounds):
            for i in range(indptr[d], indptr[d + 1]):
                u = word[i]
                mine = z[i]
                own = max(min(scale[mine], weights[u, mine] - eta * scale[mine]), 0.0)  # its vote in the weights
                n[mine] -= 1
                of_document = 0.0
                for k in range(m):
                    of_document += n[there[k]] * (weights[u, there[k]] - (own if there[k] == mine else 0.0))
                    parts[k] = of_document
                of_word = reached[u, T - 1]
                drawn = _uniform(state) * (of_document + a * (of_word - own))
                if drawn < of_document:
                    k = 0
                    while parts[k] <= drawn:
                        k += 1
                    chosen = there[k]
                else:
                    while True:
                        chosen = min(np.searchsorted(reached[u], _uniform(state) * of_word, side="right"), T - 1)
                        if chosen != mine or _uniform(state) * weights[u, mine] >= own:
                            break
                if n[mine] == 0:
                    m = _leave(mine, there, place, m)
                z[i] = chosen
                m = _enter(chosen, n, there, place, m)
        for k in range(m):
            n[there[k]] = 0
            place[there[k]] = -1


@njit
def count_topics(begin, end, order, first, z, counts):
    """How often the words begin <= u < end have each topic: tokens order[first[u]:first[u + 1]] have the word u."""
    counts[begin:end] = 0
    for u in range(begin, end):
        for j in range(first[u], first[u + 1]):
            counts[u, z[order[j]]] += 1


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
