"""The co-occurrence moments of a corpus (the paper's Algorithm 1): exact, additive, mergeable."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.preparation import Preparation
from fdmix.corpus.vocabulary import Vocabulary, as_vocabulary
from fdmix.display import html_table
from fdmix.moments import arithmetic, file, parts, word_edits
from fdmix.moments.cost import Estimate
from fdmix.moments.counting import Counting
from fdmix.moments.full_matrix import symmetric
from fdmix.moments.inverted_index import Integers
from fdmix.moments.ledger import Ledger, SourceLog
from fdmix.moments.pair_matrix import PairMatrix, ScaledSums
from fdmix.moments.pair_sums import PairSums
from fdmix.moments.rare_pairs import WithoutRarePairs, without_rare_pairs
from fdmix.moments.weighting import DEFAULT_WEIGHTING, known_weighting
from fdmix.storage.arrays import FileError
from fdmix.storage.facts import reason


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Everything that fitting needs to know about a corpus, in a form that adds up exactly.

    Mhat = sum_d w_d M_d / sum_d w_d,   M_d[u, v] = (c_d(u) c_d(v) - [u = v] c_d(u)) / (l_d (l_d - 1))

    A document of l tokens has weight w = l - 1, because a longer document says more; in the paper, all have weight 1.

    The sum over documents is kept in whole numbers, so moments of parts of a corpus can be added and
    removed in any order with the same result to the last bit. Make them with `Moments.of`.

    Attributes
    ----------
    pairs : the sums of w_d M_d, in whole numbers
    word_counts : tokens of each word; document_frequencies : documents that hold it
    n_documents : documents counted; n_skipped : documents left out because they have fewer than two tokens
    vocabulary : the words, or None if they are known by position only
    edits : a fingerprint of the words joined and dropped since the documents were counted, "" if none
    folds : the moments of the hash buckets of documents, if asked for; they add up to the whole
    preparation : how text became these words, if known
    ledger : what was counted: a digest of the documents, and the sources that were read. It adds up like the pairs
    weighting : "tokens" (a document of l tokens has weight l - 1) or "paper" (every document has weight 1)
    held_out : the moments of one document in sixteen, chosen by a hash of its words, or None. They are part of the
        whole; a fit subtracts them, learns from the others, and asks these how far to smooth its topics

    >>> moments = Moments.of([[2, 1, 0], [0, 1, 1], [0, 0, 1]], ["ant", "bee", "cat"])
    >>> moments
    Moments(2 documents, 3 words, 3 pairs; 1 skipped)
    >>> moments.matrix.toarray().round(3)
    array([[0.222, 0.222, 0.   ],
           [0.222, 0.   , 0.167],
           [0.   , 0.167, 0.   ]])
    """

    pairs: PairSums
    word_counts: Integers
    document_frequencies: Integers
    n_documents: int
    n_skipped: int
    vocabulary: Vocabulary | None = None
    folds: tuple[Moments, ...] = ()
    edits: str = ""
    preparation: Preparation | None = None
    ledger: Ledger = field(default_factory=Ledger)
    weighting: str = DEFAULT_WEIGHTING
    held_out: Moments | None = None

    def __post_init__(self) -> None:
        n_words = self.pairs.n_words
        known_weighting(self.weighting)
        for name in ("word_counts", "document_frequencies"):
            array = getattr(self, name)
            if array.shape != (n_words,) or array.dtype != np.int64 or (array.size and array.min() < 0):
                raise ValueError(f"{name} must be {n_words:,} non-negative whole numbers (int64)")
            array.setflags(write=False)
        if self.n_documents < 0 or self.n_skipped < 0:
            raise ValueError("numbers of documents cannot be negative")
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", as_vocabulary(self.vocabulary, n_words))
        parts.check(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Moments, tuple(getattr(self, each.name) for each in fields(self))

    @classmethod
    def of(
        cls,
        counts: Any,
        vocabulary: Iterable[str] | None = None,
        *,
        weights: Any = None,
        weighting: str = DEFAULT_WEIGHTING,
        folds: int = 0,
        held_out: bool = True,
        n_threads: int | None = None,
        memory_limit: float | None = None,
    ) -> Moments:
        """Count the word pairs of documents, in one pass.

        Parameters
        ----------
        counts : Corpus, table of whole counts (documents x words), or a stream of either
            A stream is read once, chunk by chunk, and never held as a whole. Corpora with different
            vocabularies are united by word.
        vocabulary : words of the columns, for counts that are not a `Corpus`
        weights : whole numbers, one per document: weight 3 counts a document three times. Not for streams.
        weighting : "tokens": a document of l tokens has weight l - 1 (a random token, then another of its document).
            "paper": every document has weight 1, as in the paper; short documents, which are noisy, count as much
            as long ones
        folds : keep the moments of this many buckets of documents apart (0: none). A hash of a document's words and
            counts chooses its bucket: the same one in any shard, and for copies of the document.
        held_out : whether to keep the moments of one document in sixteen apart, so that a fit can judge by them. With
            folds, the first of these serves
        n_threads : default: all cores. The result does not depend on it.
        memory_limit : bytes that counting may take (default: what is free). More is refused before it starts; with a
            stream, before the block that would exceed it
        """
        how = Counting(cls, weighting, folds, held_out, n_threads)
        return how.count(counts, vocabulary, weights, memory_limit)

    @staticmethod
    def by(counts: Any, by: Any, columns: Mapping[str, Any] | None = None, **counting: Any) -> Any:
        """The moments of each group of documents, `Moments.by(corpus, "month(date),party")`: a `MomentsByGroup`.

        counting : folds=, weighting=, n_threads=, as in `MomentsByGroup.of`
        """
        from fdmix.cells.moments_by_group import MomentsByGroup  # noqa: PLC0415  (cells are built on moments)

        return MomentsByGroup.of(counts, by, columns, **counting)

    @staticmethod
    def estimate(counts: Any, folds: int = 0) -> Estimate:
        """How many pairs, how much work and memory `Moments.of(counts, folds=folds)` will take, before it is done."""
        return Estimate.of(counts, folds)

    @property
    def n_words(self) -> int:
        """Number of words."""
        return self.pairs.n_words

    @property
    def n_tokens(self) -> int:
        """Number of tokens in the counted documents."""
        return int(self.word_counts.sum())

    @property
    def n_pairs(self) -> int:
        """Number of word pairs seen, (u, v) and (v, u) counted once."""
        return self.pairs.n_entries

    @property
    def nbytes(self) -> int:
        """Bytes in memory, folds included."""
        own = self.pairs.nbytes + self.word_counts.nbytes + self.document_frequencies.nbytes
        return own + sum(part.nbytes for part in parts.of(self))

    @property
    def matrix(self) -> sp.csr_array:
        """Mhat: float64 CSR, symmetric, no negative entry, sums to 1. Made anew at each call."""
        return symmetric(self.pairs, 1.0 / self._mass())

    def pair_matrix(self) -> PairMatrix:
        """Mhat for fits, read from the whole-number sums without a copy."""
        return ScaledSums(self.pairs, mass=self._mass())

    @property
    def unigram(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The row sums of Mhat, the mean of c_d(u) / l_d: the one topic of a mixture with T = 1."""
        return self.pairs.row_sums() / self._mass()

    def _repr_html_(self) -> str:
        rows = [
            ("documents", f"{self.n_documents:,}"),
            ("skipped (under two tokens)", f"{self.n_skipped:,}"),
            ("words", f"{self.n_words:,}" + (" (open vocabulary)" if self.is_open else "")),
            ("tokens", f"{self.n_tokens:,}"),
            ("word pairs", f"{self.n_pairs:,}"),
            *([("folds", f"{len(self.folds):,}")] if self.folds else []),
        ]
        return html_table("Moments", (), rows)

    def __repr__(self) -> str:
        folds = f"; {len(self.folds)} folds" if self.folds else ""
        return (
            f"Moments({self.n_documents:,} documents, {self.n_words:,} words, {self.n_pairs:,} pairs; "
            f"{self.n_skipped:,} skipped{folds})"
        )

    def __eq__(self, other: object) -> bool:
        """Whether all numbers, words and folds are the same, to the last bit."""
        if not isinstance(other, Moments):
            return NotImplemented
        return (
            self.n_documents == other.n_documents
            and self.n_skipped == other.n_skipped
            and self.vocabulary == other.vocabulary
            and self.weighting == other.weighting
            and np.array_equal(self.word_counts, other.word_counts)
            and np.array_equal(self.document_frequencies, other.document_frequencies)
            and self.pairs == other.pairs
            and self.folds == other.folds
            and self.held_out == other.held_out
            and (not self.folds or self.edits == other.edits)
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Moments) -> Moments:
        """The moments of both sets of documents together.

        Different vocabularies are united by word, in sorted order.
        """
        if not isinstance(other, Moments):
            return NotImplemented
        return arithmetic.added(self, other)

    def __radd__(self, other: object) -> Moments:
        """So that `sum(shards)` works, which begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Moments) -> Moments:
        """Take documents out again, exactly; refused if they cannot have been part of these moments."""
        if not isinstance(other, Moments):
            return NotImplemented
        return arithmetic.subtracted(self, other)

    def prepared(self, preparation: Preparation | None) -> Moments:
        """The same moments, knowing how text became their words."""
        return replace(self, preparation=preparation)

    def named(self, vocabulary: Vocabulary | None) -> Moments:
        """The same moments with these words for the columns, in the parts as well."""
        return replace(self, vocabulary=vocabulary, **parts.each(self, lambda part: part.named(vocabulary)))

    def recorded(self, log: SourceLog) -> Moments:
        """The same moments, knowing the sources that their documents were read from."""
        return replace(self, ledger=log.ledger(self.ledger.digest))

    @property
    def judges(self) -> Moments | None:
        """The moments of the documents that a fit judges by: the part held out, or the first fold; None without."""
        return self.folds[0] if self.folds else self.held_out

    def without_judges(self) -> Moments:
        """The moments of all documents but those that a fit judges by."""
        return parts.without_judges(self)

    def without_fold(self, fold: int) -> Moments:
        """The moments of all documents outside one fold: what to train on when `folds[fold]` is held out."""
        return parts.without_fold(self, fold)

    def merge_words(self, names: Mapping[str, str]) -> Moments:
        """Join words under one name, `{"colour": "color"}`: exactly what counting them as one word gives.

        A name that is not a word yet becomes one. Only document frequencies are not exact afterwards: those of
        joined words add up, so a document that held both counts twice. Folds stay those of the documents as they were
        counted: add and remove documents before joining words, or join them on both sides.
        """
        return word_edits.merge_words(self, names)

    def drop_words(self, words: Iterable[str]) -> Moments:
        """Leave words out.

        Not quite what counting without them gives: the other words' pairs keep the weight that they had in the whole
        document, so documents with many dropped tokens count less. The result is still a mixture of the same topics,
        restricted to the remaining words.
        """
        return word_edits.drop_words(self, words)

    def restrict(self, vocabulary: Iterable[str]) -> Moments:
        """Keep only these words, in this order (with the same caveat as `drop_words`)."""
        return word_edits.restrict(self, vocabulary)

    def top(self, n: int) -> Moments:
        """Keep the n words with the most tokens, in their present order (same caveat as `drop_words`)."""
        return word_edits.top(self, n)

    @property
    def is_open(self) -> bool:
        """Whether every word of the text was counted, to be pruned before a fit."""
        return self.preparation is not None and self.preparation.cleaning.open_vocabulary

    def prune(
        self,
        min_count: float | str | None = None,
        max_words: int | None = None,
        max_share: float | None = None,
        drop_most_common: int | None = None,
    ) -> Moments:
        """Leave out rare and very common words, by the rules of the text's `Cleaning` or by those given.

        min_count : keep words with at least this many tokens; "auto" is 5, or 1 for fewer than 1,000 documents;
            a number below 1 is multiplied by the number of documents
        max_words : keep the most frequent ones of these
        max_share : leave out words that are in more than this share of the documents
        drop_most_common : leave out the N most frequent words, before the other rules choose

        The same caveat as for `drop_words`: words that are left out still count in the lengths of documents.

        >>> Moments.of([[2, 1, 0], [1, 1, 1], [1, 0, 2]], ["ant", "bee", "cat"]).prune(max_words=2).vocabulary
        ('ant', 'cat')
        """
        rules = {"min_count": min_count, "max_words": max_words, "max_share": max_share}
        return word_edits.prune(self, **rules, drop_most_common=drop_most_common)

    def drop_rare_pairs(self, share: float) -> WithoutRarePairs:
        """Leave out the rarest pairs, which have at most this share of the pairs' weight together.

        `.moments` of the result are without them, `.lost` is what each word loses. Nothing else leaves out pairs.
        Documents can no longer be added or removed exactly.

        >>> Moments.of([[3, 2, 1], [2, 2, 0], [0, 1, 2]]).drop_rare_pairs(0.2).moments
        Moments(3 documents, 3 words, 4 pairs; 0 skipped)
        """
        return without_rare_pairs(self, share)

    def without_unused_words(self) -> Moments:
        """The same moments over the words that have a token."""
        return word_edits.without_unused_words(self)

    def checksum(self) -> str:
        """SHA-256 of everything counted: the same for the same documents, however they were put together."""
        counted = [self.vocabulary, self.n_documents, self.n_skipped, self.weighting]
        digest = hashlib.sha256(json.dumps(counted).encode())
        for array in (self.pairs.first, self.pairs.columns, self.pairs.sums, self.word_counts):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def provenance(self) -> dict[str, Any]:
        """What is known about them, for people."""
        counted: dict[str, Any] = {"documents": self.n_documents, "tokens": self.n_tokens, "pairs": self.n_pairs}
        counted |= {"weighting": self.weighting}
        digest = None if self.ledger.digest is None else str(self.ledger.digest)
        return {"sha256": self.checksum(), "digest": digest} | counted

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, complete or not at all."""
        file.write(path, self, parts.of(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Moments:
        """Read a file of `save`: checked in full, then memory-mapped. A damaged file is refused."""
        try:
            whole, folds, held_out = file.read(path)
            return cls(
                **whole,
                folds=tuple(cls(**fold) for fold in folds),
                held_out=None if held_out is None else cls(**held_out),
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{path} is not a valid file of moments: {reason(error)}") from None

    def _mass(self) -> int:
        if not self.n_pairs:
            raise ValueError("there is no word pair: no document has two or more tokens of the vocabulary")
        return self.pairs.total()
