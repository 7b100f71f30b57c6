"""Swaps: a topic that stands for two is split, and two that stand for one are merged, where the pairs gain by it.

Sparse EM ends in local optima in which some topics hold two true ones and some true ones are shared by two. What a
split would gain and what a merge would lose can both be told from the topics' own pairs among their top words: how
much better two topics explain them than one. A swap is worth it if the split gains more than the merge loses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.kernels.blocks import dense_block, two_topics
from fdmix.mixture.mixture import Mixture
from fdmix.runtime.threads import in_threads
from fdmix.solvers.moves import merging_costs

Floats = np.ndarray[Any, np.dtype[np.float64]]
TOP_WORDS = 250
EM_ROUNDS = 15
POWER_ROUNDS = 40
FLOOR = 0.01  # of a topic's entries that each half keeps at least: EM may revive them
CANDIDATES = 0.5  # pairs to merge that are looked at closely, per topic


@dataclass(frozen=True, eq=False)
class _Split:
    """Two halves (2, words) of a topic on its top words, how they occur together, and what L gains by them."""

    gain: float
    words: Any
    halves: Floats
    joint: Floats


def swapped(mixture: Mixture, mhat: sp.csr_array, n_threads: int | None = None) -> tuple[Mixture, int]:
    """Make all swaps that gain more than they lose, the best first, each topic taking part once; and their number.

    Any topic gains something by a split: the noise of its pairs. The median gain says how much, and a swap must gain
    more than that on top.
    """
    n_topics = mixture.n_topics
    if n_topics < 4:
        return mixture, 0
    pairs = _Pairs(mixture, mhat)
    splits = list(in_threads(pairs.split, range(n_topics), n_threads))
    gains = np.array([split.gain for split in splits])
    merges = _merges(mixture, pairs, n_threads)
    new, n_swaps = _Draft(mixture), 0
    taken: set[int] = set()
    for t in np.argsort(-gains, kind="stable").tolist():
        merge = next((m for m in merges if not {m[1], m[2]} & (taken | {t})), None)
        if merge is None or t in taken:
            continue
        loss, kept, freed = merge
        if gains[t] - loss <= np.median(gains):
            continue
        new.merge(kept, freed)
        new.split(t, freed, splits[t])
        taken |= {t, kept, freed}
        n_swaps += 1
    return (new.mixture(), n_swaps) if n_swaps else (mixture, 0)


def _merges(mixture: Mixture, pairs: _Pairs, n_threads: int | None) -> list[tuple[float, int, int]]:
    """(loss, s, t) of the pairs of topics that look cheapest to merge, cheapest first."""
    first, second = np.triu_indices(mixture.n_topics, 1)
    costs = merging_costs(mixture.topics, mixture.correlations)[first, second]
    cheapest = np.argsort(costs, kind="stable")[: max(8, round(CANDIDATES * mixture.n_topics))].tolist()
    losses = in_threads(lambda k: pairs.loss(first[k], second[k]), cheapest, n_threads)
    return sorted((loss, int(first[k]), int(second[k])) for loss, k in zip(losses, cheapest, strict=True))


class _Pairs:
    """The pairs of tokens, and which share of them belongs to a topic or two."""

    def __init__(self, mixture: Mixture, mhat: sp.csr_array) -> None:
        self.topics, self.alpha, self.mhat = mixture.topics, mixture.correlations, mhat
        self.left = mixture.topics.T @ mixture.correlations

    def own(self, chosen: list[int]) -> tuple[Any, Floats, Floats]:
        """Top words, the pairs W_uv = Mhat_uv B_uv / M_uv of the chosen topics, B = mu' alpha mu over them, and B."""
        alpha = self.alpha[np.ix_(chosen, chosen)]
        weight = alpha.sum(axis=1) @ self.topics[chosen]
        n_top = min(TOP_WORDS, weight.size)
        words = np.argpartition(-weight, n_top - 1)[:n_top]
        words = np.sort(words[weight[words] > 0])
        some = self.topics[chosen][:, words]
        B = some.T @ alpha @ some
        M = self.left[words] @ self.topics[:, words]
        X = dense_block(self.mhat.indptr, self.mhat.indices, self.mhat.data, words)
        return words, X * np.divide(B, M, out=np.zeros_like(M), where=M > 0), B

    def split(self, t: int) -> _Split:
        """Two topics for the pairs of one: EM, from the leading eigenvector of what one cannot explain."""
        words, W, _ = self.own([t])
        total, r = W.sum(), W.sum(axis=1)
        told = r > 1e-9 * max(r.max(initial=0.0), 1e-300)
        if told.sum() < 2:
            return _Split(0.0, words, np.ones((2, words.size)), np.full((2, 2), 0.25))
        words, W, r = words[told], W[told][:, told] / total, r[told] / total
        direction = _leading(W / np.sqrt(np.outer(r, r)) - np.sqrt(np.outer(r, r))) / np.sqrt(r)
        side = 1 / (1 + np.exp(-3 * direction / np.sqrt(np.sum(r * direction**2))))
        halves = np.stack([r * side, r * (1 - side)])
        halves /= halves.sum(axis=1, keepdims=True)
        joint = np.array([[0.4, 0.1], [0.1, 0.4]])
        gain = two_topics(W, halves, joint, EM_ROUNDS)
        return _Split(float(total * gain), words, halves, joint)

    def loss(self, s: int, t: int) -> float:
        """What L loses, about, if s and t become one: sum W log (B / r r') over the pairs W of both."""
        _, W, B = self.own([s, t])
        total = W.sum()
        if total <= 0:
            return 0.0
        r, there = W.sum(axis=1) / total, W > 0
        return float(np.sum(W[there] * np.log(B[there] / B.sum() / np.outer(r, r)[there])))


