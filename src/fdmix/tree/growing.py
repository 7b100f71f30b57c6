"""Grow a tree: merge the two topics that cost the least likelihood, again and again, until one is left."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from fdmix.kernels import merge_costs
from fdmix.mixture.mixture import Mixture
from fdmix.moments.contract import PairMoments
from fdmix.runtime.threads import Workers, one_blas_thread
from fdmix.tree.pairs import ListedPairs, pairs_of_mixture
from fdmix.tree.tree import Tree

MAX_PAIRS = 8_000_000  # word pairs that costs are added up over; more are sampled (precision: docs/how-to/tree.md)
SEARCH_PAIRS = 100_000  # of these, the pairs that the search for the cheapest merge looks at
SEARCH_WORK = 0.6e9  # merges tried times word pairs, in the whole search
FIRST_WORK = 0.2  # share of this work that is done before the first merge
EXHAUSTIVE_WORK = 3e7  # merges times word pairs, up to which every step tries all merges on all pairs
SMALL_STEP = 500_000  # topics times words, below which threads cost more than they save
LANES = 16  # merges that are tried at once; bounds the memory


def grow_tree(
    mixture: Mixture,
    moments: PairMoments,
    *,
    n_threads: int | None = None,
    max_pairs: int = MAX_PAIRS,
    report: Callable[[str, int, int | None], Any] | None = None,
) -> Tree:
    """The tree of a mixture's topics: at each step, the two topics merge that cost the least log-likelihood on Mhat.

    A small problem is searched exhaustively: each step tries all merges on all word pairs. A large one tries the most
    promising merges on a sample of pairs. In either case, the costs of the merges made are added up on all pairs.

    max_pairs : if there are more word pairs, costs are those of a sample of this size, in proportion to Mhat: precise
        to about 1 %
    moments : of the text that the topics were fitted to, or of another text with the same words
    report : called as `report("merging", done, total)`

    >>> from fdmix import Moments, fit_mixture, worlds
    >>> moments = Moments.of(worlds.intervals().sample(2000, seed=0))
    >>> tree = grow_tree(fit_mixture(moments, 4).mixture, moments)
    >>> tree.cut(2)
    Mixture(2 topics over 100 words)
    """
    mhat = pairs_of_mixture(mixture, moments)[0]
    workers = Workers(n_threads)
    with one_blas_thread:
        pairs = ListedPairs.of(mhat, mixture, max_pairs, workers)
        search = _Search(mixture, pairs, workers)
        n_merges = mixture.n_topics - 1
        d, h = (np.zeros((n_merges, mixture.n_words), np.float32) for _ in range(2))
        merges = np.zeros((n_merges, 2), np.int64)
        for k in range(n_merges):
            merges[k] = search.merge_cheapest(mixture.n_topics + k, d[k], h[k])
            if report is not None:
                report("merging", k + 1, n_merges)
        nothing = np.zeros((1, mixture.n_words), np.float32)
        before = pairs.merge(nothing, nothing, workers)
        costs = -np.diff(pairs.merge(d, h, workers), prepend=before)
    return Tree(mixture, merges, costs, is_sampled=pairs.is_sampled)


class _Search:
    """The topics that are left, and what is known about the costs of merging them.

    Topics lie in slots. Slots up to `n` are in use; a merge frees one, which the last one fills.
    """

    def __init__(self, mixture: Mixture, pairs: ListedPairs, workers: Workers) -> None:
        self.n = mixture.n_topics
        self.workers = workers
        self.exhaustive = self.n**2 / 2 * pairs.weight.size <= EXHAUSTIVE_WORK
        self.pairs = pairs.sample(pairs.weight.size if self.exhaustive else SEARCH_PAIRS)
        self.node = np.arange(self.n)
        self.alpha = mixture.correlations.copy()
        self.topics = mixture.topics.astype(np.float32)
        self.beside = (mixture.correlations @ mixture.topics).astype(np.float32)  # alpha mu
        self.roots = np.sqrt(self.topics)
        self.similarity = (self.roots @ self.roots.T).astype(np.float64)
        self.known = np.full((self.n, self.n), np.nan)  # costs of the merges tried, as they were then
        self.ratio = 1.0  # of costs to their guesses
        if not self.exhaustive:
            affordable = SEARCH_WORK / self.pairs.weight.size / self.n
            self.n_candidates = int((1 - FIRST_WORK) * affordable) + 1
            guesses = self._guesses()
            nearest = np.argsort(np.minimum(guesses, guesses.T), axis=1)[:, : int(FIRST_WORK * affordable) + 1]
            tried = {(min(s, t), max(s, t)) for s in range(self.n) for t in nearest[s].tolist()}
            self._try(sorted(tried))

    def merge_cheapest(self, node: int, d: Any, h: Any) -> tuple[int, int]:
        """Merge the two topics that cost least, to this node; returns their nodes, and d and h in these arrays."""
        s, t = self._cheapest()
        first, second = sorted((int(self.node[s]), int(self.node[t])))
        d[:], h[:], beside_change = self._change(s, t)
        self.pairs.merge(d[None], h[None], self.workers)
        self._merge(s, t, d, beside_change)
        self.node[s] = node
        self._drop(t)
        return first, second

    def _cheapest(self) -> tuple[int, int]:
        """The slots of the cheapest merge, s < t, among the most promising ones."""
        n = self.n
        if self.exhaustive:
            candidates = list(combinations(range(n), 2))
        else:
            guessed = self._guesses().ravel()
            chosen = np.argpartition(guessed, min(self.n_candidates, guessed.size) - 1)[: self.n_candidates]
            candidates = [divmod(int(place), n) for place in np.sort(chosen) if np.isfinite(guessed[place])]
        costs = self._try(candidates)
        return candidates[int(np.argmin(costs))]

    def _guesses(self) -> Any:
        """Costs of all merges s < t: those of the last try, or p_s p_t / (p_s + p_t) (1 - Bhattacharyya) to scale."""
        n = self.n
        shares = self.alpha[:n, :n].sum(axis=1)
        both = shares[:, None] + shares
        guess = np.where(both > 0, np.outer(shares, shares) / np.where(both > 0, both, 1), 0)
        guess *= 1 - self.similarity[:n, :n]
        known = self.known[:n, :n]
        if (tried := ~np.isnan(known) & (guess > 0)).any():
            self.ratio = float(np.median(known[tried] / guess[tried]))
        costs = np.where(np.isnan(known), guess * self.ratio, known)
        return np.where(np.triu(np.ones((n, n), bool), 1), costs, np.inf)

    def _try(self, candidates: Any) -> Any:
        """The costs of these merges, each by itself, on the pairs of the search."""
        costs = np.zeros(len(candidates))
        for begin in range(0, len(candidates), LANES):
            some = candidates[begin : begin + LANES]
            changes = [self._change(s, t)[:2] for s, t in some]
            d, h = (np.array([change[i] for change in changes]) for i in range(2))
            costs[begin : begin + len(some)] = self.pairs.costs(d, h, self.workers)
        for (s, t), cost in zip(candidates, costs, strict=True):
            self.known[s, t] = cost
        return costs

    def _change(self, s: int, t: int) -> tuple[Any, Any, Any]:
        """(d, h, alpha e) of a merge, with M' - M = d h' + h d' and (alpha mu)' - alpha mu = (alpha e) d'.

        mu_s and mu_t both become w mu_s + (1 - w) mu_t, so that mu' = mu + e d' with d = mu_t - mu_s, e_s = 1 - w,
        e_t = -w, and h = mu' alpha e + (e' alpha e / 2) d.
        """
        shares = self.alpha[[s, t]].sum(axis=1)
        w = shares[0] / shares.sum() if shares.sum() > 0 else 0.5
        d = self.topics[t] - self.topics[s]
        alpha_e = (1 - w) * self.alpha[:, s] - w * self.alpha[:, t]
        within = (1 - w) * alpha_e[s] - w * alpha_e[t]
        h = np.float32(1 - w) * self.beside[s] - np.float32(w) * self.beside[t] + np.float32(within / 2) * d
        return d, h, alpha_e

    def _merge(self, s: int, t: int, d: Any, alpha_e: Any) -> None:
        """Put the merged topic into slot s, and change what lies beside all topics."""
        factor, words = alpha_e.astype(np.float32), np.flatnonzero(d)
        self._in_threads(lambda slots: merge_costs.add_outer_product(self.beside, slots, factor, d, words))
        self.beside[s] += self.beside[t]
        shares = self.alpha[[s, t]].sum(axis=1)
        w = shares[0] / shares.sum() if shares.sum() > 0 else 0.5
        self.topics[s] += np.float32(1 - w) * d
        self.roots[s] = np.sqrt(self.topics[s])
        self.alpha[s] += self.alpha[t]
        self.alpha[:, s] += self.alpha[:, t]
        alike = np.empty(self.n, np.float32)
        own = np.flatnonzero(self.topics[s])
        self._in_threads(lambda slots: merge_costs.products_with_row(self.roots, slots, self.roots[s], own, alike))
        self.similarity[s, : self.n] = self.similarity[: self.n, s] = alike
        self.known[s] = self.known[:, s] = np.nan

    def _in_threads(self, work: Callable[[Any], Any]) -> None:
        """work(slots) for parts of the slots in use."""
        parts = np.array_split(np.arange(self.n), self.workers.n_threads)
        self.workers.map(work, parts, small=self.n * self.topics.shape[1] < SMALL_STEP)

    def _drop(self, t: int) -> None:
        """Free slot t: the last one moves there."""
        last = self.n - 1
        for table in (self.topics, self.beside, self.roots, self.node):
            table[t] = table[last]
        for square in (self.alpha, self.similarity):
            square[t] = square[last]
            square[:, t] = square[:, last]
            square[last] = square[:, last] = 0
        costs = np.fmax(self.known[last], self.known[:, last])
        costs[t] = np.nan
        self.known[last] = self.known[:, last] = np.nan
        self.known[t, t + 1 :] = costs[t + 1 :]
        self.known[:t, t] = costs[:t]
        self.n = last
