"""Sweeps of Gibbs sampling: a topic is drawn for every token given all others. All documents of a sweep share K.

    p(z_i = t) ~ (a_t + n_dt) (K_ut + eta) / (K_t + N eta), with n_dt and K_ut without token i itself

Two kernels draw from this distribution. `sweep_documents` looks only at the topics that a document has, one by one.
`sweep_all_topics` looks at all topics, eight at a time, and works on several documents in turns. The second one is
faster, unless there are many topics and documents have few of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from fdmix.kernels.compiling import njit_reordering as njit
from fdmix.kernels.vectors import (
    FLOATS,
    INTEGERS,
    LANES,
    LONG,
    add_product,
    arguments_of,
    item,
    load,
    loop,
    place,
    running_total,
    spread,
)

IN_TURNS = 4  # documents that `sweep_all_topics` works on in turns; 6 and 8 are no faster


@njit
def word_weights(begin, end, counts, scale, eta, weights):
    """weights[u, t] = (K_ut + eta) scale_t for the words begin <= u < end, where scale_t = 1 / (K_t + N eta)."""
    for u in range(begin, end):
        for t in range(scale.size):
            weights[u, t] = (counts[u, t] + eta) * scale[t]


@njit
def cumulative_weights(begin, end, weights, prior, reached):
    """reached[u, t] = sum_{s <= t} a_s weights[u, s] for the words begin <= u < end."""
    for u in range(begin, end):
        total = 0.0
        for t in range(prior.size):
            total += prior[t] * weights[u, t]
            reached[u, t] = total


@njit
def sweep_documents(begin, end, tokens, z, weights, reached, scale, prior, eta, seed):
    """Draw new topics z for the tokens of the documents begin <= d < end; returns the sum of their numbers of topics.

    The distribution is a sum of two parts. The part with n_dt needs only the document's topics. The part with a_t is
    known for each word in advance, except that it includes the token itself; a draw that is due to the token itself
    is rejected and repeated.

    tokens : (indptr, words), all tokens of each document
    weights, reached : of `word_weights` and `cumulative_weights`
    prior : a_t, the Dirichlet parameters of a document's topics
    """
    indptr, word = tokens
    T = scale.size
    n = np.zeros(T)
    present = np.empty(T, np.int64)  # the topics of the document
    position = np.full(T, -1)  # the position of a topic in `present`, or -1
    parts = np.empty(T)
    state = np.empty(1, np.uint64)
    n_topics = 0
    for d in range(begin, end):
        _seed(state, seed, d)
        m = 0
        for i in range(indptr[d], indptr[d + 1]):
            m = _enter(z[i], n, present, position, m)
        n_topics += m
        for i in range(indptr[d], indptr[d + 1]):
            u = word[i]
            mine = z[i]
            # the token's own part of the weight
            own = max(min(scale[mine], weights[u, mine] - eta * scale[mine]), 0.0)
            n[mine] -= 1
            of_document = 0.0
            for k in range(m):
                of_document += n[present[k]] * (weights[u, present[k]] - (own if present[k] == mine else 0.0))
                parts[k] = of_document
            of_word = reached[u, T - 1]
            drawn = _uniform(state) * (of_document + of_word - prior[mine] * own)
            if drawn < of_document:
                k = 0
                while parts[k] <= drawn:
                    k += 1
                chosen = present[k]
            else:
                while True:
                    chosen = min(np.searchsorted(reached[u], _uniform(state) * of_word, side="right"), T - 1)
                    if chosen != mine or _uniform(state) * weights[u, mine] >= own:
                        break
            if n[mine] == 0:
                m = _leave(mine, present, position, m)
            z[i] = chosen
            m = _enter(chosen, n, present, position, m)
        for k in range(m):
            n[present[k]] = 0
            position[present[k]] = -1
    return n_topics


@njit
def sweep_all_topics(begin, end, tokens, z, weights, scale, prior, eta, seed):
    """Like `sweep_documents`, with a look at all topics; `weights` is padded with zeros to whole vectors.

    prior : a_t in single precision, padded like the weights, with any numbers

    Topic t is in lane t mod 8 of the vectors. First the lane is drawn, then the topic. Each draw waits for the one
    before it in the same document, so IN_TURNS documents are worked on in turns.
    """
    indptr, word = tokens
    one = np.float32(1)
    n, reached = np.zeros((2, IN_TURNS, weights.shape[1]), np.float32)  # a_t + n_dt; sums in lanes
    lanes = np.empty((IN_TURNS, LANES), np.float32)
    counts = np.empty((IN_TURNS, LANES), np.int32)
    limits = np.empty(IN_TURNS, np.float32)
    here, until, u, mine, lane = np.zeros((5, IN_TURNS), np.int64)
    without = np.empty(IN_TURNS, np.float32)  # a_t + n_dt of the token's topic without the token
    state = np.ones((IN_TURNS, 1), np.uint64)
    n_topics = 0
    d = begin
    busy = True
    while busy:
        busy = False
        for s in range(IN_TURNS):
            while here[s] == until[s] and d < end:
                _seed(state[s], seed, d)
                here[s], until[s] = indptr[d], indptr[d + 1]
                for t in range(prior.size):
                    n[s, t] = prior[t]
                for i in range(indptr[d], indptr[d + 1]):
                    n_topics += n[s, z[i]] == prior[z[i]]
                    n[s, z[i]] += one
                d += 1
            if here[s] < until[s]:
                busy = True
                u[s] = word[here[s]]
                mine[s] = z[here[s]]
                weight = weights[u[s], mine[s]]
                own = max(min(scale[mine[s]], weight - eta * scale[mine[s]]), 0.0)  # the token's own part
                without[s] = max(n[s, mine[s]] - one, prior[mine[s]])
                put(n, s, mine[s], without[s] * np.float32((weight - own) / weight))
        running_sums(n, weights, u, reached, lanes)
        for s in range(IN_TURNS):
            drawn = np.float32(_uniform(state[s])) * lanes[s, LANES - 1]
            lane[s] = 0
            for k in range(LANES - 1):
                lane[s] += lanes[s, k] <= drawn
            limits[s] = drawn - (lanes[s, lane[s]] - reached[s, n.shape[1] - LANES + lane[s]])
        count_up_to(reached, limits, counts)
        for s in range(IN_TURNS):
            if here[s] < until[s]:
                chosen = lane[s] + LANES * counts[s, lane[s]]
                chosen = chosen if chosen < scale.size else mine[s]  # rounding errors may lead beyond the last topic
                z[here[s]] = chosen
                put(n, s, mine[s], without[s])
                put(n, s, chosen, n[s, chosen] + one)
                here[s] += 1
    return n_topics


@intrinsic
def put(typing_context: Any, n: Any, s: Any, t: Any, value: Any) -> Any:
    """n[s, t] = value, stored as a whole vector, because loading a vector right after storing one number is slow."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        n, s, t, value = arguments_of(context, builder, signature, arguments)
        at = builder.add(builder.mul(s, builder.extract_value(n.shape, 1)), builder.and_(t, LONG(-LANES)))
        changed = builder.insert_element(load(builder, n, at), value, builder.and_(t, LONG(LANES - 1)))
        builder.store(changed, place(builder, n, at), align=4)
        return context.get_dummy_value()

    return types.void(n, types.int64, types.int64, types.float32), emit