def _leading(Z: Floats) -> Floats:
    """The eigenvector of the largest eigenvalue, by power iteration on Z shifted to be nearly positive."""
    np.fill_diagonal(Z, 0)
    shift = 0.1 * np.abs(Z).sum(axis=0).max() + 1e-12
    x = np.random.default_rng(0).standard_normal(len(Z))
    for _ in range(POWER_ROUNDS):
        x = Z @ x + shift * x
        x /= np.linalg.norm(x)
    return x


class _Draft:
    """A mixture that is being changed."""

    def __init__(self, mixture: Mixture) -> None:
        self.topics, self.alpha = mixture.topics.copy(), mixture.correlations.copy()

    def merge(self, kept: int, freed: int) -> None:
        """Topic `freed` becomes part of `kept`."""
        shares = self.alpha.sum(axis=1)
        weight = shares[kept] / (shares[kept] + shares[freed]) if shares[kept] + shares[freed] > 0 else 0.5
        self.topics[kept] = weight * self.topics[kept] + (1 - weight) * self.topics[freed]
        self.alpha[kept] += self.alpha[freed]
        self.alpha[:, kept] += self.alpha[:, freed]
        self.alpha[freed] = self.alpha[:, freed] = 0

    def split(self, t: int, free: int, split: _Split) -> None:
        """Topic t becomes two, the second of them in the free place; words beyond the top ones go to both."""
        size, whole, together = split.joint.sum(axis=1), self.topics[t].copy(), self.alpha[t, t]
        both = size[:, None] * split.halves
        halves = np.outer(size, whole)
        halves[:, split.words] = whole[split.words] * both / np.maximum(both.sum(axis=0), 1e-300)
        halves = np.maximum(halves, FLOOR * whole)
        row = self.alpha[t].copy()
        for place, half, share in zip((t, free), halves, size, strict=True):
            self.topics[place] = half / half.sum()
            self.alpha[place] = self.alpha[:, place] = share * row
        places = np.ix_([t, free], [t, free])
        self.alpha[places] = together * split.joint

    def mixture(self) -> Mixture:
        """The result."""
        return Mixture(self.topics, self.alpha / self.alpha.sum())
