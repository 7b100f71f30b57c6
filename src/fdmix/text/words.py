"""From tokens to words: each distinct token is cleaned once, and the vocabulary is chosen from the counts."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix.corpus.forms import Names
from fdmix.corpus.preparation import Cleaning, least_count
from fdmix.text.lexicon import Lexicon
from fdmix.text.stop_words import language_of, resolved

EDGES = "_\u200c\u200d"


class Cleaner:
    """Cleans tokens one by one: `cleaner(tokens)` gives for each its word, or None, and the form it is shown in."""

    def __init__(self, cleaning: Cleaning) -> None:
        self.cleaning = cleaning
        given = resolved(cleaning.stop_words).union(cleaning.add_stop_words)
        self.stop_words = {_composed(word.lower() if cleaning.lowercase else word) for word in given}
        self.stems: dict[str, str] = {}
        self.stemmer: Any = None
        if cleaning.stem:
            import Stemmer  # noqa: PLC0415  (only when stems are asked for)

            if cleaning.stem not in Stemmer.algorithms():
                known = ", ".join(sorted(Stemmer.algorithms()))
                raise ValueError(f"there is no stemmer for {cleaning.stem!r}; there are {known}")
            self.stemmer = Stemmer.Stemmer(cleaning.stem)

    def forms(self, tokens: Iterable[str]) -> list[str | None]:
        """Tokens after all steps but the stemming."""
        return [self._form(token) for token in tokens]

    def words(self, forms: list[str | None]) -> list[str | None]:
        """Their words: the stems, or the forms themselves."""
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
        elif cleaning.lowercase and cleaning.tokenizer is not None:
            token = token.lower()
        if token[:1] in EDGES or token[-1:] in EDGES:
            token = token.strip(EDGES)
        if len(token) < cleaning.min_letters or not token or token in self.stop_words:
            return None
        if not token.isalpha():
            if " " in token:  # of a tokenizer of the user's; the blank is for our phrases
                token = token.replace(" ", "_")
            if cleaning.drop_numbers and not any(map(str.isalpha, token)):
                return None
        return token


def _composed(word: str) -> str:
    return unicodedata.normalize("NFC", word)


class Counted:
    """How often each word was seen, over all lexicons."""

    def __init__(self, cleaning: Cleaning, lexicons: list[Lexicon], n_documents: int) -> None:
        seen: Counter[str] = Counter()
        for lexicon in lexicons:
            for token, n in zip(lexicon.tokens(), lexicon.counts.tolist(), strict=False):
                seen[token] += n
        if cleaning.stop_words == "auto":
            small = {token.lower(): n for token, n in seen.items()} if not cleaning.lowercase else dict(seen)
            cleaning = replace(cleaning, stop_words=language_of(small))
        if not cleaning.open_vocabulary:
            cleaning = replace(cleaning, min_count=least_count(cleaning.min_count, n_documents))
        self.cleaning, self.n_documents = cleaning, n_documents
        self.cleaner = Cleaner(cleaning)
        forms = self.cleaner.forms(seen)
        self.totals: Counter[str] = Counter()
        for word, n in zip(self.cleaner.words(forms), seen.values(), strict=True):
            if word is not None:
                self.totals[word] += n

    def common(self) -> list[str]:
        """Words seen often enough, in sorted order."""
        least = 1 if self.cleaning.open_vocabulary else int(self.cleaning.min_count)
        return sorted(word for word, n in self.totals.items() if n >= least)


class WordNumbers:
    """Columns for tokens: which word of a vocabulary each token of a lexicon is, found out as tokens appear.

    Phrases and n-grams are words with blanks; their parts get numbers, too, even if they are no words themselves.
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
        self.forms: Names = []  # (part, form) of each number of a form
        self._form_numbers: dict[tuple[str, str], int] = {}
        self._known: dict[int, tuple[Any, Any]] = {}

    def of(self, lexicon: Lexicon, ids: Any) -> Any:
        """The number of the part for each token, -1 for those left out."""
        return self._numbers(lexicon)[0][ids]

    def forms_of(self, lexicon: Lexicon, ids: Any) -> Any:
        """The number of the form, in `forms`, that each token has; -1 for those left out."""
        return self._numbers(lexicon)[1][ids]

    def _numbers(self, lexicon: Lexicon) -> tuple[Any, Any]:
        """(part, form) of every token of a lexicon; forms are numbered only where words are stemmed."""
        parts, forms = self._known.get(id(lexicon), (np.empty(0, np.int64),) * 2)
        if parts.size < lexicon.size:
            written = self.cleaner.forms(lexicon.tokens(parts.size))
            words = self.cleaner.words(written)
            new = [-1 if word is None else self.parts.get(word, -1) for word in words]
            if self.cleaning.stem:
                numbers = map(self._form_number, words, written, new)
                forms = np.concatenate([forms, np.fromiter(numbers, np.int64, len(new))])
            parts = np.concatenate([parts, np.array(new, np.int64)])
            self._known[id(lexicon)] = parts, forms
        return parts, forms

    def _form_number(self, word: str | None, form: str | None, part: int) -> int:
        if part < 0 or word is None or form is None:
            return -1
        number = self._form_numbers.setdefault((word, form), len(self.forms))
        if number == len(self.forms):
            self.forms.append((word, form))
        return number
