"""Swaps: split a topic that stands for two, and merge two topics that stand for one, where this gains likelihood.

Sparse EM ends in local optima in which some topics hold two true ones and some true ones are shared by two topics.
The gain of a split and the loss of a merge are estimated in the same way: how much better two topics explain the
topics' own pairs of top words than one. A swap is made if the split gains more than the merge loses
(docs/evidence/research/pairs.md, "Swaps").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.kernels.blocks import fit_two_topics
from fdmix.mixture.mixture import Mixture
from fdmix.moments.pair_matrix import PairMatrix, as_pair_matrix
from fdmix.runtime.threads import in_threads
from fdmix.solvers.moves import merging_costs

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class SwapEstimates:
    """How gains and losses of swaps are estimated. The values come from docs/evidence/research/pairs.md.

    min_topics : topics below which nothing is swapped: a swap involves three, and the median needs one more
    top_words : words whose pairs are looked at, for each topic or pair of topics
    em_rounds : rounds of EM that fit two topics to the pairs of one
    power_rounds : rounds of power iteration that find the first cut between the two
    floor : share of a topic's entries that each half keeps at least, so that EM can revive them
    merges_per_topic : pairs of topics whose merge is estimated closely, the cheapest first, for each topic
    min_merges : the same number for small mixtures, in all
    """

    min_topics: int = 4
    top_words: int = 250
    em_rounds: int = 15
    power_rounds: int = 40
    floor: float = 0.01
    merges_per_topic: float = 0.5
    min_merges: int = 8


ESTIMATES = SwapEstimates()


@dataclass(frozen=True, eq=False)
class Split:
    """A topic split in two on its top words: halves (2, words), how they occur together (2, 2), and the gain in L."""

    gain: float
    words: Any
    halves: Floats
    joint: Floats


def swapped(mixture: Mixture, mhat: PairMatrix | sp.csr_array, n_threads: int | None = None) -> tuple[Mixture, int]:
    """(the mixture after all swaps that gain likelihood, their number).

    The best swap is made first, and each topic takes part in one swap at most.

    Splitting any topic gains something, because two topics also fit the noise of its pairs. The median gain estimates
    this noise: gain - loss of a swap must exceed it.
    """
    n_topics = mixture.n_topics
    if n_topics < ESTIMATES.min_topics:
        return mixture, 0
    pairs = OwnPairs(mixture.topics, mixture.correlations, mhat)
    splits = list(in_threads(pairs.split, range(n_topics), n_threads))
    gains = np.array([split.gain for split in splits])
    merges = _merges(mixture, pairs, n_threads)
    new, n_swaps = Draft(mixture.topics, mixture.correlations), 0
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


def _merges(mixture: Mixture, pairs: OwnPairs, n_threads: int | None) -> list[tuple[float, int, int]]:
    """(loss, s, t) for the pairs of topics with the lowest merging costs, the smallest loss first."""
    first, second = np.triu_indices(mixture.n_topics, 1)
    costs = merging_costs(mixture.topics, mixture.correlations)[first, second]
    n_merges = max(ESTIMATES.min_merges, round(ESTIMATES.merges_per_topic * mixture.n_topics))
    cheapest = np.argsort(costs, kind="stable")[:n_merges].tolist()
    losses = in_threads(lambda k: pairs.loss(first[k], second[k]), cheapest, n_threads)
    return sorted((loss, int(first[k]), int(second[k])) for loss, k in zip(losses, cheapest, strict=True))


class OwnPairs:
    """The share of the pairs of tokens that belongs to one topic or two."""

    def __init__(self, topics: Floats, alpha: Floats, mhat: PairMatrix | sp.csr_array) -> None:
        self.topics, self.alpha, self.pairs = topics, alpha, as_pair_matrix(mhat)
        self.left = topics.T @ alpha

    def own(self, chosen: list[int]) -> tuple[Any, Floats, Floats]:
        """(top words, W, B) of the chosen topics: W_uv = Mhat_uv B_uv / M_uv, B = mu' alpha mu over these topics."""
        alpha = self.alpha[np.ix_(chosen, chosen)]
        weight = alpha.sum(axis=1) @ self.topics[chosen]
        n_top = min(ESTIMATES.top_words, weight.size)
        words = np.argpartition(-weight, n_top - 1)[:n_top]
        words = np.sort(words[weight[words] > 0])
        some = self.topics[chosen][:, words]
        B = some.T @ alpha @ some
        M = self.left[words] @ self.topics[:, words]
        X = self.pairs.block(words)
        return words, X * np.divide(B, M, out=np.zeros_like(M), where=M > 0), B

    def split(self, t: int) -> Split:
        """Two topics for the pairs of one, by EM from the leading eigenvector of what one topic does not explain."""
        words, W, _ = self.own([t])
        total, r = W.sum(), W.sum(axis=1)
        present = r > 1e-9 * max(r.max(initial=0.0), 1e-300)
        if present.sum() < 2:
            return Split(0.0, words, np.ones((2, words.size)), np.full((2, 2), 0.25))
        words, W, r = words[present], W[present][:, present] / total, r[present] / total
        direction = _leading(W / np.sqrt(np.outer(r, r)) - np.sqrt(np.outer(r, r))) / np.sqrt(r)
        side = 1 / (1 + np.exp(-3 * direction / np.sqrt(np.sum(r * direction**2))))
        halves = np.stack([r * side, r * (1 - side)])
        halves /= halves.sum(axis=1, keepdims=True)
        joint = np.array([[0.4, 0.1], [0.1, 0.4]])
        gain = fit_two_topics(W, halves, joint, ESTIMATES.em_rounds)
        return Split(float(total * gain), words, halves, joint)

    def loss(self, s: int, t: int) -> float:
        """The approximate loss in L if s and t are merged: sum W log (B / r r') over the pairs W of both."""
        _, W, B = self.own([s, t])
        total = W.sum()
        if total <= 0:
            return 0.0
        r, seen = W.sum(axis=1) / total, W > 0
        return float(np.sum(W[seen] * np.log(B[seen] / B.sum() / np.outer(r, r)[seen])))


