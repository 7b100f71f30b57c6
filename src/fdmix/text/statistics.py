"""What the choice of words asks about a text: how often tokens, words and n-grams occur.

All answers are sums over batches of tokens, so they can be added up over the parts of a text, wherever these are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.corpus.preparation import Cleaning
from fdmix.text.lexicon import Lexicon
from fdmix.text.ngrams import CodeCounts, Ngrams
from fdmix.text.recipe import Recipe
from fdmix.text.token_store import TokenStore
from fdmix.text.tokenising import TokenBatch
from fdmix.text.words import WordNumbers


@dataclass(frozen=True)
class WordQuestion:
    """How often are these words seen, as tokens and in how many documents?"""

    words: tuple[str, ...]
    cleaning: Cleaning

    def answer(self, batches: Iterable[TokenBatch]) -> Any:
        """For each word, the number of its tokens (first row) and of documents that contain it (second row)."""
        recipe = Recipe(self.words, self.cleaning)
        totals = np.zeros((2, len(self.words)), np.int64)
        for batch in batches:
            counts, _ = recipe.counts(batch)
            totals[0] += np.bincount(counts.indices, counts.data, minlength=len(self.words)).astype(np.int64)
            totals[1] += np.bincount(counts.indices, minlength=len(self.words))
        return totals


@dataclass(frozen=True, eq=False)
class NgramTotals:
    """How often n-grams occur, by their codes, and how often each single word does."""

    codes: CodeCounts
    words: Any

    def __add__(self, other: NgramTotals) -> NgramTotals:
        return NgramTotals(self.codes + other.codes, self.words + other.words)


@dataclass(frozen=True)
class NgramQuestion:
    """How often are n-grams of n words seen whose first n - 1 words are a word, or one of the shorter n-grams?

    The code of an n-gram is (number of its beginning in `names`) x (number of words) + (number of its last word).
    """

    words: tuple[str, ...]
    shorter: tuple[str, ...]
    cleaning: Cleaning
    n: int

    def names(self) -> list[str]:
        """The text of each number of a beginning."""
        numbers = WordNumbers(self.words, self.cleaning)
        return self._beginnings(numbers).names

    def _beginnings(self, numbers: WordNumbers) -> Ngrams:
        return Ngrams([*self.words, *self.shorter], numbers.parts, numbers.numbers)

    def answer(self, batches: Iterable[TokenBatch]) -> NgramTotals:
        """The counts in some batches."""
        numbers = WordNumbers(self.words, self.cleaning)
        beginnings = self._beginnings(numbers)
        codes = CodeCounts()
        counts = np.zeros(numbers.n_words + 1, np.int64)  # at 0: tokens that are left out
        for batch in batches:
            words = numbers.of(batch.lexicon, batch.ids)
            documents = np.repeat(np.arange(batch.lengths.size), batch.lengths)
            *_, (document, beginning) = beginnings.by_length(words, batch.lengths, self.n - 1)
            left, right = beginning[: max(0, words.size - self.n + 1)], words[self.n - 1 :]
            inside = (document[: left.size] == documents[self.n - 1 :]) & (left >= 0) & (right >= 0)
            codes.add(left[inside] * numbers.n_words + right[inside])
            counts += np.bincount(words + 1, minlength=counts.size)
        return NgramTotals(codes, counts[1:])


class TextStatistics(ABC):
    """A text that can be asked for counts: here, or on a cluster."""

    cleaning: Cleaning

    @property
    @abstractmethod
    def n_documents(self) -> int:
        """The number of documents."""

    @abstractmethod
    def token_totals(self) -> Mapping[str, int]:
        """How often each token was seen."""

    @abstractmethod
    def ask(self, question: WordQuestion | NgramQuestion) -> Any:
        """The answer for the whole text."""


class StoredText(TextStatistics):
    """A text whose tokens are in a `TokenStore`."""

    def __init__(self, store: TokenStore) -> None:
        self.store, self.cleaning = store, store.cleaning

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return self.store.n_documents

    def token_totals(self) -> Mapping[str, int]:
        """How often each token was seen."""
        return token_totals(self.store.lexicons)

    def ask(self, question: WordQuestion | NgramQuestion) -> Any:
        """The answer for the whole text."""
        return question.answer(self.store)


def token_totals(lexicons: Iterable[Lexicon]) -> dict[str, int]:
    """How often each token was seen, over all lexicons."""
    totals: Counter[str] = Counter()
    for lexicon in lexicons:
        for token, n in zip(lexicon.tokens(), lexicon.counts.tolist(), strict=False):
            totals[token] += n
    return dict(totals)
