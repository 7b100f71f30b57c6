"""Documents as words in their order, for scores that look at neighbouring words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fdmix.corpus.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False, repr=False)
class TokenSequences:
    """Documents as numbers of words, in the order of the text. It iterates over lists of words.

    vocabulary : the words that the numbers stand for
    numbers : the words of all documents, one document after the other; -1 for a word outside the vocabulary
    offsets : document d is numbers[offsets[d] : offsets[d + 1]]

    >>> sequences = TokenSequences.of([["ant", "bee", "ant"], ["cat"]])
    >>> sequences
    TokenSequences(2 documents, 3 words, 4 tokens)
    >>> list(sequences[[1]])
    [['cat']]
    """

    vocabulary: Vocabulary
    numbers: Any
    offsets: Any

    @classmethod
    def of(cls, documents: Iterable[Iterable[str]], vocabulary: Vocabulary | None = None) -> TokenSequences:
        """From lists of tokens. With a vocabulary, words that it does not have become -1."""
        number = {} if vocabulary is None else {word: i for i, word in enumerate(vocabulary)}
        numbers: list[int] = []
        ends = [0]
        for document in documents:
            if isinstance(document, str):
                raise TypeError("a document is a list of tokens, not a string: split it first, e.g. text.split()")
            if vocabulary is None:
                numbers += [number.setdefault(word, len(number)) for word in document]
            else:
                numbers += [number.get(word, -1) for word in document]
            ends.append(len(numbers))
        words = tuple(number) if vocabulary is None else vocabulary
        return cls(words, np.array(numbers, np.int32), np.array(ends, np.int64))

    def __len__(self) -> int:
        return int(self.offsets.size) - 1

    def __iter__(self) -> Iterator[list[str]]:
        for begin, end in pairwise(self.offsets.tolist()):
            yield [self.vocabulary[u] for u in self.numbers[begin:end].tolist() if u >= 0]

    def __getitem__(self, documents: Any) -> TokenSequences:
        """Some of the documents: by slice, positions or mask."""
        chosen = np.arange(len(self))[documents]
        lengths = np.diff(self.offsets)[chosen]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(ends[-1]) + np.repeat(self.offsets[chosen] - ends[:-1], lengths)
        return TokenSequences(self.vocabulary, self.numbers[places], ends)

    def __repr__(self) -> str:
        return (
            f"TokenSequences({len(self):,} documents, {len(self.vocabulary):,} words, {self.numbers.size:,} tokens)"
        )
