"""Tokens on hold: text read once, as numbers, in memory or in a file, until the vocabulary is known."""

from __future__ import annotations

import hashlib
import os
import queue
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fdmix.corpus.preparation import Cleaning
from fdmix.moments.ledger import Digest, SourceLog
from fdmix.runtime.threads import streamed, thread_count
from fdmix.storage.arrays import FileError
from fdmix.text.batches import Batch
from fdmix.text.lexicon import Lexicon
from fdmix.text.sources import Source

TOKENS, LENGTHS = "tokens", "lengths"
LARGEST = 2**31  # tokens or documents of a batch


class DamagedFolderError(FileError):
    """A folder of tokens that are not as they were written."""

    def __init__(self, folder: Path, why: str) -> None:
        super().__init__(f"{folder} is damaged ({why}): delete the folder and start again")


@dataclass(frozen=True, eq=False)
class TokenBatch:
    """Some documents as token numbers of a lexicon, one after the other, and how many tokens each has."""

    lexicon: Lexicon
    ids: Any
    lengths: Any
    kept: Mapping[str, list[Any]] = field(default_factory=dict)

    def is_sound(self) -> bool:
        """Whether all numbers are tokens of the lexicon, and the documents' tokens are as many as there are."""
        known = not self.ids.size or 0 <= self.ids.min() <= self.ids.max() < self.lexicon.size
        return bool(
            known and (not self.lengths.size or self.lengths.min() >= 0) and self.lengths.sum() == self.ids.size
        )


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
        self.index: list[tuple[int, int, int, int]] = []  # lexicon, tokens, documents and checksum of each batch
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
            number = self.lexicons.index(batch.lexicon)
            checksum = _checksum(batch.ids, batch.lengths)
            self.index.append((number, batch.ids.size, batch.lengths.size, checksum))

    def indexed(self) -> Any:
        """The batches in the files, a row each, to be stored."""
        return np.array(self.index, np.int64).reshape(-1, 4)

    def restore(self, index: Any) -> None:
        """Go on with the batches that `indexed` gave; the lexicons must be there."""
        if index.ndim != 2 or index.shape[1] != 4 or index.dtype != np.int64:
            raise ValueError("the list of batches has the wrong form")
        numbers, sizes = index[:, 0], index[:, 1:3]
        if ((numbers < 0) | (numbers >= len(self.lexicons))).any() or ((sizes < 0) | (sizes > LARGEST)).any():
            raise ValueError("the list of batches makes no sense")
        for number, lexicon in enumerate(self.lexicons):
            if lexicon.counts[: lexicon.size].sum() != sizes[numbers == number, 0].sum():
                raise ValueError("the numbers of tokens do not match")
        self.index = [tuple(row) for row in index.tolist()]
        self.n_documents = int(sizes[:, 1].sum())

    def cut(self) -> None:
        """Cut off what the files hold beyond the batches that are known."""
        folder = self._folder()
        for column, name in ((1, TOKENS), (2, LENGTHS)):
            size = 4 * sum(row[column] for row in self.index)
            with (folder / name).open("ab") as file:
                if file.tell() < size:
                    raise DamagedFolderError(folder, f"the file {name!r} is too short")
                file.truncate(size)

    def sync(self) -> None:
        """Make sure that the files are on the disk."""
        for name in (TOKENS, LENGTHS):
            with (self._folder() / name).open("ab") as file:
                os.fsync(file.fileno())

    def _folder(self) -> Path:
        if self.folder is None:
            raise ValueError("these tokens are kept in memory, not in files")
        return self.folder

    def __iter__(self) -> Iterator[TokenBatch]:
        return self.after(0)

    def after(self, done: int) -> Iterator[TokenBatch]:
        """The batches but the first `done`, each checked: compiled code relies on their numbers."""
        if self.folder is None:
            yield from self.batches[done:]
            return
        if not self.index:
            return
        with (self.folder / TOKENS).open("rb") as tokens, (self.folder / LENGTHS).open("rb") as lengths:
            tokens.seek(4 * sum(row[1] for row in self.index[:done]))
            lengths.seek(4 * sum(row[2] for row in self.index[:done]))
            for number, n_tokens, n_documents, checksum in self.index[done:]:
                ids, sizes = tokens.read(4 * n_tokens), lengths.read(4 * n_documents)
                if (len(ids), len(sizes)) != (4 * n_tokens, 4 * n_documents):
                    raise DamagedFolderError(self.folder, "tokens are missing")
                lexicon = self.lexicons[number]
                batch = TokenBatch(lexicon, np.frombuffer(ids, np.int32), np.frombuffer(sizes, np.int32))
                if _checksum(batch.ids, batch.lengths) != checksum or not batch.is_sound():
                    raise DamagedFolderError(self.folder, "tokens are not as they were written")
                yield batch


def _checksum(ids: Any, lengths: Any) -> int:
    digest = hashlib.blake2b(memoryview(ids), digest_size=8)
    digest.update(memoryview(lengths))
    return int.from_bytes(digest.digest(), "little", signed=True)