def _leading(Z: Floats) -> Floats:
    """The eigenvector of the largest eigenvalue of Z, by power iteration on Z shifted to be nearly positive."""
    np.fill_diagonal(Z, 0)
    shift = 0.1 * np.abs(Z).sum(axis=0).max() + 1e-12
    x = np.random.default_rng(0).standard_normal(len(Z))
    for _ in range(ESTIMATES.power_rounds):
        x = Z @ x + shift * x
        x /= np.linalg.norm(x)
    return x


class Draft:
    """A mixture while topics are merged and split."""

    def __init__(self, topics: Floats, alpha: Floats) -> None:
        self.topics, self.alpha = topics.copy(), alpha.copy()

    def merge(self, kept: int, freed: int) -> None:
        """Merge topic `freed` into `kept`; the place of `freed` becomes free."""
        shares = self.alpha.sum(axis=1)
        weight = shares[kept] / (shares[kept] + shares[freed]) if shares[kept] + shares[freed] > 0 else 0.5
        self.topics[kept] = weight * self.topics[kept] + (1 - weight) * self.topics[freed]
        self.alpha[kept] += self.alpha[freed]
        self.alpha[:, kept] += self.alpha[:, freed]
        self.alpha[freed] = self.alpha[:, freed] = 0

    def split(self, t: int, free: int, split: Split) -> None:
        """Split topic t: the second half goes to the free place. Words below the top ones go to both halves."""
        size, whole, together = split.joint.sum(axis=1), self.topics[t].copy(), self.alpha[t, t]
        both = size[:, None] * split.halves
        halves = np.outer(size, whole)
        halves[:, split.words] = whole[split.words] * both / np.maximum(both.sum(axis=0), 1e-300)
        halves = np.maximum(halves, ESTIMATES.floor * whole)
        row = self.alpha[t].copy()
        for place, half, share in zip((t, free), halves, size, strict=True):
            self.topics[place] = half / half.sum()
            self.alpha[place] = self.alpha[:, place] = share * row
        places = np.ix_([t, free], [t, free])
        self.alpha[places] = together * split.joint

    def mixture(self) -> Mixture:
        """The changed mixture."""
        return Mixture(self.topics, self.alpha / self.alpha.sum())
