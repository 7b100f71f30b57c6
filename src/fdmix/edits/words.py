"""Find the words that people type among the words of a model."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from fdmix.mixture.mixture import Mixture
from fdmix.text.words import Cleaner


class Words:
    """The columns of words that have pairs: as they stand in the vocabulary, as people see them, or as in text.

    A word as in text is cleaned as the text was: where words are stemmed, "warming" finds the stem "warm".

    >>> Words(Mixture([[0.5, 0.5]], vocabulary=["ant", "bee"]), [0, 1]).column("bee")
    1
    """

    def __init__(self, mixture: Mixture, seen: Any) -> None:
        self._columns = {mixture.word(int(u)): int(u) for u in reversed(seen)}
        if mixture.vocabulary is not None:
            self._columns |= {mixture.vocabulary[u]: int(u) for u in seen}
        self.n_words = len(seen)
        self._preparation = mixture.preparation

    def column(self, word: str) -> int | None:
        """The column of a word, or None if it is not a word of the model that has pairs."""
        if word in self._columns or self._cleaner is None:
            return self._columns.get(word)
        tokens = word.lower() if self._cleaner.cleaning.lowercase else word
        cleaned = self._cleaner.words(self._cleaner.forms(tokens.split(" ")))  # blanks join the parts of n-grams
        return None if None in cleaned else self._columns.get(" ".join(map(str, cleaned)))

    @cached_property
    def _cleaner(self) -> Cleaner | None:
        return None if self._preparation is None else Cleaner(self._preparation.cleaning)
