"""The word margins of moments, sum_v Mhat[u, v], over the words of a mixture: all that the shares of topics need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.corpus.vocabulary import positions
from fdmix.kernels.cells import add_row_totals
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.moments.pair_sums import PairSums

Floats = np.ndarray[Any, np.dtype[np.float64]]
NO_FOLDS = "these moments keep no folds, which error bars need: count them with folds=10 (on the command line, --by)"
MIN_KNOWN = 1e-9  # the share of tokens whose words the mixture has, below which nothing can be said


@dataclass(frozen=True, eq=False)
class WordMatch:
    """Which words of the moments the topics have, and the topics over these words.

    kept : positions of the words among those of the moments
    topics : (T, words that are kept)
    """

    kept: Any
    topics: Floats

    @classmethod
    def of(cls, mixture: Mixture, vocabulary: Any, n_words: int) -> WordMatch:
        """Match by word, or by position where there are no words."""
        if mixture.vocabulary is not None and vocabulary is not None:
            where = positions(vocabulary, mixture.vocabulary)
        elif n_words == mixture.n_words:
            where = np.arange(n_words)
        else:
            raise ValueError(
                f"the moments have {n_words:,} words and the mixture {mixture.n_words:,}, and no names to match them "
                "by: give both a vocabulary"
            )
        possible = np.asarray(mixture.topics.any(axis=0))
        kept = np.flatnonzero((where >= 0) & possible[where])
        if not kept.size:
            raise ValueError("the mixture knows none of the words: count the text with like= the model")
        return cls(kept, mixture.topics[:, where[kept]])


@dataclass(frozen=True, eq=False)
class Margin:
    """Word margins of a set of documents and of its folds, in the units of its pair sums.

    whole : (words,), folds : (F, words), which add up to the whole; known : the share of tokens with known words
    """

    whole: Floats
    folds: Floats
    known: float

    @classmethod
    def of(cls, moments: Moments, words: WordMatch) -> Margin:
        """The margins of moments that keep folds."""
        if not moments.folds:
            raise ValueError(NO_FOLDS)
        folds = np.array([row_totals(fold.pairs) for fold in moments.folds])
        kept = folds[:, words.kept]
        total = folds.sum()
        return cls(kept.sum(axis=0), kept, float(kept.sum() / total) if total else 0.0)

    def __add__(self, other: Margin) -> Margin:
        mass, theirs = self.whole.sum(), other.whole.sum()
        both = (mass + theirs) or 1.0
        known = (self.known * mass + other.known * theirs) / both
        return Margin(self.whole + other.whole, self.folds + other.folds, known)

    @property
    def is_empty(self) -> bool:
        """Whether there is no token of a known word."""
        return self.known < MIN_KNOWN


def row_totals(pairs: PairSums) -> Floats:
    """sum_v S[u, v] for every word."""
    total = np.zeros(pairs.n_words)
    add_row_totals(pairs.first, pairs.columns, pairs.sums, total)
    return total
