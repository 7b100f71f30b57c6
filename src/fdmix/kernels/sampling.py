"""A topic for every token, drawn given all others: Gibbs sampling in which all documents see the same topics.

    p(z_i = t) ~ (a + n_dt) (K_ut + eta) / (K_t + N eta), n_dt and K_ut without token i itself

There are two ways to draw it. One looks only at the topics that a document has, each on its own; the other at all of
them, eight at a time. The second is faster if there are not many, or documents have many of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from fdmix.kernels.documents import njit
from fdmix.kernels.vectors import (
    FLOATS,
    INTEGERS,
    LANES,
    LONG,
    WORD,
    add_product,
    arguments_of,
    load,
    loop,
    place,
    running_total,
    spread,
)


@njit
def weigh_words(begin, end, counts, scale, eta, weights):
    """How the words begin <= u < end are shared among topics, with scale_t = 1 / (K_t + N eta):

    weights[u, t] = (K_ut + eta) scale_t
    """
    for u in range(begin, end):
        for t in range(scale.size):
            weights[u, t] = (counts[u, t] + eta) * scale[t]


@njit
def add_up_words(begin, end, weights, reached):
    """reached[u, t]: the sum of weights[u] up to t"""
    for u in range(begin, end):
        total = 0.0
        for t in range(weights.shape[1]):
            total += weights[u, t]
            reached[u, t] = total


@njit
def sweep_documents(begin, end, tokens, z, weights, reached, scale, a, eta, rounds, seed):
    """Draw the topics z of the tokens of the documents begin <= d < end again, `rounds` times each.

    A topic is drawn from one of two parts: that of n_dt, for which only the document's topics need to be looked at,
    or that of a, which is known for each word beforehand, but for the token itself: a topic that is drawn for its
    sake is drawn again.

    tokens : (indptr, words), all tokens of each document; weights, reached : of `weigh_words` and `add_up_words`
    returns how many topics all these documents had, counted for each
    """
    indptr, word = tokens
    T = scale.size
    n = np.zeros(T)
    there = np.empty(T, np.int64)  # the topics of a document,
    position = np.full(T, -1)  # and where they stand in this list
    parts = np.empty(T)
    state = np.empty(1, np.uint64)
    n_topics = 0
    for d in range(begin, end):
        _seed(state, seed, d)
        m = 0
        for i in range(indptr[d], indptr[d + 1]):
            m = _enter(z[i], n, there, position, m)
        n_topics += m
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
                    m = _leave(mine, there, position, m)
                z[i] = chosen
                m = _enter(chosen, n, there, position, m)
        for k in range(m):
            n[there[k]] = 0
            position[there[k]] = -1
    return n_topics


@njit
def sweep_all_topics(begin, end, tokens, z, weights, scale, a, eta, rounds, seed):
    """Draws from the same distribution, with a look at all topics; `weights` is padded with zeros to whole vectors.

    Topic t is in lane t mod 8. First the lane is drawn, then the topic. The token's own vote in the weights is not
    taken out for it: its topic is drawn again as often as its vote was the reason.
    """
    indptr, word = tokens
    one, prior = np.float32(1), np.float32(a)
    n = np.empty(weights.shape[1], np.float32)  # a + n_dt
    reached = np.empty(weights.shape[1], np.float32)
    lanes = np.empty(LANES, np.float32)
    state = np.empty(1, np.uint64)
    n_topics = 0
    for d in range(begin, end):
        _seed(state, seed, d)
        n[:] = prior
        for i in range(indptr[d], indptr[d + 1]):
            n_topics += n[z[i]] == prior
            n[z[i]] += one
        for _ in range(rounds):
            for i in range(indptr[d], indptr[d + 1]):
                u = word[i]
                mine = z[i]
                n[mine] -= one
                add_up(n, weights, u, reached, lanes)
                weight = weights[u, mine]
                own = max(min(scale[mine], weight - eta * scale[mine]), 0.0)
                while True:
                    drawn = np.float32(_uniform(state)) * lanes[LANES - 1]
                    lane = 0
                    for k in range(LANES - 1):
                        lane += lanes[k] <= drawn
                    before = lanes[lane] - reached[n.size - LANES + lane]
                    chosen = lane + LANES * count_up_to(reached, drawn - before, lane)
                    if (chosen < scale.size) & ((chosen != mine) | (_uniform(state) * weight >= own)):
                        break
                z[i] = chosen
                n[chosen] += one
    return n_topics


@intrinsic
def add_up(typing_context: Any, n: Any, weights: Any, u: Any, reached: Any, lanes: Any) -> Any:
    """reached[t]: the sum of n[s] weights[u, s] over s <= t in t's lane; lanes: the sums of whole lanes, added up."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        n, weights, u, reached, lanes = arguments_of(context, builder, signature, arguments)
        width = builder.extract_value(weights.shape, 1)
        row = builder.mul(u, width)

        def body(k: Any, sums: list[Any]) -> list[Any]:
            more = add_product(builder, *sums, load(builder, n, k), load(builder, weights, builder.add(row, k)))
            builder.store(more, place(builder, reached, k), align=4)
            return [more]

        [sums] = loop(builder, width, [FLOATS(None)], body)
        builder.store(running_total(builder, sums), place(builder, lanes, LONG(0)), align=4)
        return context.get_dummy_value()

    return types.void(n, weights, types.int64, reached, lanes), emit


@intrinsic
def count_up_to(typing_context: Any, reached: Any, drawn: Any, lane: Any) -> Any:
    """How many of reached[lane], reached[lane + 8], ... are not above `drawn`."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        reached, drawn, lane = arguments_of(context, builder, signature, arguments)
        limit = spread(builder, drawn)

        def body(k: Any, counts: list[Any]) -> list[Any]:
            passed = builder.fcmp_ordered("<=", load(builder, reached, k), limit)
            return [builder.add(*counts, builder.zext(passed, INTEGERS))]

        [counts] = loop(builder, builder.extract_value(reached.shape, 0), [INTEGERS(None)], body)
        return builder.zext(builder.extract_element(counts, builder.trunc(lane, WORD)), LONG)

    return types.int64(reached, types.float32, types.int64), emit


@njit
def count_topics(begin, end, order, first, z, counts):
    """How often the words begin <= u < end have each topic: tokens order[first[u]:first[u + 1]] have the word u."""
    counts[begin:end] = 0
    for u in range(begin, end):
        for j in range(first[u], first[u + 1]):
            counts[u, z[order[j]]] += 1


@njit
def _enter(t, n, there, position, m):
    """One more token of topic t in the document; returns how many topics it has."""
    n[t] += 1
    if position[t] >= 0:
        return m
    position[t] = m
    there[m] = t
    return m + 1


@njit
def _leave(t, there, position, m):
    """Topic t has no token of the document any more; returns how many topics have."""
    there[position[t]] = there[m - 1]
    position[there[m - 1]] = position[t]
    position[t] = -1
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
