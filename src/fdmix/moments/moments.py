"""The co-occurrence moments of a corpus (the paper's Algorithm 1): exact, additive, mergeable."""

from __future__ import annotations

import hashlib
import json
import operator
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.preparation import Cleaning, Preparation, joined, least_count
from fdmix.corpus.vocabulary import Vocabulary, as_vocabulary, positions, require_known, some, united
from fdmix.display import html_table
from fdmix.moments import file
from fdmix.moments.blocks import Block, PreparationsOfStream, Tally, blocks_of, buckets, corpora, tally
from fdmix.moments.cost import Estimate
from fdmix.moments.inverted_index import Integers
from fdmix.moments.ledger import Ledger, SourceLog
from fdmix.moments.pair_sums import PairSums
from fdmix.moments.weighting import DEFAULT_WEIGHTING, known_weighting
from fdmix.runtime.memory import available_bytes
from fdmix.runtime.whole_numbers import whole_number
from fdmix.storage.arrays import FileError
from fdmix.storage.facts import reason

HELD_OUT_BUCKETS = 16  # one of these buckets of documents is held out: enough to tell topics apart, little to lose


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
        for fold in self._parts():
            if fold.n_words != n_words or fold.vocabulary != self.vocabulary or fold._parts():
                raise ValueError("the folds must have the words of the whole, and no folds of their own")
            if fold.weighting != self.weighting:
                raise ValueError("the folds must weigh documents as the whole does")
        if self.folds and sum(fold.n_documents for fold in self.folds) != self.n_documents:
            raise ValueError("the folds' documents must add up to the whole")

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
        folds = whole_number("folds", folds)
        if folds == 1:
            raise ValueError(f"folds must be 0 (none) or at least 2, not {folds}")
        known_weighting(weighting)
        words = None if vocabulary is None else as_vocabulary(vocabulary)
        source = corpora(counts, words)
        preparations = PreparationsOfStream(iter(()) if isinstance(source, Corpus) else source)
        limit = available_bytes() if memory_limit is None else memory_limit
        total: Moments | None = None
        if isinstance(source, Corpus):
            Estimate.refuse_beyond(limit, source.counts, folds)
        for block in blocks_of(source if isinstance(source, Corpus) else iter(preparations), weighting, weights):
            if not isinstance(source, Corpus):
                Estimate.refuse_beyond(limit, block.counts, folds, 0 if total is None else 2 * total.nbytes)
            parts = [
                cls._from_tally(tally(part, n_threads), part)
                for part in (buckets(block, folds) if folds else [block])
            ]
            apart = buckets(block, HELD_OUT_BUCKETS, n_kept=1)[0] if held_out and not folds else None
            del block  # adding is where memory peaks
            whole = reduce(operator.add, parts)
            if folds:
                whole = replace(whole, folds=tuple(parts))
            if apart is not None:
                whole = replace(whole, held_out=cls._from_tally(tally(apart, n_threads), apart))
            del parts, apart
            total = whole if total is None else total + whole
        if total is None:
            raise ValueError("there are no counts: give at least one table of documents x words")
        if isinstance(source, Corpus) and source.preparation is not None:
            copies = np.where(source.lengths >= 2, 1 if weights is None else weights, 0)
            return total.prepared(source.preparation.weighted(copies))
        return total.prepared(preparations.total)

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
        return own + sum(part.nbytes for part in self._parts())

    @property
    def matrix(self) -> sp.csr_array:
        """Mhat: float64 CSR, symmetric, no negative entry, sums to 1. Made anew at each call."""
        return self.pairs.symmetric(1.0 / self._mass())

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
        a, b = self._aligned(other)
        return a._zip(b, 1)

    def __radd__(self, other: object) -> Moments:
        """So that `sum(shards)` works, which begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Moments) -> Moments:
        """Take documents out again, exactly; refused if they cannot have been part of these moments."""
        if not isinstance(other, Moments):
            return NotImplemented
        if self.vocabulary is not None and other.vocabulary is not None:
            unseen = [
                word
                for word, position, n in zip(
                    other.vocabulary,
                    positions(other.vocabulary, self.vocabulary),
                    other.word_counts,
                    strict=True,
                )
                if position < 0 and n > 0
            ]
            if unseen:
                raise ValueError(
                    f"cannot remove these documents: they hold words that were never counted: {some(unseen)}"
                )
            other = other._in_order_of(self.vocabulary)
        a, b = self._aligned(other)
        try:
            rest = a._zip(b, -1)
            if rest.pairs.row_sums()[rest.word_counts == 0].any() or (rest.n_pairs and not rest.n_documents):
                raise ValueError("word pairs would be left without their words")
        except ValueError as error:
            raise ValueError(
                f"cannot remove these documents: they were not all part of these moments ({error})"
            ) from None
        return rest.without_unused_words() if rest.is_open else rest

    def prepared(self, preparation: Preparation | None) -> Moments:
        """The same moments, knowing how text became their words."""
        return replace(self, preparation=preparation)

    def named(self, vocabulary: Vocabulary | None) -> Moments:
        """The same moments with these words for the columns, in the parts as well."""
        parts: dict[str, Any] = {"folds": tuple(fold.named(vocabulary) for fold in self.folds)}
        parts["held_out"] = None if self.held_out is None else self.held_out.named(vocabulary)
        return replace(self, vocabulary=vocabulary, **parts)

    def recorded(self, log: SourceLog) -> Moments:
        """The same moments, knowing the sources that their documents were read from."""
        return replace(self, ledger=log.ledger(self.ledger.digest))

    @property
    def judges(self) -> Moments | None:
        """The moments of the documents that a fit judges by: the part held out, or the first fold; None without."""
        return self.folds[0] if self.folds else self.held_out

    def without_judges(self) -> Moments:
        """The moments of all documents but those that a fit judges by."""
        judges = self.judges
        return self if judges is None else replace(self, folds=(), held_out=None) - judges

    def _parts(self) -> tuple[Moments, ...]:
        """The moments that are kept of parts of the documents."""
        return self.folds if self.held_out is None else (*self.folds, self.held_out)

    def without_fold(self, fold: int) -> Moments:
        """The moments of all documents outside one fold: what to train on when `folds[fold]` is held out."""
        if not self.folds:
            raise ValueError("these moments keep no folds: count with Moments.of(..., folds=10)")
        if not 0 <= fold < len(self.folds):
            raise ValueError(f"there are folds 0 to {len(self.folds) - 1}, but no fold {fold}")
        rest = reduce(operator.add, [part for k, part in enumerate(self.folds) if k != fold])
        return rest.prepared(self.preparation)  # its forms are those of all folds: they only choose what is shown

    def merge_words(self, names: Mapping[str, str]) -> Moments:
        """Join words under one name, `{"colour": "color"}`: exactly what counting them as one word gives.

        A name that is not a word yet becomes one. Only document frequencies are not exact afterwards: those of
        joined words add up, so a document that held both counts twice. Folds stay those of the documents as they were
        counted: add and remove documents before joining words, or join them on both sides.
        """
        words = self._words()
        require_known(names, words)
        moved = {word: name for word, name in names.items() if word != name}
        if both := sorted(set(moved) & set(moved.values())):
            raise ValueError(f"{both[0]!r} cannot both be renamed and be the name that another word gets")
        result = tuple(dict.fromkeys(moved.get(word, word) for word in words))
        if not moved:
            return self
        edits = self._edited("merge", sorted(moved.items()))
        joined = self._relabel(positions([moved.get(word, word) for word in words], result), result, edits=edits)
        return joined._renamed_forms(moved)

    def drop_words(self, words: Iterable[str]) -> Moments:
        """Leave words out.

        Not quite what counting without them gives: the other words' pairs keep the weight that they had in the whole
        document, so documents with many dropped tokens count less. The result is still a mixture of the same topics,
        restricted to the remaining words.
        """
        known = self._words()
        if isinstance(words, str):
            raise TypeError(f"drop_words takes a list of words, not the single string {words!r}")
        gone = set(words)
        require_known(gone, known)
        return self.restrict([word for word in known if word not in gone])

    def restrict(self, vocabulary: Iterable[str]) -> Moments:
        """Keep only these words, in this order (with the same caveat as `drop_words`)."""
        kept = as_vocabulary(vocabulary)
        require_known(kept, self._words())
        used = {word for word, n in zip(self._words(), self.word_counts, strict=True) if n > 0}
        dropped = sorted(used - set(kept))
        edits = self._edited("drop", dropped) if dropped else self.edits
        result = self._relabel(positions(self._words(), kept), kept, edits=edits)._renamed_forms({})
        return result._closed() if dropped else result

    def top(self, n: int) -> Moments:
        """Keep the n words with the most tokens, in their present order (same caveat as `drop_words`)."""
        if n < 1:
            raise ValueError(f"top(n) keeps at least one word, not {n}")
        best = np.sort(np.argsort(-self.word_counts, kind="stable")[:n])
        target = np.full(self.n_words, -1, np.int64)
        target[best] = np.arange(best.size)
        if best.size == self.n_words:
            return self
        if self.vocabulary is not None:
            return self.restrict(self.vocabulary[i] for i in best)
        edits = self._edited("drop", np.flatnonzero(target < 0).tolist())
        return self._relabel(target, None, best.size, edits=edits)

    @property
    def is_open(self) -> bool:
        """Whether every word of the text was counted, to be pruned before a fit."""
        return self.preparation is not None and self.preparation.cleaning.open_vocabulary

    def prune(
        self, min_count: int | str | None = None, max_words: int | None = None, max_share: float | None = None
    ) -> Moments:
        """Leave out rare and very common words, by the rules of the text's `Cleaning` or by those given.

        min_count : keep words with at least this many tokens; "auto" is 5, or 1 for fewer than 1,000 documents
        max_words : keep the most frequent ones of these
        max_share : leave out words that are in more than this share of the documents

        The same caveat as for `drop_words`: words that are left out still count in the lengths of documents.

        >>> Moments.of([[2, 1, 0], [1, 1, 1], [1, 0, 2]], ["ant", "bee", "cat"]).prune(max_words=2).vocabulary
        ('ant', 'cat')
        """
        preparation = self.preparation or Preparation(Cleaning(min_count=1))
        given: dict[str, Any] = {"min_count": min_count, "max_words": max_words, "max_share": max_share}
        chosen = {name: rule for name, rule in given.items() if rule is not None}
        rules = replace(preparation.cleaning, open_vocabulary=False, **chosen)
        rules = replace(rules, min_count=least_count(rules.min_count, self.n_documents))
        words = self._words()
        often = self.word_counts >= int(rules.min_count)
        kept = np.flatnonzero(often & (self.document_frequencies <= rules.max_share * self.n_documents))
        by_count = sorted(kept.tolist(), key=lambda u: (-self.word_counts[u], words[u]))
        pruned = self.restrict([words[u] for u in sorted(by_count[: rules.max_words])])
        if pruned.preparation is None:
            return pruned
        return pruned.prepared(replace(pruned.preparation, cleaning=rules))

    def without_unused_words(self) -> Moments:
        """The same moments over the words that have a token."""
        words = self._words()
        used = tuple(word for word, n in zip(words, self.word_counts, strict=True) if n > 0)
        return self if len(used) == len(words) else self.restrict(used)

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
        file.write(path, self, self._parts())

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

    @classmethod
    def _from_tally(cls, tally: Tally, block: Block) -> Moments:
        return cls(
            tally.pairs, tally.word_counts, tally.document_frequencies, tally.n_documents, tally.n_skipped,
            block.vocabulary, ledger=Ledger(tally.digest), weighting=block.weighting,
        )  # fmt: skip

    def _mass(self) -> int:
        if not self.n_pairs:
            raise ValueError("there is no word pair: no document has two or more tokens of the vocabulary")
        return self.pairs.total()

    def _words(self) -> Vocabulary:
        if self.vocabulary is None:
            raise ValueError("these moments have no vocabulary: give one, Moments.of(counts, vocabulary)")
        return self.vocabulary

    def _edited(self, verb: str, words: Any) -> str:
        """The fingerprint after one more edit."""
        text = json.dumps([self.edits, verb, words])
        return blake2b(text.encode(), digest_size=8).hexdigest()

    def _aligned(self, other: Moments) -> tuple[Moments, Moments]:
        """Both over the same words, in the same order."""
        if self.weighting != other.weighting:
            raise ValueError(
                f"documents are weighted by {self.weighting!r} in one and by {other.weighting!r} in the other: count "
                "both with the same weighting"
            )
        if len(self.folds) != len(other.folds):
            raise ValueError(
                f"one keeps {len(self.folds)} folds and the other {len(other.folds)}: count both with the same folds="
            )
        if self.folds and self.edits != other.edits:
            raise ValueError(
                "words were joined or dropped on one side only, so the folds do not match: do the same on both sides"
            )
        if (self.vocabulary is None) != (other.vocabulary is None):
            raise ValueError("one has a vocabulary and the other has none: give both theirs")
        if self.vocabulary is None or other.vocabulary is None:
            if self.n_words != other.n_words:
                raise ValueError(
                    f"{self.n_words:,} and {other.n_words:,} words cannot be matched without vocabularies"
                )
            return self, other
        words = united(self.vocabulary, other.vocabulary)
        return self._in_order_of(words), other._in_order_of(words)

    def _in_order_of(self, words: Vocabulary | None) -> Moments:
        """The same moments over another vocabulary, which holds all words that occur here."""
        if words == self.vocabulary or words is None:
            return self
        return self._relabel(positions(self._words(), words), words, edits=self.edits)

    def _zip(self, other: Moments, sign: int) -> Moments:
        tallies = {}
        for name in ("word_counts", "document_frequencies"):
            tallies[name] = getattr(self, name) + sign * getattr(other, name)
            if tallies[name].size and tallies[name].min() < 0:
                if name == "document_frequencies" and self.edits != other.edits:
                    tallies[name] = np.maximum(tallies[name], 0)  # those of joined words are not exact
                    continue
                raise ValueError(f"{name.replace('_', ' ')} would become negative")
        return Moments(
            self.pairs + other.pairs if sign > 0 else self.pairs - other.pairs,
            **tallies,
            n_documents=self.n_documents + sign * other.n_documents,
            n_skipped=self.n_skipped + sign * other.n_skipped,
            vocabulary=self.vocabulary,
            folds=tuple(a._zip(b, sign) for a, b in zip(self.folds, other.folds, strict=True)),
            edits=self.edits if self.edits == other.edits else self._edited("with", other.edits),
            preparation=joined(self.preparation, other.preparation, sign),
            ledger=self._joined_ledgers(other, sign),
            weighting=self.weighting,
            held_out=self._joined_held_out(other, sign),
        )

    def _joined_held_out(self, other: Moments, sign: int) -> Moments | None:
        """After different edits of words, the same document may be held out in one and not in the other."""
        if self.held_out is None or other.held_out is None or self.edits != other.edits:
            return None
        return self.held_out._zip(other.held_out, sign)

    def _joined_ledgers(self, other: Moments, sign: int) -> Ledger:
        """Digests are of documents as they were counted: after different edits of words they do not add up."""
        total = self.ledger.joined(other.ledger, sign)
        return total if self.edits == other.edits else replace(total, digest=None)

    def _closed(self) -> Moments:
        """With a closed vocabulary: the words that are left were chosen."""
        if self.preparation is None or not self.is_open:
            return self
        cleaning = replace(self.preparation.cleaning, open_vocabulary=False)
        return self.prepared(replace(self.preparation, cleaning=cleaning))

    def _renamed_forms(self, names: Mapping[str, str]) -> Moments:
        """With the forms of the words that are left, under their new names."""
        if self.preparation is None:
            return self
        return self.prepared(self.preparation.renamed(names, self._words()))

    def _relabel(
        self, target: Integers, words: Vocabulary | None, n_words: int | None = None, *, edits: str
    ) -> Moments:
        size = len(words) if words is not None else int(n_words or 0)
        kept = target >= 0

        def moved(tally: Integers) -> Integers:
            result = np.zeros(size, np.int64)
            np.add.at(result, target[kept], tally[kept])
            return result

        return Moments(
            self.pairs.relabel(target, size),
            moved(self.word_counts),
            moved(self.document_frequencies),
            self.n_documents,
            self.n_skipped,
            words,
            tuple(fold._relabel(target, words, n_words, edits=edits) for fold in self.folds),
            edits,
            self.preparation,
            self.ledger,
            self.weighting,
            None if self.held_out is None else self.held_out._relabel(target, words, n_words, edits=edits),
        )
