"""What the choice of words asks about documents on a cluster, as sums over partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fdmix.corpus.preparation import Cleaning
from fdmix.distributed.partitions import Partitions
from fdmix.distributed.tokens import PartitionTokens
from fdmix.moments.ledger import SourceLog
from fdmix.text.lexicon import Lexicon
from fdmix.text.notices import log_notices
from fdmix.text.statistics import NgramQuestion, TextStatistics, WordQuestion
from fdmix.text.tokenising import TokenBatch


@dataclass(frozen=True, eq=False)
class TokenTotals:
    """How often each token of some documents was seen, as an Arrow table: it is small on the wire and adds up fast.

    tokens : columns `token` and `n`, each token once, in any order
    """

    tokens: pa.Table
    n_documents: int

    @classmethod
    def of(cls, partition: PartitionTokens) -> TokenTotals:
        """Of one partition."""
        names = partition.lexicon.tokens()
        counts = partition.lexicon.counts[: len(names)]
        table = pa.table({"token": pa.array(names, pa.large_string()), "n": pa.array(counts, pa.int64())})
        return cls(table, partition.n_documents)

    def __add__(self, other: TokenTotals) -> TokenTotals:
        both = pa.concat_tables([self.tokens, other.tokens])
        summed = both.group_by("token", use_threads=False).aggregate([("n", "sum")])
        table = pa.table({"token": summed.column("token"), "n": summed.column("n_sum")}).combine_chunks()
        return TokenTotals(table, self.n_documents + other.n_documents)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickling, as one buffer: buffers that travel one by one arrive unaligned, and Arrow warns of them."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.tokens.schema) as stream:
            stream.write_table(self.tokens)
        return _token_totals_of, (sink.getvalue().to_pybytes(), self.n_documents)

    def totals(self) -> dict[str, int]:
        """The number of each token."""
        names, counts = (self.tokens.column(name).to_pylist() for name in ("token", "n"))
        return dict(zip(names, counts, strict=True))

    def lexicon(self, cleaning: Cleaning) -> Lexicon:
        """A lexicon with these tokens, for what reads one; it cannot look up tokens."""
        chunks = self.tokens.column("token").combine_chunks()
        array = chunks.chunk(0) if isinstance(chunks, pa.ChunkedArray) else chunks
        whole = "".join(array.to_pylist()).encode()
        lengths = pc.binary_length(array).to_numpy(zero_copy_only=False)
        lexicon = Lexicon(cleaning)
        lexicon.pool = np.frombuffer(whole, np.uint8)
        lexicon.starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]).astype(np.int64)
        lexicon.counts = self.tokens.column("n").to_numpy()
        lexicon.size = len(array)
        return lexicon


class ClusterText(TextStatistics):
    """A text whose tokens are kept on the workers of a cluster."""

    def __init__(self, tokens: Partitions, cleaning: Cleaning) -> None:
        self.tokens, self.cleaning = tokens, cleaning
        (self._totals,) = tokens.summed(_token_totals, "collecting words") or [_token_totals(None)[0]]

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return self._totals.n_documents

    @property
    def n_tokens(self) -> int:
        """The number of tokens."""
        return pc.sum(self._totals.tokens.column("n")).as_py() or 0

    def token_totals(self) -> Mapping[str, int]:
        """How often each token was seen."""
        return self._totals.totals()

    def ask(self, question: WordQuestion | NgramQuestion) -> Any:
        """The answer for the whole text."""
        work = _Answer(question)
        (total,) = self.tokens.summed(work, "choosing words") or work(None)
        return total

    def log_notices(self) -> None:
        """Log the same warnings about the text as on one machine."""
        if self.cleaning.tokenizer is None:
            log_notices([self._totals.lexicon(self.cleaning)])


@dataclass(frozen=True)
class _Answer:
    """The answer to a question about one partition."""

    question: WordQuestion | NgramQuestion

    def __call__(self, partition: PartitionTokens | None) -> list[Any]:
        return [self.question.answer(_batches(partition))]


def _batches(partition: PartitionTokens | None) -> Iterator[TokenBatch]:
    return iter(() if partition is None else partition.batches)


def _token_totals_of(buffer: bytes, n_documents: int) -> TokenTotals:
    """What `TokenTotals.__reduce__` wrote."""
    return TokenTotals(pa.ipc.open_stream(buffer).read_all(), n_documents)


def _token_totals(partition: PartitionTokens | None) -> list[TokenTotals]:
    if partition is None:
        return [TokenTotals(pa.table({"token": pa.array([], pa.large_string()), "n": pa.array([], pa.int64())}), 0)]
    return [TokenTotals.of(partition)]


def joined_logs(a: SourceLog, b: SourceLog) -> SourceLog:
    """What was read in both."""
    total = SourceLog()
    for log in (a, b):
        for path, read in log.read.items():
            total.add(path, *read)
    return total
