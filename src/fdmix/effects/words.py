"""Words that rise and fall within a topic: their expected counts in each cell, by one pass over its word pairs.

With the topics held fixed, a pass over the pairs of cell c gives the expected number n_c(t, u) of tokens of word u
that belong to topic t, given the words beside them. If the topic speaks in all cells alike, n_c(t, u) is about
N_c(t) p(t, u), where N_c(t) are the tokens of the topic in the cell and p(t, u) is the word's share of the topic in
all cells. What departs from it further than chance allows is reported:

    in a cell   z = (n_c - N_c p) / sqrt(f N_c p (1 - p) (1 - N_c / N))
    over time   z = sum_c x_c (n_c - N_c p) / sqrt(f p (1 - p) sum_c N_c (x_c - mean)^2)   (Cochran and Armitage)

f = tokens of the word / documents that have it: tokens come in bursts, so they tell less than as many documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr

from fdmix.cells.calendar import BINS, first_day
from fdmix.cells.grouping import Key
from fdmix.cells.moments_by_group import MomentsByGroup
from fdmix.effects.margins import Floats, WordMatch
from fdmix.effects.over import SharesByGroup, over
from fdmix.effects.testing import adjusted
from fdmix.kernels.cells import add_ratios
from fdmix.mixture.frames import as_frame
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.runtime.threads import one_blas_thread, streamed

MIN_EXPECTED = 5.0  # tokens of a word in a topic and cell, below which nothing is tested
MIN_STORED = 0.5  # tokens; smaller expected counts are taken for none, and the test allows for as much
SMALLEST = np.float32(1e-30)  # probability of a pair that is possible
FLOOR = 1e-4  # of shares, so that a topic that a cell lacks can still take a token


@dataclass(frozen=True, eq=False, repr=False)
class WordChanges:
    """Words that rise and fall within topics, as columns of two tables.

    cells : a row for each cell, topic and word that departs from the topic as a whole: the labels of the cell, topic,
        word, count, expected, ratio, z, q
    trend : a row for each topic and word that rises or falls along the calendar: topic, word, count, change (the
        factor from the first to the last bin), z, q; None for cells without a calendar
    q_limit : of the words in a table, at most this share is there by chance, on average (Benjamini and Hochberg)
    """

    cells: dict[str, Any]
    trend: dict[str, Any] | None
    q_limit: float

    def __repr__(self) -> str:
        over_time = "" if self.trend is None else f", {len(self.trend['word']):,} over time"
        return f"WordChanges({len(self.cells['word']):,} in cells{over_time}, q < {self.q_limit:g})"

    def to_frame(self, which: str = "cells", library: str | None = None) -> Any:
        """One of the two tables, "cells" or "trend", of pandas, polars or Arrow."""
        if which not in ("cells", "trend"):
            raise ValueError(f"there are the tables 'cells' and 'trend', not {which!r}")
        columns = self.cells if which == "cells" else self.trend
        if columns is None:
            raise ValueError("these cells have no calendar, so there is no trend")
        return as_frame(columns, library)


def word_changes(
    mixture: Mixture,
    cells: MomentsByGroup,
    shares: SharesByGroup | None = None,
    *,
    n: int = 10,
    q: float = 0.05,
    n_threads: int | None = None,
) -> WordChanges:
    """The words that rise and fall within topics.

    shares : of `over(mixture, cells)`, if it is known already
    n : words of a topic and cell to report, and of a topic over time, rising and falling each
    q : the share of false reports to allow, on average
    """
    if not 0 < q < 1:
        raise ValueError(f"q is a share of false reports between 0 and 1, not {q!r}")
    shares = over(mixture, cells, n_threads=n_threads) if shares is None else shares
    words = WordMatch.of(mixture, cells.vocabulary, cells.n_words)
    if cells.vocabulary is None:
        names = [mixture.word(u) for u in words.kept.tolist()]
    else:
        names = [_shown(mixture, cells.vocabulary[u]) for u in words.kept.tolist()]
    tally = _Tally.of(mixture, cells, shares, words, n_threads)
    return WordChanges(tally.in_cells(names, n, q), tally.over_time(names, n, q), q)


def expected_counts(mixture: Mixture, moments: Moments, shares: Floats, words: WordMatch, alpha: Floats) -> Any:
    """(words, T) float32: the expected tokens of each word in each topic, n(t, u) = P (H alpha), H = (S / M) P.

    alpha : E[theta theta'] of all cells; that of the cell is taken to be d alpha d', with its own shares
    """
    target = np.full(moments.n_words, -1, np.int64)
    target[words.kept] = np.arange(words.kept.size)
    pairs = moments.pairs if words.kept.size == moments.n_words else moments.pairs.relabel(target, words.kept.size)
    floor = FLOOR / shares.size
    scale = (shares + floor) / (alpha.sum(axis=1) + floor)
    own = scale[:, None] * alpha * scale
    right = np.ascontiguousarray(words.topics.T, np.float32)
    own = (own / own.sum()).astype(np.float32)
    out = np.zeros_like(right)
    add_ratios(pairs.first, pairs.columns, pairs.sums, right @ own, right, SMALLEST, out)
    counts = right * (out @ own)
    mass = float(counts.sum(dtype=np.float64))
    tokens = float(moments.word_counts[words.kept].sum())
    return counts * np.float32(tokens / mass if mass else 0.0)


@dataclass(frozen=True, eq=False)
class _Tally:
    """Expected counts of all cells, and their sums."""

    cells: MomentsByGroup
    keys: list[Key]
    counts: list[sp.csr_array]  # (T, words) of each cell
    tokens: Floats  # N_c(t), (C, T)
    total: Floats  # n(t, u), (T, words)
    moved: Floats | None  # sum_c x_c n_c(t, u)
    x: Floats | None  # of each cell: the number of its bin
    bursts: Floats  # f

    @classmethod
    def of(
        cls, mixture: Mixture, cells: MomentsByGroup, shares: SharesByGroup, words: WordMatch, n_threads: int | None
    ) -> _Tally:
        row = {key: place for place, key in enumerate(shares.keys)}
        keys = [key for key in cells if not np.isnan(shares.shares[row[key]]).any()]
        x = _bin_numbers(cells, keys)
        shape = (mixture.n_topics, words.kept.size)
        total, moved = np.zeros(shape), None if x is None else np.zeros(shape)
        counts, tokens = [], []

        def work(key: Key) -> Any:
            own = shares.shares[row[key]]
            return expected_counts(mixture, cells.cells[key], own, words, mixture.correlations).T

        with one_blas_thread:
            for place, found in enumerate(streamed(work, keys, n_threads)):
                total += found
                if moved is not None and x is not None and not np.isnan(x[place]):
                    moved += x[place] * found
                tokens.append(found.sum(axis=1, dtype=np.float64))
                counts.append(sp.csr_array(np.where(found >= MIN_STORED, found, 0)))
        word_counts = np.sum([cell.word_counts for cell in cells.cells.values()], axis=0)[words.kept]
        documents = np.sum([cell.document_frequencies for cell in cells.cells.values()], axis=0)[words.kept]
        bursts = word_counts / np.maximum(documents, 1)
        return cls(cells, keys, counts, np.array(tokens), total, moved, x, np.maximum(bursts, 1.0))

    def in_cells(self, names: list[str], n: int, q_limit: float) -> dict[str, Any]:
        """The words that depart most from their topic, in each cell."""
        everything = self.tokens.sum(axis=0)
        p = self.total / np.maximum(everything, 1e-300)[:, None]
        tested: list[tuple[Any, ...]] = []
        for place, counts in enumerate(self.counts):
            expected = self.tokens[place][:, None] * p
            topic, word = np.nonzero(expected >= MIN_EXPECTED)
            here, e, share = _entries(counts, topic, word), expected[topic, word], p[topic, word]
            rest = 1 - self.tokens[place][topic] / np.maximum(everything[topic], 1e-300)
            spread = np.sqrt(np.maximum(self.bursts[word] * e * (1 - share) * rest, 1e-12))
            z = np.sign(here - e) * np.maximum(np.abs(here - e) - MIN_STORED, 0) / spread
            tested.append((np.full(topic.size, place), topic, word, here, e, z))
        cell, topic, word, here, e, z = (np.concatenate(each) for each in zip(*tested, strict=True))
        q = adjusted(2 * ndtr(-np.abs(z)))
        best = _best(cell * self.total.shape[0] + topic, z, q < q_limit, n)
        labels = {str(axis): [self.keys[c][k] for c in cell[best].tolist()] for k, axis in enumerate(self.cells.axes)}
        return labels | {
            "topic": topic[best],
            "word": [names[u] for u in word[best].tolist()],
            "count": here[best],
            "expected": e[best],
            "ratio": here[best] / e[best],
            "z": z[best],
            "q": q[best],
        }

    def over_time(self, names: list[str], n: int, q_limit: float) -> dict[str, Any] | None:
        """The words that rise or fall along the calendar; None without one."""
        if self.x is None or self.moved is None or np.unique(self.x[~np.isnan(self.x)]).size < 2:
            return None
        dated = ~np.isnan(self.x)
        x, tokens = self.x[dated], self.tokens[dated]
        n_dated = np.maximum(tokens.sum(axis=0), 1e-300)
        mean = (x @ tokens) / n_dated
        width = ((x[:, None] - mean) ** 2 * tokens).sum(axis=0)
        p = self.total / np.maximum(self.tokens.sum(axis=0), 1e-300)[:, None]
        topic, word = np.nonzero((p * n_dated[:, None] >= MIN_EXPECTED) & (width[:, None] > 0))
        share = p[topic, word]
        count = share * n_dated[topic]
        score = self.moved[topic, word] - count * mean[topic]
        spread = share * (1 - share) * width[topic]
        z = score / np.sqrt(np.maximum(self.bursts[word] * spread, 1e-12))
        q = adjusted(2 * ndtr(-np.abs(z)))
        best = _best(topic, z, q < q_limit, n)
        slope = score[best] / np.maximum(spread[best], 1e-12)  # of the logarithm of the word's share, per bin
        return {
            "topic": topic[best],
            "word": [names[u] for u in word[best].tolist()],
            "count": count[best],
            "change": np.exp(np.clip(slope * (x.max() - x.min()), -20, 20)),
            "z": z[best],
            "q": q[best],
        }


def _entries(table: sp.csr_array, rows: Any, columns: Any) -> Floats:
    """The entries at these places. SciPy gives no array for no places: a cell of a few documents tests no word."""
    return np.asarray(table[rows, columns], np.float64).ravel() if rows.size else np.empty(0)


def _best(group: Any, z: Floats, significant: Any, n: int) -> Any:
    """Positions of the n largest and the n smallest z of each group among the significant ones, falling in z."""
    chosen = np.flatnonzero(significant)
    order = chosen[np.lexsort((-z[chosen], group[chosen]))]
    kept = []
    for sign in (1, -1):
        signed = order[sign * z[order] > 0][::sign]
        groups = group[signed]
        first = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]]) if groups.size else np.empty(0, int)
        rank = np.arange(groups.size) - np.repeat(first, np.diff(np.r_[first, groups.size]))
        kept.append(signed[rank < n])
    both = np.concatenate(kept)
    return both[np.lexsort((-z[both], group[both]))]


def _bin_numbers(cells: MomentsByGroup, keys: list[Key]) -> Floats | None:
    """The number of each cell's bin of the calendar, NaN where the date is missing; None without one calendar."""
    calendars = [(place, axis.bin) for place, axis in enumerate(cells.axes) if axis.bin is not None]
    if len(calendars) != 1:
        return None
    place, kind = calendars[0]
    labels = [key[place] for key in keys]
    return np.array([np.nan if label is None else BINS[kind].number(first_day(label)) for label in labels], float)


def _shown(mixture: Mixture, word: str) -> str:
    return word if mixture.preparation is None else mixture.preparation.shown(word)
