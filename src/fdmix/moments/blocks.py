"""From any form of counts to whole-number tallies: cut into blocks, weigh, count, put into buckets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.content_hashes import content_hashes
from fdmix.corpus.corpus import Corpus
from fdmix.corpus.counts import document_lengths, whole_counts
from fdmix.corpus.preparation import Preparation, joined
from fdmix.corpus.vocabulary import Vocabulary
from fdmix.moments.inverted_index import Integers, count_words
from fdmix.moments.ledger import Digest
from fdmix.moments.pair_counting import BLOCK_ENTRIES, count_pairs
from fdmix.moments.pair_sums import PairSums
from fdmix.moments.weighting import WEIGHTINGS, Weighting

LONGEST_DOCUMENT = 200_000
STREAM_ENTRIES = 4_000_000  # counts of small chunks of a stream that are put together


@dataclass(frozen=True)
class Tally:
    """What is counted of some documents: all of it adds up."""

    pairs: PairSums
    word_counts: Integers
    document_frequencies: Integers
    n_documents: int
    n_skipped: int
    digest: Digest


@dataclass(frozen=True)
class Block:
    """Some documents, how often each counts, the words of the columns, and the weighting by length."""

    counts: sp.csr_array
    copies: Integers
    vocabulary: Vocabulary | None
    weighting: str


def corpora(counts: Any, vocabulary: Vocabulary | None) -> Corpus | Iterator[Corpus]:
    """One checked corpus, or a stream of them, from whatever form of counts was given."""
    if not _is_stream(counts):
        return _as_corpus(counts, vocabulary, copy=False)
    return (_as_corpus(_table(chunk), vocabulary, copy=True) for chunk in counts)


def blocks_of(source: Corpus | Iterator[Corpus], weighting: str, weights: Any = None) -> Iterator[Block]:
    """Cut a corpus or a stream of corpora into blocks of bounded size.

    Small chunks of a stream are put together, large ones are cut. Nothing depends on where the cuts are.
    """
    if isinstance(source, Corpus):
        yield from _cut(Block(source.counts, _copies(weights, len(source)), source.vocabulary, weighting))
        return
    if weights is not None:
        raise ValueError("weights go with one table of counts: for a stream, add Moments.of(chunk, weights=...)")
    waiting: list[Block] = []
    entries = 0
    for corpus in source:
        block = Block(corpus.counts, _copies(None, len(corpus)), corpus.vocabulary, weighting)
        entries += block.counts.nnz + len(corpus)
        if waiting and (entries > STREAM_ENTRIES or not _same_words(waiting[0], block)):
            joined, waiting, entries = _joined(waiting), [], block.counts.nnz + len(corpus)
            yield from _cut(joined)
        waiting.append(block)
    if waiting:
        yield from _cut(_joined(waiting))


def tally(block: Block, n_threads: int | None = None) -> Tally:
    """Count one block."""
    lengths = document_lengths(block.counts)
    copies = np.where(lengths >= 2, block.copies, 0)
    n_documents = int(copies.sum())
    word_counts, frequencies = count_words(block.counts, copies)
    digest = Digest.of_counts(block.counts, copies, block.vocabulary, n_threads)
    weight = copies * WEIGHTINGS[block.weighting].of_pairs(lengths)
    del lengths, copies  # counting is where memory peaks
    return Tally(
        count_pairs(block.counts, weight, n_threads),
        word_counts,
        frequencies,
        n_documents,
        int(block.copies.sum()) - n_documents,
        digest,
    )


def buckets(block: Block, n_buckets: int, n_kept: int | None = None) -> list[Block]:
    """Spread the documents over buckets by a hash of their words and counts; the first n_kept of them.

    bucket_d = mix(sum_u c_d(u) hash(word u)) mod n: it does not depend on the words' order or positions,
    nor on the other documents, so that shards agree on it and removal finds the right bucket.
    """
    bucket = (content_hashes(block.counts, block.vocabulary) % np.uint64(n_buckets)).astype(np.int64)
    return [
        replace(block, counts=block.counts[bucket == k], copies=block.copies[bucket == k])
        for k in range(n_buckets if n_kept is None else n_kept)
    ]


def _is_stream(counts: Any) -> bool:
    """Whether this is a stream of tables rather than one table."""
    if isinstance(counts, Corpus | str | bytes) or sp.issparse(counts) or hasattr(counts, "__array__"):
        return False
    if isinstance(counts, list | tuple):
        return not counts or _is_table(counts[0])
    return isinstance(counts, Iterable)


def _is_table(item: Any) -> bool:
    return isinstance(item, Corpus) or sp.issparse(item) or getattr(item, "ndim", 0) == 2


def _table(chunk: Any) -> Any:
    if not _is_table(chunk):
        raise TypeError(
            f"a stream must give tables of counts or Corpora, not {type(chunk).__name__}: for documents as tokens or "
            "(id, count) pairs use Corpus.from_documents or Corpus.from_bags"
        )
    return chunk


def _as_corpus(counts: Any, vocabulary: Vocabulary | None, *, copy: bool) -> Corpus:
    if not isinstance(counts, Corpus):
        return Corpus.trusting(whole_counts(counts, copy=copy), vocabulary)
    if vocabulary is None or counts.vocabulary == vocabulary:
        return counts
    if counts.vocabulary is not None:
        raise ValueError("the corpus has a vocabulary already, different from the one given")
    return Corpus.trusting(counts.counts, vocabulary)


def _same_words(a: Block, b: Block) -> bool:
    if a.vocabulary != b.vocabulary:
        return False
    if a.counts.shape[1] != b.counts.shape[1]:
        raise ValueError(
            f"chunks have {a.counts.shape[1]:,} and {b.counts.shape[1]:,} columns, and no words to match them by"
        )
    return True


def _copies(weights: Any, n_documents: int) -> Integers:
    if weights is None:
        return np.ones(n_documents, np.int64)
    given = np.asarray(weights)
    given = given.astype(np.int64) if given.dtype == bool else given
    if given.shape != (n_documents,):
        raise ValueError(f"weights must be {n_documents:,} numbers, one per document, not of shape {given.shape}")
    if given.dtype.kind not in "iuf" or not np.isfinite(given).all():
        raise ValueError("document weights must be numbers, without NaN or infinite values")
    if (given < 0).any() or (given != np.floor(given)).any():
        raise ValueError("document weights must be whole numbers from 0 upwards: how often each document counts")
    return given.astype(np.int64)


def _joined(blocks: list[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]
    counts = sp.csr_array(sp.vstack([block.counts for block in blocks], format="csr"))
    return replace(blocks[0], counts=counts, copies=np.concatenate([block.copies for block in blocks]))


def _cut(block: Block) -> Iterator[Block]:
    n_documents, weighting = block.counts.shape[0], WEIGHTINGS[block.weighting]
    lengths = document_lengths(block.counts)
    _refuse_beyond_sums(lengths, block.copies, weighting)
    entries = block.counts.indptr
    weight = np.concatenate([[0], np.cumsum(block.copies * weighting.of(lengths))])
    cuts = [0]
    while cuts[-1] < n_documents:
        begin = cuts[-1]
        by_entries = int(np.searchsorted(entries, entries[begin] + BLOCK_ENTRIES, side="right")) - 1
        by_weight = int(np.searchsorted(weight, weight[begin] + weighting.block, side="right")) - 1
        cuts.append(max(begin + 1, min(by_entries, by_weight, n_documents)))
    if len(cuts) <= 2:
        yield block
        return
    for begin, end in pairwise(cuts):
        yield replace(block, counts=block.counts[begin:end], copies=block.copies[begin:end])


def _refuse_beyond_sums(lengths: Integers, copies: Integers, weighting: Weighting) -> None:
    """Refuse documents that are too long, and weights with which the sums of one document would not fit 64 bits."""
    if not lengths.size:
        return
    if lengths.max() > LONGEST_DOCUMENT:
        raise ValueError(
            f"a document has {lengths.max():,} tokens, more than the {LONGEST_DOCUMENT:,} that fdmix takes: "
            "split long texts, for instance into paragraphs"
        )
    most = weighting.block // np.maximum(weighting.of(lengths), 1)
    if (beyond := np.flatnonzero(copies > most)).size:
        raise OverflowError(f"a document weight is larger than {most[beyond[0]]:,}: add moments of smaller weights")


class PreparationsOfStream:
    """Adds up the preparations of a stream of corpora as they pass; `total` is None if one of them has none."""

    def __init__(self, stream: Iterator[Corpus]) -> None:
        self.stream, self.first = stream, True
        self.total: Preparation | None = None

    def __iter__(self) -> Iterator[Corpus]:
        for corpus in self.stream:
            own = None if corpus.preparation is None else corpus.preparation.weighted(corpus.lengths >= 2)
            self.total = own if self.first else joined(self.total, own)
            self.first = False
            yield corpus
