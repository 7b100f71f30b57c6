"""From documents to moments, in one pass: a corpus or a stream, block by block, with folds or a part held out."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.vocabulary import as_vocabulary
from fdmix.moments.blocks import Block, PreparationsOfStream, blocks_of, buckets, corpora, tally
from fdmix.moments.cost import Estimate
from fdmix.moments.ledger import Ledger
from fdmix.moments.weighting import known_weighting
from fdmix.runtime.memory import available_bytes
from fdmix.runtime.whole_numbers import whole_number

if TYPE_CHECKING:
    from fdmix.moments.moments import Moments

HELD_OUT_BUCKETS = 16  # one of these buckets of documents is held out: enough to tell topics apart, little to lose


@dataclass(frozen=True)
class Counting:
    """How to count: the options of `Moments.of`, which explains them, and the class of the result."""

    result: type[Moments]
    weighting: str
    n_folds: int
    held_out: bool
    n_threads: int | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_folds", whole_number("folds", self.n_folds))
        if self.n_folds == 1:
            raise ValueError("folds must be 0 (none) or at least 2, not 1")
        known_weighting(self.weighting)

    def count(
        self, counts: Any, vocabulary: Iterable[str] | None, weights: Any, memory_limit: float | None
    ) -> Moments:
        """The moments of a corpus, of a table of counts, or of a stream of either."""
        source = corpora(counts, None if vocabulary is None else as_vocabulary(vocabulary))
        limit = available_bytes() if memory_limit is None else memory_limit
        if not isinstance(source, Corpus):
            preparations = PreparationsOfStream(source)
            total = self._sum(blocks_of(iter(preparations), self.weighting, weights), limit)
            return total.prepared(preparations.total)
        Estimate.refuse_beyond(limit, source.counts, self.n_folds)
        total = self._sum(blocks_of(source, self.weighting, weights))
        if source.preparation is None:
            return total
        copies = np.where(source.lengths >= 2, 1 if weights is None else weights, 0)
        return total.prepared(source.preparation.weighted(copies))

    def _sum(self, blocks: Iterator[Block], limit: float | None = None) -> Moments:
        """The sum over blocks; with a limit, a block that would take more bytes is refused before it is counted."""
        total: Moments | None = None
        for block in blocks:
            if limit is not None:
                taken = 0 if total is None else 2 * total.nbytes
                Estimate.refuse_beyond(limit, block.counts, self.n_folds, taken)
            folds = [self._tallied(part) for part in buckets(block, self.n_folds)] if self.n_folds else []
            whole = None if folds else self._tallied(block)
            apart = buckets(block, HELD_OUT_BUCKETS, n_kept=1)[0] if self.held_out and not folds else None
            del block  # adding is where memory peaks
            if whole is None:
                whole = replace(reduce(operator.add, folds), folds=tuple(folds))
            if apart is not None:
                whole = replace(whole, held_out=self._tallied(apart))
            del folds, apart
            total = whole if total is None else total + whole
        if total is None:
            raise ValueError("there are no counts: give at least one table of documents x words")
        return total

    def _tallied(self, block: Block) -> Moments:
        counted = tally(block, self.n_threads)
        return self.result(
            counted.pairs,
            counted.word_counts,
            counted.document_frequencies,
            counted.n_documents,
            counted.n_skipped,
            block.vocabulary,
            ledger=Ledger(counted.digest),
            weighting=block.weighting,
        )
