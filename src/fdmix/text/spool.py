"""Tokens on hold: text read once, as numbers, in memory or in a file, until the vocabulary is known."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fdmix.kernels.threads import streamed, thread_count
from fdmix.ledger import Digest, SourceLog
from fdmix.preparation import Cleaning
from fdmix.text.batches import Batch
from fdmix.text.lexicon import Lexicon
from fdmix.text.sources import Source

TOKENS, LENGTHS = "tokens", "lengths"


@dataclass(frozen=True, eq=False)
class TokenBatch:
    """Some documents as token numbers of a lexicon, one after the other, and how many tokens each has."""

    lexicon: Lexicon
    ids: Any
    lengths: Any
    kept: Mapping[str, list[Any]] = field(default_factory=dict)


def token_batches(
    source: Source,
    cleaning: Cleaning,
    n_threads: int | None = None,
    report: Callable[[str, int, int | None], Any] | None = None,
    lexicons: list[Lexicon] | None = None,
    log: SourceLog | None = None,
) -> Iterator[TokenBatch]:
    """Read and tokenise a source in threads, each with a lexicon of its own; batches come in the source's order.

    log : gets the fingerprints of what is read
    """
    workers = 1 if cleaning.tokenizer is not None else thread_count(n_threads)
    lexicons = [] if lexicons is None else lexicons
    lexicons += [Lexicon(cleaning) for _ in range(workers - len(lexicons))]
    free: queue.SimpleQueue[Lexicon] = queue.SimpleQueue()
    for lexicon in lexicons:
        free.put(lexicon)

    def work(batch: Batch) -> tuple[TokenBatch, int, str, Digest]:
        digest = Digest() if log is None else Digest.of_texts(batch.data, batch.offsets)
        lexicon = free.get()
        try:
            return TokenBatch(lexicon, *lexicon.read(batch), batch.kept), batch.consumed, batch.source, digest
        finally:
            free.put(lexicon)

    for tokens, consumed, name, digest in streamed(work, source.batches(), workers):
        if log is not None:
            log.add(name, tokens.lengths.size, digest)
        if report is not None:
            report("reading", consumed, source.size)
        yield tokens


class Spool:
    """Batches of tokens that can be gone through again and again."""

    def __init__(self, cleaning: Cleaning, folder: Path | None) -> None:
        self.cleaning, self.folder = cleaning, folder
        self.lexicons: list[Lexicon] = []
        self.batches: list[TokenBatch] = []
        self.index: list[tuple[int, int, int]] = []  # lexicon, tokens and documents of each batch in the file
        self.n_documents = 0
        self.log = SourceLog()

    @classmethod
    def in_memory(cls, cleaning: Cleaning) -> Spool:
        """Kept as arrays."""
        return cls(cleaning, None)

    @classmethod
    def in_file(cls, cleaning: Cleaning, folder: Path) -> Spool:
        """Kept in files of a folder."""
        return cls(cleaning, folder)

    def __len__(self) -> int:
        return len(self.batches) + len(self.index)

    def fill(self, source: Source, n_threads: int | None = None, report: Any = None) -> None:
        """Read a source."""
        for batch in token_batches(source, self.cleaning, n_threads, report, self.lexicons, self.log):
            self.n_documents += batch.lengths.size
            if self.folder is None:
                self.batches.append(batch)
                continue
            for name, array in ((TOKENS, batch.ids), (LENGTHS, batch.lengths)):
                with (self.folder / name).open("ab") as file:
                    file.write(memoryview(array))
            self.index.append((self.lexicons.index(batch.lexicon), batch.ids.size, batch.lengths.size))

    def __iter__(self) -> Iterator[TokenBatch]:
        return self.after(0)

    def after(self, done: int) -> Iterator[TokenBatch]:
        """The batches but the first `done`."""
        if self.folder is None:
            yield from self.batches[done:]
            return
        sizes = np.array(self.index, np.int64).reshape(-1, 3)
        if not len(sizes):
            return
        with (self.folder / TOKENS).open("rb") as tokens, (self.folder / LENGTHS).open("rb") as lengths:
            tokens.seek(4 * int(sizes[:done, 1].sum()))
            lengths.seek(4 * int(sizes[:done, 2].sum()))
            for number, n_tokens, n_documents in sizes[done:].tolist():
                ids = np.frombuffer(tokens.read(4 * n_tokens), np.int32)
                yield TokenBatch(self.lexicons[number], ids, np.frombuffer(lengths.read(4 * n_documents), np.int32))
