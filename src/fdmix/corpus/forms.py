"""In which forms words were written: how often a text has "learning" and "learned" for the stem "learn".

Forms add and subtract like the counts they belong to, so both classes keep plain numbers of (word, form) pairs. To
the outside they are mappings: `forms["learn"]["learning"]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

FormsByWord = Mapping[str, Mapping[str, int]]
Names = list[tuple[str, str]]  # (word, form) by number; a list that only grows may be shared by many counts


class FormCounts(Mapping[str, Mapping[str, int]]):
    """`forms[word][form]`: how often some documents write a word in a form. `totals[k]` belongs to `names[k]`."""

    def __init__(self, names: Names, totals: Any) -> None:
        self.names, self.totals = names, totals

    @cached_property
    def _by_word(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        for number in np.flatnonzero(self.totals).tolist():
            word, form = self.names[number]
            found.setdefault(word, {})[form] = int(self.totals[number])
        return found

    def __getitem__(self, word: str) -> Mapping[str, int]:
        return self._by_word[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_word)

    def __len__(self) -> int:
        return len(self._by_word)

    def __repr__(self) -> str:
        return repr(self._by_word)


class FormsOfDocuments(FormCounts):
    """The forms of documents that can still be told apart: `counts[d, k]` is how often document d has `names[k]`."""

    def __init__(self, names: Names, counts: sp.csr_array) -> None:
        self.names, self.counts = names, counts

    @cached_property
    def totals(self) -> Any:
        """Over all documents."""
        return self.weighted(np.ones(self.counts.shape[0], np.int64)).totals

    def of(self, documents: Any) -> FormsOfDocuments:
        """The forms of some of the documents."""
        return FormsOfDocuments(self.names, self.counts[documents])

    def weighted(self, copies: Any) -> FormCounts:
        """The forms of all documents, where document d counts copies[d] times."""
        return FormCounts(self.names, np.asarray(self.counts.T.astype(np.int64) @ np.asarray(copies, np.int64)))


def combined(a: FormsByWord, b: FormsByWord, sign: int) -> FormsByWord:
    """a + b, or a - b with sign = -1; refused if that leaves a negative number."""
    if not b:
        return a
    if not a and sign > 0:
        return b
    if isinstance(a, FormCounts) and isinstance(b, FormCounts) and a.names is b.names:
        totals = np.zeros(max(len(a.totals), len(b.totals)), np.int64)
        totals[: len(a.totals)] += a.totals
        totals[: len(b.totals)] += sign * b.totals
        if totals.size and totals.min() < 0:
            raise ValueError("forms of words would become negative")
        return FormCounts(a.names, totals)
    total = {word: dict(forms) for word, forms in a.items()}
    for word, forms in b.items():
        mine = total.setdefault(word, {})
        for form, n in forms.items():
            mine[form] = mine.get(form, 0) + sign * n
            if mine[form] < 0:
                raise ValueError("forms of words would become negative")
    left = {word: {form: n for form, n in forms.items() if n} for word, forms in total.items()}
    return {word: forms for word, forms in left.items() if forms}


def renamed(forms: FormsByWord, names: Mapping[str, str], kept: set[str]) -> FormsByWord:
    """The forms under their words' new names, of the words that are kept."""
    result: dict[str, dict[str, int]] = {}
    for word, found in forms.items():
        for name in {word, names.get(word, word)} & kept:
            mine = result.setdefault(name, {})
            for form, n in found.items():
                mine[form] = mine.get(form, 0) + n
    return result
