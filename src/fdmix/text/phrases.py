"""Runs of neighbouring words as words: n-grams beside the single words, or phrases in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fdmix.kernels.tokens import join_pairs

STICKY = 0.5  # least normalised pointwise mutual information of a phrase
LEAST = 5  # times that a phrase must be seen
CODES_AT_A_TIME = 4_000_000


class Runs:
    """The runs of a vocabulary: words with blanks, over numbered parts.

    A run is known by its code, number of its beginning x n + number of its last part, in `codes`, sorted; `numbers`
    are the runs' numbers, from n_parts on, and columns[number] is the word's column, -1 for a mere beginning of one.
    """

    def __init__(self, words: Iterable[str], parts: dict[str, int], columns: dict[str, int]) -> None:
        self.n_parts = len(parts)
        listed = sorted(word for word in words if " " in word)
        found: dict[tuple[int, int], int] = {}
        names = list(parts)
        for word in listed:
            number, name = -1, ""
            for part in word.split(" "):
                name = f"{name} {part}" if name else part
                if number < 0:
                    number = parts[part]
                    continue
                if (number, parts[part]) not in found:
                    names.append(name)
                number = found.setdefault((number, parts[part]), len(names) - 1)
        self.size = len(names)
        order = sorted(found, key=self._code)
        self.codes = np.array([self._code(key) for key in order], np.int64)
        self.numbers = np.array([found[key] for key in order], np.int64)
        self.columns = np.array([columns.get(name, -1) for name in names] or [-1], np.int64)

    def _code(self, run: tuple[int, int]) -> int:
        return run[0] * self.size + run[1]

    def levels(self, words: Any, lengths: Any, n: int) -> Iterator[tuple[Any, Any]]:
        """For runs of 1, 2, ... n words: (document, number) of each that is known, by the place where it begins."""
        document = np.repeat(np.arange(lengths.size), lengths)
        current = words
        yield document, current
        for reach in range(1, n):
            here, right = current[: words.size - reach], words[reach:]
            inside = (document[: here.size] == document[reach:]) & (here >= 0) & (right >= 0)
            current = np.where(inside, self._lookup(here * self.size + right), -1)
            yield document[: here.size], current

    def applied(self, words: Any, lengths: Any, n: int) -> tuple[Any, Any]:
        """Columns of all words and runs of up to n words, document by document."""
        found = list(self.levels(words, lengths, n))
        document = np.concatenate([d for d, _ in found])
        column = self.columns[np.concatenate([number for _, number in found])]
        column[np.concatenate([number for _, number in found]) < 0] = -1
        kept = column >= 0
        order = np.argsort(document[kept], kind="stable")
        return column[kept][order], np.bincount(document[kept], minlength=lengths.size)

    def joined(self, words: Any, lengths: Any) -> tuple[Any, Any]:
        """Columns with phrases in the place of their parts."""
        out, lengths = np.empty_like(words), lengths.astype(np.int64)
        by_code = self.columns[self.numbers]
        n = join_pairs(words, lengths, self.codes, self.size, out)
        number = out[:n]
        single = np.where(number >= 0, self.columns[np.minimum(number, self.n_parts - 1)], -1)
        phrase = by_code[np.maximum(number - self.size, 0)] if by_code.size else single
        return np.where(number >= self.size, phrase, single), lengths

    def _lookup(self, codes: Any) -> Any:
        if not self.codes.size:
            return np.full(codes.shape, -1, np.int64)
        place = np.minimum(np.searchsorted(self.codes, codes), self.codes.size - 1)
        return np.where(self.codes[place] == codes, self.numbers[place], -1)


class CodeCounts:
    """How often each of many whole numbers was seen."""

    def __init__(self) -> None:
        self.codes, self.counts = np.empty(0, np.int64), np.empty(0, np.int64)
        self.waiting: list[Any] = []
        self.n_waiting = 0

    def add(self, codes: Any) -> None:
        """Count them, at once or later."""
        self.waiting.append(codes)
        self.n_waiting += codes.size
        if self.n_waiting > max(CODES_AT_A_TIME, self.codes.size):
            self._settle()

    def at_least(self, n: int) -> tuple[Any, Any]:
        """(codes, counts) of those seen n times or more, codes in sorted order."""
        self._settle()
        often = self.counts >= n
        return self.codes[often], self.counts[often]

    def _settle(self) -> None:
        new, n = np.unique(np.concatenate([np.empty(0, np.int64), *self.waiting]), return_counts=True)
        codes, where = np.unique(np.concatenate([self.codes, new]), return_inverse=True)
        self.counts = np.bincount(where, np.concatenate([self.counts, n]), minlength=codes.size).astype(np.int64)
        self.codes, self.waiting, self.n_waiting = codes, [], 0


def sticky(pairs: Any, left: Any, right: Any, total: int) -> Any:
    """Which pairs of neighbours stick together: log(p_uv / p_u p_v) / -log p_uv is large."""
    p = pairs / total
    pointwise = np.log(p) - np.log(left / total) - np.log(right / total)
    return pointwise >= STICKY * -np.log(p)
