"""Clean tokens into words. Each distinct token is cleaned once, however often it occurs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from fdmix.corpus.forms import Names
from fdmix.corpus.preparation import Cleaning
from fdmix.text.lexicon import Lexicon
from fdmix.text.stop_words import words_of

STRIPPED = "_\u200c\u200d"  # removed from both ends of a token: underscore, zero-width non-joiner and joiner


class Cleaner:
    """Turns tokens into forms and forms into words, by the steps of a cleaning.

    The form "learning" is what a token looks like after all steps except stemming; its word is the stem, "learn".
    """

    def __init__(self, cleaning: Cleaning) -> None:
        self.cleaning = cleaning
        given = words_of(cleaning.stop_words).union(cleaning.add_stop_words)
        self.stop_words = {_composed(word.lower() if cleaning.lowercase else word) for word in given}
        self.stems: dict[str, str] = {}
        self.stemmer: Any = None
        if cleaning.stem:
            import Stemmer  # noqa: PLC0415  (needed only for stems)

            if cleaning.stem not in Stemmer.algorithms():
                known = ", ".join(sorted(Stemmer.algorithms()))
                raise ValueError(f"there is no stemmer for {cleaning.stem!r}; there are {known}")
            self.stemmer = Stemmer.Stemmer(cleaning.stem)

    def forms(self, tokens: Iterable[str]) -> list[str | None]:
        """The form of each token, None for tokens that are left out."""
        return [self._form(token) for token in tokens]

    def words(self, forms: list[str | None]) -> list[str | None]:
        """The word of each form: its stem, or the form itself without a stemmer."""
        if self.stemmer is None:
            return forms
        new = [form for form in set(forms) if form is not None and form not in self.stems]
        self.stems.update(zip(new, self.stemmer.stemWords(new), strict=True))
        return [None if form is None else self.stems[form] for form in forms]

    def _form(self, token: str) -> str | None:
        cleaning = self.cleaning
        if not token.isascii():
            if cleaning.drop_non_ascii:
                return None
            token = _composed(token)
            token = token.lower() if cleaning.lowercase else token
        elif cleaning.lowercase and cleaning.tokenizer is not None:  # our own tokeniser has lowered ASCII already
            token = token.lower()
        if token[:1] in STRIPPED or token[-1:] in STRIPPED:
            token = token.strip(STRIPPED)
        if len(token) < cleaning.min_letters or not token or token in self.stop_words:
            return None
        if not token.isalpha():
            if " " in token:  # from a tokenizer of the user; a blank in a word marks an n-gram
                token = token.replace(" ", "_")
            if cleaning.drop_numbers and not any(map(str.isalpha, token)):
                return None
        return token


def _composed(word: str) -> str:
    return unicodedata.normalize("NFC", word)


class WordNumbers:
    """The number of each token's word in a vocabulary. New tokens of a lexicon are looked up as they appear.

    An n-gram is a word with blanks. Its parts get numbers, too, even if they are not words of the vocabulary.
    """

    def __init__(self, vocabulary: tuple[str, ...], cleaning: Cleaning) -> None:
        self.cleaner = Cleaner(cleaning)
        self.cleaning = cleaning
        parts = [part for word in vocabulary if " " in word for part in word.split(" ")]
        self.numbers = {word: i for i, word in enumerate(vocabulary)}
        self.n_words = len(vocabulary)
        self.parts = dict(self.numbers)
        for part in parts:
            self.parts.setdefault(part, len(self.parts))
        self.forms: Names = []  # (part, form) of each form number
        self._form_numbers: dict[tuple[str, str], int] = {}
        # Part and form numbers of the tokens of each lexicon. Weak, because a new lexicon may reuse an old address.
        self._known: WeakKeyDictionary[Lexicon, tuple[Any, Any]] = WeakKeyDictionary()

    def of(self, lexicon: Lexicon, ids: Any) -> Any:
        """The number of each token's part, -1 for tokens that are left out."""
        return self._numbers(lexicon)[0][ids]

    def forms_of(self, lexicon: Lexicon, ids: Any) -> Any:
        """The number of each token's form in `forms`, -1 for tokens that are left out."""
        return self._numbers(lexicon)[1][ids]

    def _numbers(self, lexicon: Lexicon) -> tuple[Any, Any]:
        """(part number, form number) of every token of a lexicon; forms have numbers only if words are stemmed."""
        parts, forms = self._known.get(lexicon, (np.empty(0, np.int64),) * 2)
        if parts.size < lexicon.size:
            written = self.cleaner.forms(lexicon.tokens(parts.size))
            words = self.cleaner.words(written)
            new = [-1 if word is None else self.parts.get(word, -1) for word in words]
            if self.cleaning.stem:
                numbers = map(self._form_number, words, written, new)
                forms = np.concatenate([forms, np.fromiter(numbers, np.int64, len(new))])
            parts = np.concatenate([parts, np.array(new, np.int64)])
            self._known[lexicon] = parts, forms
        return parts, forms

    def _form_number(self, word: str | None, form: str | None, part: int) -> int:
        if part < 0 or word is None or form is None:
            return -1
        number = self._form_numbers.setdefault((word, form), len(self.forms))
        if number == len(self.forms):
            self.forms.append((word, form))
        return number