@intrinsic
def running_sums(typing_context: Any, n: Any, weights: Any, u: Any, reached: Any, lanes: Any) -> Any:
    """reached[s, t] = sum of n[s, r] weights[u[s], r] over r <= t in t's lane; lanes[s] = running sums of lanes."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        n, weights, u, reached, lanes = arguments_of(context, builder, signature, arguments)
        width = builder.extract_value(weights.shape, 1)
        rows = [builder.mul(item(builder, u, s), width) for s in range(IN_TURNS)]

        def body(k: Any, sums: list[Any]) -> list[Any]:
            more = []
            for s, (sum_, row) in enumerate(zip(sums, rows, strict=True)):
                at = builder.add(builder.mul(LONG(s), width), k)
                product = load(builder, n, at), load(builder, weights, builder.add(row, k))
                more.append(add_product(builder, sum_, *product))
                builder.store(more[s], place(builder, reached, at), align=4)
            return more

        for s, sums in enumerate(loop(builder, width, [FLOATS(None)] * IN_TURNS, body)):
            builder.store(running_total(builder, sums), place(builder, lanes, LONG(s * LANES)), align=4)
        return context.get_dummy_value()

    return types.void(n, weights, u, reached, lanes), emit


@intrinsic
def count_up_to(typing_context: Any, reached: Any, limits: Any, counts: Any) -> Any:
    """counts[s, l] = how many of reached[s, l], reached[s, l + 8], ... are at most limits[s]."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        reached, limits, counts = arguments_of(context, builder, signature, arguments)
        width = builder.extract_value(reached.shape, 1)
        bounds = [spread(builder, item(builder, limits, s)) for s in range(IN_TURNS)]

        def body(k: Any, found: list[Any]) -> list[Any]:
            more = []
            for s, (count, bound) in enumerate(zip(found, bounds, strict=True)):
                at = builder.add(builder.mul(LONG(s), width), k)
                passed = builder.fcmp_ordered("<=", load(builder, reached, at), bound)
                more.append(builder.add(count, builder.zext(passed, INTEGERS)))
            return more

        for s, count in enumerate(loop(builder, width, [INTEGERS(None)] * IN_TURNS, body)):
            target = builder.gep(counts.data, [LONG(s * LANES)])
            builder.store(count, builder.bitcast(target, INTEGERS.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(reached, limits, counts), emit


@njit
def count_topics(begin, end, order, first, z, counts):
    """counts[u, t] = tokens of word u with topic t; u's tokens are order[first[u] : first[u + 1]]."""
    counts[begin:end] = 0
    for u in range(begin, end):
        for j in range(first[u], first[u + 1]):
            counts[u, z[order[j]]] += 1


@njit
def topic_lengths(begin, end, indptr, z, lengths):
    """lengths[t, n] += how many of the documents begin <= d < end have n tokens of topic t, for n > 0.

    Numbers beyond the last column are counted in it.
    """
    n = np.zeros(lengths.shape[0], np.int64)
    most = lengths.shape[1] - 1
    for d in range(begin, end):
        for i in range(indptr[d], indptr[d + 1]):
            n[z[i]] += 1
        for i in range(indptr[d], indptr[d + 1]):
            if n[z[i]] > 0:
                lengths[z[i], min(n[z[i]], most)] += 1
                n[z[i]] = 0


@njit
def _enter(t, n, present, position, m):
    """Add a token of topic t to the document; returns the document's number of topics."""
    n[t] += 1
    if position[t] >= 0:
        return m
    position[t] = m
    present[m] = t
    return m + 1


@njit
def _leave(t, present, position, m):
    """Remove topic t, which lost its last token, from the document; returns the document's number of topics."""
    present[position[t]] = present[m - 1]
    position[present[m - 1]] = position[t]
    position[t] = -1
    return m - 1


@njit
def _seed(state, seed, d):
    """Set the random state of document d, mixed by splitmix64: independent of the order of documents."""
    mixed = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(d + 1) * np.uint64(0xD1342543DE82EF95)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state[0] = (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)


@njit
def _uniform(state):
    """A random number in [0, 1), by xorshift64*."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.float64((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) / 9007199254740992.0
