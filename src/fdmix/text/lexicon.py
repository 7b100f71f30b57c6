"""Cut text into tokens and number the distinct ones, in the order in which they first appear."""

from __future__ import annotations

import copyreg
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from fdmix.corpus.preparation import Cleaning
from fdmix.kernels import tokens as kernels
from fdmix.text.batches import Batch

JOINERS = (0x200C, 0x200D)  # code points that join or separate letters in Persian and Indian scripts
EMOJI_STYLES = slice(0xFE00, 0xFE10)  # variation selectors: Unicode calls them marks, but they follow emoji
END_OF_LETTERS = 0x33480  # no code point beyond it is a letter
MIN_TOKENS, MIN_POOL_BYTES = 1 << 12, 1 << 16  # room of a new lexicon, and the least by which it grows


class Lexicon:
    """A hash table of the distinct tokens of a text, with how often each was seen. One thread at a time may use it.

    Token e is the UTF-8 text pool[starts[e] : starts[e + 1]]. `slots` is the open-addressing index of `hashes`.
    """

    def __init__(self, cleaning: Cleaning) -> None:
        self.cleaning = cleaning
        self.pool = np.zeros(MIN_POOL_BYTES, np.uint8)
        self.starts = np.zeros(MIN_TOKENS + 1, np.int64)
        self.hashes = np.zeros(MIN_TOKENS, np.uint64)
        self.counts = np.zeros(MIN_TOKENS, np.int64)
        self.slots = np.full(2 * MIN_TOKENS, -1, np.int32)
        self.size = 0
        self.numbers: dict[str, int] = {}  # the tokens of a tokenizer of the user, which do not use the hash table
        self._n_too_long = 0  # tokens of such a tokenizer that are too long

    def read(self, batch: Batch) -> tuple[Any, Any]:
        """(token numbers of all documents, one document after the other; number of tokens of each document)."""
        if self.cleaning.tokenizer is not None:
            return self._read_with(self.cleaning.tokenizer, batch)
        fold = _lower_ascii() if self.cleaning.lowercase else np.arange(256, dtype=np.uint8)
        drop = (self.cleaning.drop_urls, self.cleaning.drop_mentions, self.cleaning.drop_entities)
        lengths = np.zeros(len(batch), np.int32)
        n_bytes = int(batch.offsets[-1] - batch.offsets[0])
        ids = np.empty(n_bytes // 4 + 1024, np.int32)
        used = np.array([self.size, 0, 0], np.int64)
        done = 0
        while True:
            done = kernels.tokenise(
                batch.data, batch.offsets, done, _word_characters(), fold, *drop,
                self.slots, self.hashes, self.starts, self.pool, self.counts, used, ids, lengths,
            )  # fmt: skip
            self.size = int(used[0])
            if done == len(batch):
                break
            if used[1] == ids.size:
                ids = _grown(ids, ids.size, 2 * ids.size)
            else:
                self._make_room()
        return ids[: used[1]].copy(), lengths

    @property
    def n_too_long(self) -> int:
        """How many tokens had more than LONGEST_TOKEN characters; all of them are stored as one empty token."""
        if self.cleaning.tokenizer is not None:
            return self._n_too_long
        lengths = np.diff(self.starts[: self.size + 1])
        return int(self.counts[: self.size][lengths == 0].sum())

    def tokens(self, first: int = 0) -> list[str]:
        """The distinct tokens, from number `first` on."""
        if self.cleaning.tokenizer is not None:
            return list(self.numbers)[first:]
        size = self.size  # read once: another thread may append tokens meanwhile
        bounds = self.starts[first : size + 1].tolist()
        whole = self.pool[: bounds[-1]].tobytes()
        return [whole[a:b].decode("utf-8", "replace") for a, b in pairwise(bounds)]

    def arrays(self) -> dict[str, Any]:
        """The tokens and their counts, for a checkpoint."""
        return {
            "pool": self.pool[: self.starts[self.size]],
            "starts": self.starts[: self.size + 1],
            "hashes": self.hashes[: self.size].view(np.int64),
            "counts": self.counts[: self.size],
        }

    @classmethod
    def restored(cls, cleaning: Cleaning, arrays: dict[str, Any]) -> Lexicon:
        """The lexicon that `arrays` describes. The arrays are checked, as compiled code relies on them."""
        pool, starts, hashes, counts = (arrays[name] for name in ("pool", "starts", "hashes", "counts"))
        is_valid = (
            all(array.ndim == 1 for array in (pool, starts, hashes, counts))
            and (pool.dtype, starts.dtype, hashes.dtype, counts.dtype) == (np.uint8, np.int64, np.int64, np.int64)
            and (starts.size - 1 == hashes.size == counts.size)
            and (starts[0] == 0 and (starts[1:] >= starts[:-1]).all() and starts[-1] == pool.size)
            and (counts >= 0).all()
        )
        if not is_valid:
            raise ValueError("the list of tokens makes no sense")
        lexicon = cls(cleaning)
        lexicon.size = arrays["counts"].size
        lexicon.pool, lexicon.starts = arrays["pool"].copy(), arrays["starts"].copy()
        lexicon.hashes, lexicon.counts = arrays["hashes"].view(np.uint64).copy(), arrays["counts"].copy()
        lexicon._make_room()
        return lexicon

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickling: without the room that is kept free, unless a tokenizer of the user gave the tokens."""
        if self.cleaning.tokenizer is not None:
            return copyreg.__newobj__, (Lexicon,), self.__dict__  # type: ignore[attr-defined]
        return Lexicon.restored, (self.cleaning, self.arrays())

    def _make_room(self) -> None:
        """Make room for at least twice as many tokens."""
        n_entries, n_bytes = self.size, int(self.starts[self.size])
        entries = 2 * n_entries + MIN_TOKENS
        self.pool = _grown(self.pool, n_bytes, 2 * n_bytes + MIN_POOL_BYTES)
        self.starts = _grown(self.starts, n_entries + 1, entries + 1)
        self.hashes, self.counts = (_grown(array, n_entries, entries) for array in (self.hashes, self.counts))
        self.slots = np.empty(1 << (2 * entries).bit_length(), np.int32)
        kernels.reindex(self.slots, self.hashes, n_entries)

    def _read_with(self, tokenizer: Any, batch: Batch) -> tuple[Any, Any]:
        """Like `read`, with a tokenizer of the user."""
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
            self.counts = _grown(self.counts, self.counts.size, 2 * self.size)
        self.counts[: self.size] += np.bincount(numbers, minlength=self.size)
        return numbers, lengths


def _grown(array: Any, used: int, size: int) -> Any:
    """An array of `size` entries that begins with the first `used` entries of `array`."""
    longer = np.zeros(size, array.dtype)
    longer[:used] = array[:used]
    return longer


@cache
def _lower_ascii() -> Any:
    """A table of bytes that maps ASCII capitals to small letters and every other byte to itself."""
    return np.array([ord(chr(byte).lower()) if byte < 128 else byte for byte in range(256)], np.uint8)


@cache
def _word_characters() -> Any:
    """A table with 1 at the code points that words consist of: letters, marks, digits, joiners and the underscore."""
    import unicodedata  # noqa: PLC0415

    kinds = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl", "No"}
    inside = np.fromiter((unicodedata.category(chr(code)) in kinds for code in range(END_OF_LETTERS)), np.uint8)
    inside[[ord("_"), *JOINERS]] = 1
    inside[EMOJI_STYLES] = 0
    return inside
