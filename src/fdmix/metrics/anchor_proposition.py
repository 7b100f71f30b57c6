"""The paper's proposition on anchor words: four properties of a topic set, each checked by a way of its own.

With linearly independent topics mu_1, ..., mu_T over N words these are equivalent:

AW  every topic has an anchor word, a word that no other topic has
SM  every distribution in the span of the topics is a mixture of them: span(mu) and the simplex meet in conv(mu)
P   if sum_t a_t mu_t has no negative entry, then no a_t is negative
M   no topic set of the same span is larger: the hull of any other one lies within conv(mu)

Why: write a word as its column mu(u) = (mu_1(u), ..., mu_T(u)). P says that a . mu(u) >= 0 for all words implies
a >= 0, so the cone of the columns is the whole orthant; then every axis of the orthant is a column, an anchor word.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
TOLERANCE = 1e-7  # of the linear programs (HiGHS) and of rounding
MAX_VERTICES = 200_000  # sets of words looked at by `is_largest`


def has_anchor_words(topics: Any) -> bool:
    """AW: whether every topic has a word with probability 0 in all other topics.

    >>> has_anchor_words([[0.5, 0.5, 0], [0, 0.5, 0.5]]), has_anchor_words([[0.5, 0.5], [0.9, 0.1]])
    (True, False)
    """
    columns = _columns(topics)
    alone = columns[:, (columns > 0).sum(axis=0) == 1]
    return bool((alone > 0).any(axis=1).all())


def smallest_coefficients(topics: Any) -> Floats:
    """SM: the smallest coefficient a_t that a distribution sum_s a_s mu_s can have, for each topic t.

    Solves min a_t subject to sum_s a_s mu_s(u) >= 0 for all words and sum_s a_s = 1, a linear program. SM holds if
    all are 0. A negative one belongs to a distribution that is in the span of the topics and is no mixture of them.

    >>> smallest_coefficients([[0.6, 0.4], [0.4, 0.6]]).round(6).tolist()
    [-2.0, -2.0]
    """
    from scipy.optimize import linprog  # noqa: PLC0415  (slow to import)

    columns = _columns(topics)
    n_topics = len(columns)
    found = np.empty(n_topics)
    for t in range(n_topics):
        solved = linprog(
            np.eye(n_topics)[t], A_ub=-columns.T, b_ub=np.zeros(columns.shape[1]), A_eq=np.ones((1, n_topics)),
            b_eq=[1.0], bounds=(None, None),
        )  # fmt: skip
        found[t] = solved.fun
    return np.minimum(found, 0.0)


def distances_from_cone(topics: Any) -> Floats:
    """P, by its dual: how far the axis of each topic is from the cone of the words' columns, in l1.

    By Farkas' lemma, a . mu(u) >= 0 for all words implies a_t >= 0 exactly if weights x >= 0 of words exist with
    sum_u x_u mu(u) = e_t. The linear program minimises |sum_u x_u mu(u) - e_t|_1; P holds if all are 0.

    >>> distances_from_cone([[0.5, 0.5, 0], [0, 0.5, 0.5]]).round(6).tolist()
    [0.0, 0.0]
    """
    from scipy.optimize import linprog  # noqa: PLC0415

    columns = _columns(topics)
    n_topics, n_words = columns.shape
    equations = np.hstack([columns, np.eye(n_topics), -np.eye(n_topics)])
    cost = np.concatenate([np.zeros(n_words), np.ones(2 * n_topics)])
    return np.array([linprog(cost, A_eq=equations, b_eq=axis).fun for axis in np.eye(n_topics)])


def vertices(topics: Any) -> Floats:
    """The vertices of span(mu) within the simplex, as coefficients a of topics, (vertices, topics).

    Each makes T - 1 words impossible. All sets of T - 1 words are tried, so this is for small topic sets.
    """
    columns = _columns(topics)
    n_topics, n_words = columns.shape
    if comb(n_words, n_topics - 1) > MAX_VERTICES:
        raise ValueError(
            f"{n_topics} topics over {n_words} words have too many vertices to try: use `smallest_coefficients`"
        )
    found: list[Floats] = []
    right = np.eye(n_topics)[-1]
    for words in combinations(range(n_words), n_topics - 1):
        left = np.vstack([columns[:, words].T, np.ones((1, n_topics))])
        if abs(np.linalg.det(left)) < TOLERANCE:
            continue
        a = np.linalg.solve(left, right)
        if (a @ columns >= -TOLERANCE).all() and not any(np.allclose(a, other, atol=1e-6) for other in found):
            found.append(a)
    return np.array(found).reshape(-1, n_topics)


def is_largest(topics: Any) -> bool:
    """M: whether conv(mu) holds every topic set of the same span, by looking at all vertices of that span.

    >>> is_largest([[0.5, 0.5, 0], [0, 0.5, 0.5]]), is_largest([[0.6, 0.4], [0.4, 0.6]])
    (True, False)
    """
    return bool((vertices(topics) >= -1e-6).all())


def _columns(topics: Any) -> Floats:
    """Topics x words, words that no topic has left out, each column scaled to the maximum 1: no property changes."""
    table = np.asarray(topics, np.float64)
    if table.ndim != 2 or (table < 0).any() or not np.isfinite(table).all():
        raise ValueError("topics must be a table (topics x words) of non-negative numbers")
    largest = table.max(axis=0)
    columns = table[:, largest > 0] / largest[largest > 0]
    if np.linalg.matrix_rank(columns) < len(columns):
        raise ValueError("the proposition is about linearly independent topics, and these are not")
    return columns
