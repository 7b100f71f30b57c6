"""Where a fit begins: topics to improve on."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.mixture.mixture import Mixture
from fdmix.moments.pair_matrix import PairMatrix, as_pair_matrix, row_batches

Floats = np.ndarray[Any, np.dtype[np.float64]]
AUTO = "auto"  # the solver's own start
STARTS = ("anchors", "d2", "rows", "noise", "random")
RANDOM_SD = 1.0  # of the softmax parameters of a random start, as in the authors' first code
DIMENSIONS = 1000
FEWEST_CANDIDATES = 20  # among the few most frequent words of a small corpus, no two may lie apart
ENOUGH_DOCUMENTS = 50  # a rarer word's row is mostly noise, and noise looks extreme
ROWS_AT_A_TIME = 2_000  # in a random projection
ROW_SHARE = 0.7  # of a word's row in a starting topic; the unigram makes up the rest, so that no entry is zero


def starting_mixture(
    start: str, mhat: PairMatrix | sp.csr_array, n_topics: int, frequencies: Any, seed: int
) -> Mixture:
    """T starting topics; alpha is even, with half of it on the diagonal, except in a random start.

    anchors : rows of Mhat of T words that lie far apart: greedy Gram-Schmidt on random projections, the same ones
        with any seed, so that equal moments begin equally
    d2 : rows of words drawn in turn, with probability proportional to the squared distance from those drawn
    rows : rows of words drawn by frequency
    noise : the unigram times random noise
    random : the paper's: mu_t = softmax(mu'_t) and alpha = softmax(alpha'), symmetrised, of normal mu' and alpha'
    """
    if start not in STARTS:
        raise ValueError(f"there is no start {start!r}; there are {', '.join(STARTS)}, or give a Mixture")
    rng, mhat = np.random.default_rng(seed), as_pair_matrix(mhat)
    if start == "random":
        return _random_mixture(mhat.n_words, n_topics, rng)
    unigram = mhat.row_sums
    if start == "noise":
        topics = unigram * rng.gamma(1.0, size=(n_topics, unigram.size))
    else:
        words = _chosen_words(start, mhat, n_topics, unigram, frequencies, rng)
        topics = np.empty((n_topics, unigram.size))
        chosen, topic = np.unique(words, return_inverse=True)
        for batch in row_batches(mhat, chosen, ROWS_AT_A_TIME):
            rows = (sp.diags_array(1 / unigram[batch]) @ mhat.rows(batch)).toarray()
            of_batch = np.flatnonzero(np.isin(words, batch))
            topics[of_batch] = rows[np.searchsorted(batch, chosen[topic[of_batch]])]
        topics = ROW_SHARE * topics + (1 - ROW_SHARE) * unigram
        if np.unique(words).size < n_topics:  # more topics than words: equal topics would stay equal
            topics *= rng.uniform(0.5, 1.5, topics.shape)
    alpha = np.full((n_topics, n_topics), 0.5 / n_topics**2) + np.eye(n_topics) * 0.5 / n_topics
    return Mixture(topics / topics.sum(axis=1, keepdims=True), alpha)


def _random_mixture(n_words: int, n_topics: int, rng: np.random.Generator) -> Mixture:
    topics = np.exp(rng.normal(0, RANDOM_SD, (n_topics, n_words)))
    alpha = np.exp(rng.normal(0, RANDOM_SD, (n_topics, n_topics)))
    alpha += alpha.T
    return Mixture(topics / topics.sum(axis=1, keepdims=True), alpha / alpha.sum())


def anchors(
    mhat: PairMatrix | sp.csr_array, n: int, frequencies: Any, rng: np.random.Generator, enough: float
) -> Any:
    """n words that are in enough documents and whose rows of Mhat lie far apart."""
    mhat = as_pair_matrix(mhat)
    words, points = _candidates(mhat, n, mhat.row_sums, frequencies, rng, enough)
    return words[farthest_points(points, min(n, words.size))]


def _chosen_words(
    start: str, mhat: PairMatrix, n_topics: int, unigram: Floats, frequencies: Any, rng: np.random.Generator
) -> Any:
    seen = np.flatnonzero(unigram > 0)
    if start == "rows":
        enough = min(n_topics, seen.size)
        drawn = rng.choice(seen, enough, replace=False, p=unigram[seen] / unigram[seen].sum())
    else:
        always = np.random.default_rng(0)
        words, points = _candidates(mhat, n_topics, unigram, frequencies, always, ENOUGH_DOCUMENTS)
        choose = farthest_points if start == "anchors" else partial(_d2_points, rng=rng)
        drawn = words[choose(points, min(n_topics, words.size))]
    return np.resize(drawn, n_topics)


def _candidates(
    mhat: PairMatrix, n: int, unigram: Floats, frequencies: Any, rng: np.random.Generator, enough: float
) -> tuple[Any, Any]:
    """Words in enough documents, or the 3 n most frequent (at least 20) if they are fewer; their projected rows."""
    seen = np.flatnonzero(unigram > 0)
    words = seen[frequencies[seen] >= enough]
    fewest = max(3 * n, FEWEST_CANDIDATES)
    if words.size < fewest:
        words = np.sort(seen[np.argsort(-frequencies[seen], kind="stable")[:fewest]])
    return words, _projected_rows(mhat, words, unigram, max(DIMENSIONS, 2 * n), rng)


def _projected_rows(mhat: PairMatrix, words: Any, unigram: Floats, dimensions: int, rng: np.random.Generator) -> Any:
    """The words' rows of Mhat, each summing to 1, projected to random dimensions (sparse signs)."""
    n_words = unigram.size
    projection: sp.csr_array | None = None
    if n_words > dimensions:
        per_row = 16
        columns = rng.integers(0, dimensions, n_words * per_row)
        signs = rng.choice(np.array([-1.0, 1.0]), n_words * per_row) / np.sqrt(per_row)
        starts = np.arange(0, columns.size + 1, per_row)
        projection = sp.csr_array((signs, columns, starts), shape=(n_words, dimensions))
    points = np.empty((words.size, min(n_words, dimensions)), np.float32)
    done = 0
    for some in row_batches(mhat, words, ROWS_AT_A_TIME):  # a few rows at a time: they are large in float64
        rows = mhat.rows(some) if projection is None else mhat.rows(some) @ projection
        points[done : done + some.size] = rows.toarray() / unigram[some][:, None]
        done += some.size
    return points


def farthest_points(points: Any, n: int) -> Any:
    """Greedy choice of n points that span the most: each is the farthest from the span of those before.

    Gram-Schmidt with the residual norms updated instead of the points; each new direction is made orthogonal
    twice, which keeps it so in float32. The first point is the origin of the span.
    """
    norms = np.einsum("ij,ij->i", points, points)
    chosen = [int(norms.argmax())]
    centred = points - points[chosen[0]]
    norms = np.einsum("ij,ij->i", centred, centred)
    basis = np.zeros((n, points.shape[1]), points.dtype)
    for k in range(1, n):
        norms[chosen[-1]] = -1
        far = int(norms.argmax())
        chosen.append(far)
        direction = centred[far].copy()
        for _ in range(2):
            direction -= basis[:k].T @ (basis[:k] @ direction)
        length = np.linalg.norm(direction)
        if length > 0:
            basis[k] = direction / length
            norms -= (centred @ basis[k]) ** 2
    return np.array(chosen)


def _d2_points(points: Any, n: int, rng: np.random.Generator) -> Any:
    """The seeding of k-means++."""
    chosen = [int(rng.integers(len(points)))]
    squares = np.einsum("ij,ij->i", points, points)
    nearest = np.full(len(points), np.inf)
    for _ in range(1, n):
        new = points[chosen[-1]]
        nearest = np.minimum(nearest, np.maximum(squares - 2 * points @ new + new @ new, 0))
        nearest[chosen] = 0
        total = nearest.sum()
        weight = nearest / total if total > 0 else (nearest * 0 + 1) / len(points)
        chosen.append(int(rng.choice(len(points), p=weight / weight.sum())))
    return np.array(chosen)
