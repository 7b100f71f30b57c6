"""What the choice of words asks about documents on a cluster, as sums over partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
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
        names = _token_array(partition.lexicon)
        return cls(_token_table(names, partition.lexicon.counts[: len(names)]), partition.n_documents)

    @classmethod
    def sum_of(cls, all_of_them: Sequence[TokenTotals]) -> TokenTotals:
        """The totals of all documents, each token looked up once. (Arrow's `group_by` would import pandas.)"""
        table = pa.concat_tables([each.tokens for each in all_of_them]).combine_chunks()
        names, counts = (table.column(name).combine_chunks() for name in ("token", "n"))
        encoded = names.dictionary_encode()
        sums = np.zeros(len(encoded.dictionary), np.int64)
        np.add.at(sums, _values(encoded.indices, np.int32), _values(counts, np.int64))
        return cls(_token_table(encoded.dictionary, sums), sum(each.n_documents for each in all_of_them))

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
        names, counts = (self.tokens.column(name).combine_chunks() for name in ("token", "n"))
        lexicon = Lexicon(cleaning)
        lexicon.starts, lexicon.pool = _parts_of(names)
        lexicon.counts = _values(counts, np.int64)
        lexicon.size = len(names)
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


def _token_array(lexicon: Lexicon) -> pa.Array:
    """The distinct tokens as an Arrow array, made of buffers: `pa.array` of a list imports pandas."""
    if lexicon.cleaning.tokenizer is None:
        starts = lexicon.starts[: lexicon.size + 1]
        tokens = _strings(starts, lexicon.pool[: starts[-1]])
        with suppress(pa.ArrowInvalid):  # bytes that are not UTF-8
            tokens.validate(full=True)
            return tokens
    names = [name.encode() for name in lexicon.tokens()]
    return _strings(np.cumsum([0, *map(len, names)]), np.frombuffer(b"".join(names), np.uint8))


def _token_table(names: pa.Array, counts: Any) -> pa.Table:
    numbers = pa.Array.from_buffers(pa.int64(), len(names), [None, pa.py_buffer(np.ascontiguousarray(counts))])
    return pa.table([names, numbers], ["token", "n"])


def _values(numbers: pa.Array, kind: Any) -> Any:
    """The values of an array without nulls; `to_numpy` would import pandas."""
    return np.frombuffer(numbers.buffers()[1] or b"", kind)[numbers.offset :][: len(numbers)]


def _strings(starts: Any, pool: Any) -> pa.Array:
    """Strings whose number e is the UTF-8 text pool[starts[e] : starts[e + 1]]."""
    buffers = [None, *(pa.py_buffer(np.ascontiguousarray(array)) for array in (starts.astype(np.int64), pool))]
    return pa.Array.from_buffers(pa.large_string(), starts.size - 1, buffers)


def _parts_of(strings: pa.LargeStringArray) -> tuple[Any, Any]:
    """(starts, pool), as in `_strings`."""
    if not len(strings):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    _, offsets, data = strings.buffers()
    starts = np.frombuffer(offsets, np.int64)[strings.offset :][: len(strings) + 1]
    return starts - starts[0], np.frombuffer(data or b"", np.uint8)[starts[0] : starts[-1]]


def _token_totals_of(buffer: bytes, n_documents: int) -> TokenTotals:
    """What `TokenTotals.__reduce__` wrote."""
    return TokenTotals(pa.ipc.open_stream(buffer).read_all(), n_documents)


def _token_totals(partition: PartitionTokens | None) -> list[TokenTotals]:
    if partition is None:
        nothing = pa.schema([("token", pa.large_string()), ("n", pa.int64())]).empty_table()
        return [TokenTotals(nothing, 0)]
    return [TokenTotals.of(partition)]


def joined_logs(a: SourceLog, b: SourceLog) -> SourceLog:
    """What was read in both."""
    total = SourceLog()
    for log in (a, b):
        for path, read in log.read.items():
            total.add(path, *read)
    return total
