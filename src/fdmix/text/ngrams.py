"""Count runs of neighbouring words as words: n-grams in addition to their words, or phrases instead of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fdmix.kernels.tokens import join_pairs

MIN_PHRASE_NPMI = 0.5  # normalised pointwise mutual information, from -1 to 1, of the two words of a phrase
MIN_PHRASE_COUNT = 5  # occurrences; fewer say little about how strongly two words are associated
MAX_UNMERGED_CODES = 4_000_000  # 32 MB


class Ngrams:
    """The n-grams of a vocabulary: words that contain blanks, made of numbered parts.

    Parts have the numbers below n_parts. Every n-gram and every beginning of one ("new york" of "new york city") gets
    a number after them. The code of an n-gram is (number of its beginning) x size + (number of its last part).

    names : the text of each number
    codes, numbers : the codes of all n-grams in sorted order, and the number of each
    columns : the column of each number in the vocabulary, -1 if it is not a word of the vocabulary
    """

    def __init__(self, words: Iterable[str], parts: dict[str, int], columns: dict[str, int]) -> None:
        self.n_parts = len(parts)
        self.names = list(parts)
        found: dict[tuple[int, int], int] = {}
        for word in sorted(word for word in words if " " in word):
            name, *rest = word.split(" ")
            number = parts[name]
            for part in rest:
                name = f"{name} {part}"
                if (number, parts[part]) not in found:
                    self.names.append(name)
                number = found.setdefault((number, parts[part]), len(self.names) - 1)
        self.size = len(self.names)
        order = sorted(found, key=self._code)
        self.codes = np.array([self._code(key) for key in order], np.int64)
        self.numbers = np.array([found[key] for key in order], np.int64)
        self.columns = np.array([columns.get(name, -1) for name in self.names] or [-1], np.int64)

    def _code(self, ngram: tuple[int, int]) -> int:
        return ngram[0] * self.size + ngram[1]

    def by_length(self, words: Any, lengths: Any, n: int) -> Iterator[tuple[Any, Any]]:
        """For n-grams of 1, 2, ... n words: the document and the number (-1: unknown) at each starting position."""
        document = np.repeat(np.arange(lengths.size), lengths)
        current = words
        yield document, current
        for reach in range(1, n):
            here, right = current[: words.size - reach], words[reach:]
            inside = (document[: here.size] == document[reach:]) & (here >= 0) & (right >= 0)
            current = np.where(inside, self._lookup(here * self.size + right), -1)
            yield document[: here.size], current

    def added(self, words: Any, lengths: Any, n: int) -> tuple[Any, Any]:
        """(columns, lengths of documents) of all words and all n-grams of up to n words."""
        found = list(self.by_length(words, lengths, n))
        document = np.concatenate([d for d, _ in found])
        number = np.concatenate([numbers for _, numbers in found])
        column = np.where(number >= 0, self.columns[number], -1)
        kept = column >= 0
        order = np.argsort(document[kept], kind="stable")
        return column[kept][order], np.bincount(document[kept], minlength=lengths.size)

    def joined(self, words: Any, lengths: Any) -> tuple[Any, Any]:
        """(columns, lengths of documents), where phrases of two words replace these words."""
        out, lengths = np.empty_like(words), lengths.astype(np.int64)
        by_code = self.columns[self.numbers]
        n = join_pairs(words, lengths, self.codes, self.size, out)
        number = out[:n]  # of a part, or self.size + place in self.codes for a phrase
        single = np.where(number >= 0, self.columns[np.minimum(number, self.n_parts - 1)], -1)
        phrase = by_code[np.maximum(number - self.size, 0)] if by_code.size else single
        return np.where(number >= self.size, phrase, single), lengths

    def _lookup(self, codes: Any) -> Any:
        """The number of the n-gram of each code, -1 if there is none."""
        if not self.codes.size:
            return np.full(codes.shape, -1, np.int64)
        place = np.minimum(np.searchsorted(self.codes, codes), self.codes.size - 1)
        return np.where(self.codes[place] == codes, self.numbers[place], -1)


class CodeCounts:
    """How often each of many codes (whole numbers) was seen."""

    def __init__(self) -> None:
        self.codes, self.counts = np.empty(0, np.int64), np.empty(0, np.int64)
        self.unmerged: list[Any] = []
        self.n_unmerged = 0

    def add(self, codes: Any) -> None:
        """Count these codes."""
        self.unmerged.append(codes)
        self.n_unmerged += codes.size
        if self.n_unmerged > max(MAX_UNMERGED_CODES, self.codes.size):
            self._merge()

    def __add__(self, other: CodeCounts) -> CodeCounts:
        """The counts of both together."""
        self._merge()
        other._merge()
        total = CodeCounts()
        total._join([self.codes, other.codes], [self.counts, other.counts])
        return total

    def __getstate__(self) -> dict[str, Any]:
        self._merge()  # so that only distinct codes travel between processes
        return self.__dict__

    def at_least(self, n: int) -> tuple[Any, Any]:
        """(codes, counts) of the codes seen n times or more, in sorted order."""
        self._merge()
        often = self.counts >= n
        return self.codes[often], self.counts[often]

    def _merge(self) -> None:
        new, n = np.unique(np.concatenate([np.empty(0, np.int64), *self.unmerged]), return_counts=True)
        self._join([self.codes, new], [self.counts, n])
        self.unmerged, self.n_unmerged = [], 0

    def _join(self, codes: list[Any], counts: list[Any]) -> None:
        """Set the counts to the sums of these, which may hold the same codes."""
        self.codes, where = np.unique(np.concatenate(codes), return_inverse=True)
        self.counts = np.bincount(where, np.concatenate(counts), minlength=self.codes.size).astype(np.int64)


def are_phrases(pairs: Any, left: Any, right: Any, total: int) -> Any:
    """Which neighbours u, v are phrases: those with log(p_uv / (p_u p_v)) / -log p_uv >= MIN_PHRASE_NPMI.

    pairs, left, right : the counts of the pairs and of their two words
    total : the number of tokens
    """
    p = pairs / total
    pointwise = np.log(p) - np.log(left / total) - np.log(right / total)
    return pointwise >= MIN_PHRASE_NPMI * -np.log(p)
