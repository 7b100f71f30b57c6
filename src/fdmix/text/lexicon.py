"""The distinct tokens of a text, numbered in the order of their first appearance, and how often each was seen."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from fdmix.corpus.preparation import Cleaning
from fdmix.kernels import tokens as kernels
from fdmix.text.batches import Batch

JOINERS = (0x200C, 0x200D)  # of letters in Persian and Indian scripts
EMOJI_STYLES = slice(0xFE00, 0xFE10)  # marks that follow emoji, not letters
LAST_LETTER = 0x33480  # no letter of Unicode lies beyond, but for variation selectors


class Lexicon:
    """A hash table of tokens that grows as batches are read. Used by one thread at a time."""

    def __init__(self, cleaning: Cleaning) -> None:
        self.cleaning = cleaning
        self.pool = np.zeros(1 << 16, np.uint8)
        self.starts = np.zeros((1 << 12) + 1, np.int64)
        self.hashes = np.zeros(1 << 12, np.uint64)
        self.counts = np.zeros(1 << 12, np.int64)
        self.slots = np.full(1 << 13, -1, np.int32)
        self.size = 0
        self.numbers: dict[str, int] = {}  # of tokens that a user's tokenizer gave
        self._n_too_long = 0  # of them

    def read(self, batch: Batch) -> tuple[Any, Any]:
        """(token numbers of all documents one after the other, number of tokens of each document)."""
        if self.cleaning.tokenizer is not None:
            return self._read_by(self.cleaning.tokenizer, batch)
        folds = _lower_ascii() if self.cleaning.lowercase else np.arange(256, dtype=np.uint8)
        drop = (self.cleaning.drop_urls, self.cleaning.drop_mentions, self.cleaning.drop_entities)
        lengths = np.zeros(len(batch), np.int32)
        n_bytes = int(batch.offsets[-1] - batch.offsets[0])
        ids = np.empty(n_bytes // 4 + 1024, np.int32)
        used = np.array([self.size, 0, 0], np.int64)
        done = 0
        while True:
            done = kernels.tokenise(
                batch.data, batch.offsets, done, _word_characters(), folds, *drop,
                self.slots, self.hashes, self.starts, self.pool, self.counts, used, ids, lengths,
            )  # fmt: skip
            self.size = int(used[0])
            if done == len(batch):
                break
            if used[1] == ids.size:
                ids = _extended(ids, ids.size, 2 * ids.size)
            else:
                self._make_room()
        return ids[: used[1]].copy(), lengths

    @property
    def n_too_long(self) -> int:
        """How many tokens had more than LONGEST_TOKEN characters; each is stored as the empty token."""
        if self.cleaning.tokenizer is not None:
            return self._n_too_long
        lengths = np.diff(self.starts[: self.size + 1])
        return int(self.counts[: self.size][lengths == 0].sum())

    def tokens(self, first: int = 0) -> list[str]:
        """The distinct tokens from a number on."""
        if self.cleaning.tokenizer is not None:
            return list(self.numbers)[first:]
        size = self.size  # read once: another thread may be adding tokens, which leaves those before them alone
        bounds = self.starts[first : size + 1].tolist()
        whole = self.pool[: bounds[-1]].tobytes()
        return [whole[a:b].decode("utf-8", "replace") for a, b in pairwise(bounds)]

    def arrays(self) -> dict[str, Any]:
        """Everything, to be stored."""
        return {
            "pool": self.pool[: self.starts[self.size]],
            "starts": self.starts[: self.size + 1],
            "hashes": self.hashes[: self.size].view(np.int64),
            "counts": self.counts[: self.size],
        }

    @classmethod
    def restored(cls, cleaning: Cleaning, arrays: dict[str, Any]) -> Lexicon:
        """From what `arrays` gave, checked: compiled code relies on it."""
        pool, starts, hashes, counts = (arrays[name] for name in ("pool", "starts", "hashes", "counts"))
        sound = (
            all(array.ndim == 1 for array in (pool, starts, hashes, counts))
            and (pool.dtype, starts.dtype, hashes.dtype, counts.dtype) == (np.uint8, np.int64, np.int64, np.int64)
            and (starts.size - 1 == hashes.size == counts.size)
            and (starts[0] == 0 and (starts[1:] >= starts[:-1]).all() and starts[-1] == pool.size)
            and (counts >= 0).all()
        )
        if not sound:
            raise ValueError("the list of tokens makes no sense")
        lexicon = cls(cleaning)
        lexicon.size = arrays["counts"].size
        lexicon.pool, lexicon.starts = arrays["pool"].copy(), arrays["starts"].copy()
        lexicon.hashes, lexicon.counts = arrays["hashes"].view(np.uint64).copy(), arrays["counts"].copy()
        lexicon._make_room()
        return lexicon

    def _make_room(self) -> None:
        """For twice as many tokens, and more than one in any case."""
        n_entries, n_bytes = self.size, int(self.starts[self.size])
        entries = 2 * n_entries + (1 << 12)
        self.pool = _extended(self.pool, n_bytes, 2 * n_bytes + (1 << 16))
        self.starts = _extended(self.starts, n_entries + 1, entries + 1)
        self.hashes, self.counts = (_extended(array, n_entries, entries) for array in (self.hashes, self.counts))
        self.slots = np.empty(1 << (2 * entries).bit_length(), np.int32)
        kernels.reindex(self.slots, self.hashes, n_entries)

    def _read_by(self, tokenizer: Any, batch: Batch) -> tuple[Any, Any]:
        ids: list[int] = []
        lengths = np.zeros(len(batch), np.int32)
        for d, text in enumerate(batch.texts()):
            found = tokenizer(text)
            if isinstance(found, str):
                raise TypeError("the tokenizer gave a string; it must give a list of tokens")
            before = len(ids)
            for token in found:
                if not isinstance(token, str):
                    raise TypeError(f"the tokenizer gave {token!r}; tokens must be strings")
                too_long = len(token) > kernels.LONGEST_TOKEN
                self._n_too_long += too_long
                ids.append(self.numbers.setdefault("" if too_long else token, len(self.numbers)))
            lengths[d] = len(ids) - before
        numbers = np.array(ids, np.int32)
        self.size = len(self.numbers)
        if self.size > self.counts.size:
            self.counts = _extended(self.counts, self.counts.size, 2 * self.size)
        self.counts[: self.size] += np.bincount(numbers, minlength=self.size)
        return numbers, lengths


def _extended(array: Any, used: int, size: int) -> Any:
    longer = np.zeros(size, array.dtype)
    longer[:used] = array[:used]
    return longer


@cache
def _lower_ascii() -> Any:
    return np.array([ord(chr(byte).lower()) if byte < 128 else byte for byte in range(256)], np.uint8)


@cache
def _word_characters() -> Any:
    """1 at the code points that words are made of: letters, marks and digits of all scripts, and the underscore."""
    import unicodedata  # noqa: PLC0415

    kinds = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl", "No"}
    inside = np.fromiter((unicodedata.category(chr(code)) in kinds for code in range(LAST_LETTER)), np.uint8)
    inside[[ord("_"), *JOINERS]] = 1
    inside[EMOJI_STYLES] = 0
    return inside
