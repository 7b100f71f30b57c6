"""Find the words that people type among the words of a model."""

from __future__ import annotations

from typing import Any

from fdmix.mixture.mixture import Mixture


class Words:
    """The columns of words that have pairs: as they stand in the vocabulary, or in the form that people see.

    >>> Words(Mixture([[0.5, 0.5]], vocabulary=["ant", "bee"]), [0, 1]).column("bee")
    1
    """

    def __init__(self, mixture: Mixture, seen: Any) -> None:
        self._columns = {mixture.word(int(u)): int(u) for u in reversed(seen)}
        if mixture.vocabulary is not None:
            self._columns |= {mixture.vocabulary[u]: int(u) for u in seen}
        self.n_words = len(seen)

    def column(self, word: str) -> int | None:
        """The column of a word, or None if it is not a word of the model that has pairs."""
        return self._columns.get(word)
