"""Keep the tokens of a text as numbers, in memory or in files, until the vocabulary is known.

The vocabulary depends on the whole text, but the text is read only once. So its tokens are stored first, and counted
once the words to count are chosen.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fdmix.corpus.preparation import Cleaning
from fdmix.moments.ledger import SourceLog
from fdmix.storage.arrays import FileError
from fdmix.text.lexicon import Lexicon
from fdmix.text.sources import Source
from fdmix.text.tokenising import Report, TokenBatch, token_batches

TOKENS_FILE, LENGTHS_FILE = "tokens", "lengths"
BYTES_PER_NUMBER = 4  # both files hold int32 numbers
MAX_BATCH_SIZE = 2**31  # tokens or documents; an index with larger batches is damaged


class DamagedFolderError(FileError):
    """The files in a folder of tokens are not as they were written."""

    def __init__(self, folder: Path, why: str) -> None:
        super().__init__(f"{folder} is damaged ({why}): delete the folder and start again")


class StoredBatch(NamedTuple):
    """Where a batch in the files ends and how to check it. Batches lie in the files one after the other."""

    lexicon: int  # position in TokenStore.lexicons
    n_tokens: int
    n_documents: int
    checksum: int


class TokenStore:
    """The tokens of a text, stored as batches that can be read several times."""

    def __init__(self, cleaning: Cleaning, folder: Path | None) -> None:
        self.cleaning, self.folder = cleaning, folder
        self.lexicons: list[Lexicon] = []
        self.batches: list[TokenBatch] = []  # if the store is in memory
        self.index: list[StoredBatch] = []  # if the store is in files
        self.n_documents = 0
        self.log = SourceLog()

    @classmethod
    def in_memory(cls, cleaning: Cleaning) -> TokenStore:
        """An empty store that keeps tokens as arrays."""
        return cls(cleaning, None)

    @classmethod
    def in_folder(cls, cleaning: Cleaning, folder: Path) -> TokenStore:
        """An empty store that appends tokens to files in a folder."""
        return cls(cleaning, folder)

    def __len__(self) -> int:
        return len(self.batches) + len(self.index)

    def fill(self, source: Source, n_threads: int | None = None, report: Report | None = None) -> None:
        """Read a source and add its tokens."""
        for batch in token_batches(source, self.cleaning, n_threads, report, self.lexicons, self.log):
            self.n_documents += batch.lengths.size
            if self.folder is None:
                self.batches.append(batch)
            else:
                self._append(batch, self.folder)

    def _append(self, batch: TokenBatch, folder: Path) -> None:
        """Write a batch to the end of the files."""
        for name, array in ((TOKENS_FILE, batch.ids), (LENGTHS_FILE, batch.lengths)):
            with (folder / name).open("ab") as file:
                file.write(memoryview(array))
        lexicon = self.lexicons.index(batch.lexicon)
        checksum = _checksum(batch.ids, batch.lengths)
        self.index.append(StoredBatch(lexicon, batch.ids.size, batch.lengths.size, checksum))

    def index_array(self) -> Any:
        """The index as an array with a row for each batch, for a checkpoint."""
        return np.array(self.index, np.int64).reshape(-1, len(StoredBatch._fields))

    def restore_index(self, index: Any) -> None:
        """Set the index to what `index_array` gave; a ValueError refuses one that does not fit the lexicons."""
        if index.ndim != 2 or index.shape[1] != len(StoredBatch._fields) or index.dtype != np.int64:
            raise ValueError("the list of batches has the wrong form")
        numbers, sizes = index[:, 0], index[:, 1:3]
        if ((numbers < 0) | (numbers >= len(self.lexicons))).any() or ((sizes < 0) | (sizes > MAX_BATCH_SIZE)).any():
            raise ValueError("the list of batches makes no sense")
        for number, lexicon in enumerate(self.lexicons):
            if lexicon.counts[: lexicon.size].sum() != sizes[numbers == number, 0].sum():
                raise ValueError("the numbers of tokens do not match")
        self.index = [StoredBatch(*row) for row in index.tolist()]
        self.n_documents = int(sizes[:, 1].sum())

    def truncate_files(self) -> None:
        """Remove what the files hold beyond the batches of the index."""
        folder = self._folder()
        sizes = {
            TOKENS_FILE: sum(batch.n_tokens for batch in self.index),
            LENGTHS_FILE: sum(batch.n_documents for batch in self.index),
        }
        for name, size in sizes.items():
            with (folder / name).open("ab") as file:
                if file.tell() < BYTES_PER_NUMBER * size:
                    raise DamagedFolderError(folder, f"the file {name!r} is too short")
                file.truncate(BYTES_PER_NUMBER * size)

    def sync(self) -> None:
        """Wait until the files are on the disk."""
        for name in (TOKENS_FILE, LENGTHS_FILE):
            with (self._folder() / name).open("ab") as file:
                os.fsync(file.fileno())

    def _folder(self) -> Path:
        if self.folder is None:
            raise ValueError("these tokens are kept in memory, not in files")
        return self.folder

    def __iter__(self) -> Iterator[TokenBatch]:
        return self.after(0)

    def after(self, done: int) -> Iterator[TokenBatch]:
        """All batches except the first `done`. Those from files are checked, as compiled code relies on them."""
        if self.folder is None:
            yield from self.batches[done:]
            return
        if not self.index:
            return
        with (self.folder / TOKENS_FILE).open("rb") as tokens, (self.folder / LENGTHS_FILE).open("rb") as lengths:
            tokens.seek(BYTES_PER_NUMBER * sum(batch.n_tokens for batch in self.index[:done]))
            lengths.seek(BYTES_PER_NUMBER * sum(batch.n_documents for batch in self.index[:done]))
            for stored in self.index[done:]:
                ids = tokens.read(BYTES_PER_NUMBER * stored.n_tokens)
                sizes = lengths.read(BYTES_PER_NUMBER * stored.n_documents)
                yield self._checked(stored, ids, sizes, self.folder)

    def _checked(self, stored: StoredBatch, ids: bytes, lengths: bytes, folder: Path) -> TokenBatch:
        """The batch that these bytes hold."""
        if (len(ids), len(lengths)) != (BYTES_PER_NUMBER * stored.n_tokens, BYTES_PER_NUMBER * stored.n_documents):
            raise DamagedFolderError(folder, "tokens are missing")
        lexicon = self.lexicons[stored.lexicon]
        batch = TokenBatch(lexicon, np.frombuffer(ids, np.int32), np.frombuffer(lengths, np.int32))
        if _checksum(batch.ids, batch.lengths) != stored.checksum or not batch.is_valid():
            raise DamagedFolderError(folder, "tokens are not as they were written")
        return batch


def _checksum(ids: Any, lengths: Any) -> int:
    digest = hashlib.blake2b(memoryview(ids), digest_size=8)
    digest.update(memoryview(lengths))
    return int.from_bytes(digest.digest(), "little", signed=True)
