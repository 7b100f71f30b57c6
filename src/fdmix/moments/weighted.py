"""Moments in floating point: for fractional weights of documents, or of words in documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import fsum
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.preparation import Preparation
from fdmix.corpus.vocabulary import Vocabulary, as_vocabulary
from fdmix.moments.full_matrix import symmetric
from fdmix.moments.moments import Moments
from fdmix.moments.weighting import DEFAULT_WEIGHTING, WEIGHTINGS, known_weighting

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False, repr=False)
class WeightedMoments:
    """What `Moments` knows about a corpus, for documents that count s_d times, s_d >= 0 any number.

    whole counts:       sum_d s_d w_d (c_d c_d' - diag(c_d)) / (l_d (l_d - 1)), as in `Moments`
    fractional counts:  sum_d s_d w_d c_d c_d' / l_d^2, the plug-in estimate: there are no tokens to draw pairs from

    With weighting="tokens", w_d is l_d - 1 for whole counts, and the number of tokens that the document is worth for
    fractional ones; with weighting="paper" it is 1.

    The plug-in estimate puts too much on the diagonal, the more so the shorter the documents. It is what one can do
    with weights such as tf-idf; whole counts are better. Make them with `WeightedMoments.of`.

    Attributes
    ----------
    sums : the weighted sum over documents, words x words, symmetric
    document_frequencies : the weight of the documents that hold a word
    n_tokens : of fractional counts, l_d^2 / |c_d|^2 for a document: how many equal weights it is worth
    fractional : whether the plug-in estimate is in the sum

    >>> WeightedMoments.of([[0.5, 0.5], [0, 2]], weighting="paper").matrix.toarray()
    array([[0.125, 0.125],
           [0.125, 0.625]])
    """

    sums: sp.csr_array
    document_frequencies: Floats
    n_tokens: float
    vocabulary: Vocabulary | None = None
    fractional: bool = False
    preparation: Preparation | None = None
    weighting: str = DEFAULT_WEIGHTING

    @classmethod
    def of(
        cls,
        counts: Any,
        vocabulary: Iterable[str] | None = None,
        *,
        weights: Any = None,
        weighting: str = DEFAULT_WEIGHTING,
    ) -> WeightedMoments:
        """Count the pairs of documents; `weights` has one number from 0 upwards for each of them.

        Equal documents are joined, and all are sorted by their contents before anything is added up. So weight 3 and
        three copies give the same bits, in any order, and a document of weight 0 changes nothing.
        """
        known_weighting(weighting)
        table = sp.csr_array(counts, dtype=np.float64, copy=True)
        table.sum_duplicates()
        table.eliminate_zeros()
        if table.nnz and not 0 < table.data.min() <= table.data.max() < np.inf:
            raise ValueError("counts must be finite numbers from 0 upwards")
        words = None if vocabulary is None else as_vocabulary(vocabulary, table.shape[1])
        fractional = not is_whole(table)
        table, weight = _distinct(table, _document_weights(weights, table.shape[0]))
        length = np.asarray(table.sum(axis=1)).ravel()
        kept = np.flatnonzero(length > 0 if fractional else length >= 2)
        table, weight, length = table[kept], weight[kept], length[kept]
        holds = sp.csr_array((np.ones(table.nnz), table.indices, table.indptr), shape=table.shape)
        tokens = length**2 / np.asarray((table * table).sum(axis=1)).ravel() if fractional else length
        of_document = weight
        if weighting == "tokens":
            of_document = weight * (tokens if fractional else tokens - 1)
        return cls(
            _plug_in(table, of_document, length) if fractional else _unbiased(table, of_document, length),
            np.asarray(holds.T @ weight),
            float(weight @ tokens),
            words,
            fractional,
            weighting=weighting,
        )

    @classmethod
    def from_moments(cls, moments: Moments) -> WeightedMoments:
        """Exact moments as floating-point ones, to add others to them."""
        return cls(
            symmetric(moments.pairs, 1.0 / WEIGHTINGS[moments.weighting].unit),
            moments.document_frequencies.astype(np.float64),
            float(moments.n_tokens),
            moments.vocabulary,
            weighting=moments.weighting,
        )

    @property
    def n_words(self) -> int:
        """Number of words."""
        return int(self.sums.shape[0])

    @property
    def matrix(self) -> sp.csr_array:
        """Mhat: symmetric, no negative entry, sums to 1."""
        return self.sums / self._mass()

    @property
    def unigram(self) -> Floats:
        """The row sums of Mhat."""
        return np.asarray(self.sums.sum(axis=1)).ravel() / self._mass()

    def named(self, vocabulary: Vocabulary | None) -> WeightedMoments:
        """The same moments with these words for the columns."""
        return replace(self, vocabulary=vocabulary)

    def provenance(self) -> dict[str, Any]:
        """What is known about them, for people."""
        return {"words": self.n_words, "tokens": self.n_tokens, "fractional": self.fractional}

    def __repr__(self) -> str:
        return f"WeightedMoments({self.n_words:,} words, {self.sums.nnz:,} entries)"

    def __add__(self, other: object) -> WeightedMoments:
        """The moments of both sets of documents together, up to rounding."""
        if isinstance(other, Moments):
            other = WeightedMoments.from_moments(other)
        if not isinstance(other, WeightedMoments):
            return NotImplemented
        if (self.n_words, self.vocabulary) != (other.n_words, other.vocabulary):
            raise ValueError("weighted moments are added over the same words in the same order only")
        if self.weighting != other.weighting:
            raise ValueError("documents are weighted in different ways: count both with the same weighting=")
        return WeightedMoments(
            self.sums + other.sums,
            self.document_frequencies + other.document_frequencies,
            self.n_tokens + other.n_tokens,
            self.vocabulary,
            self.fractional or other.fractional,
            weighting=self.weighting,
        )

    __radd__ = __add__

    def _mass(self) -> float:
        mass = float(self.sums.sum())
        if not mass > 0:
            raise ValueError("there is no word pair: no document has two or more tokens of the vocabulary")
        return mass


def is_whole(numbers: Any) -> bool:
    """Whether all numbers of an array, dense or sparse, are whole."""
    data = numbers.data if sp.issparse(numbers) else np.asarray(numbers)
    return data.dtype.kind in "iub" or bool((data == np.floor(data)).all())


def _document_weights(weights: Any, n_documents: int) -> Floats:
    if weights is None:
        return np.ones(n_documents)
    given = np.asarray(weights, np.float64)
    if given.shape != (n_documents,) or not np.isfinite(given).all() or (given < 0).any():
        raise ValueError(f"weights must be {n_documents:,} finite numbers from 0 upwards, one per document")
    return given


def _distinct(table: sp.csr_array, weight: Floats) -> tuple[sp.csr_array, Floats]:
    """Each document once, in the order of its bytes, with the weight of all its copies (rounded once)."""
    columns, data = table.indices.astype(np.int64), table.data
    copies: dict[bytes, list[int]] = {}
    for document, (begin, end) in enumerate(pairwise(table.indptr)):
        if weight[document] > 0:
            key = columns[begin:end].tobytes() + data[begin:end].tobytes()
            copies.setdefault(key, []).append(document)
    groups = [copies[key] for key in sorted(copies)]
    rows = np.array([group[0] for group in groups], np.int64)
    return table[rows], np.array([fsum(weight[group]) for group in groups])


def _plug_in(table: sp.csr_array, weight: Floats, length: Floats) -> sp.csr_array:
    """sum_d s_d c_d c_d' / l_d^2."""
    scaled = sp.diags_array(np.sqrt(weight) / length) @ table  # the root on both sides: symmetric to the last bit
    sums = sp.csr_array(scaled.T @ scaled)
    sums.sort_indices()
    return sums


def _unbiased(table: sp.csr_array, weight: Floats, length: Floats) -> sp.csr_array:
    """sum_d s_d (c_d c_d' - diag(c_d)) / (l_d (l_d - 1)); the diagonal, c (c - 1), by itself, so that 0 stays 0."""
    each = weight / (length * (length - 1))
    scaled = sp.diags_array(np.sqrt(each)) @ table
    products = scaled.T @ scaled
    apart = products - sp.diags_array(products.diagonal())
    sums = sp.csr_array(apart + sp.diags_array((table * table - table).T @ each))
    sums.eliminate_zeros()
    sums.sort_indices()
    return sums
