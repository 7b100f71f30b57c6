"""From tokens to words: each distinct token is cleaned once, and the vocabulary is chosen from the counts."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix.preparation import Cleaning
from fdmix.text.lexicon import Lexicon
from fdmix.text.stop_words import language_of, resolved

FEW_DOCUMENTS = 1_000
COMMON = 5  # the least count of a word, unless documents are few
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
    """How often each word was seen, and in which forms, over all lexicons."""

    def __init__(self, cleaning: Cleaning, lexicons: list[Lexicon], n_documents: int) -> None:
        seen: Counter[str] = Counter()
        for lexicon in lexicons:
            for token, n in zip(lexicon.tokens(), lexicon.counts.tolist(), strict=False):
                seen[token] += n
        if cleaning.stop_words == "auto":
            small = {token.lower(): n for token, n in seen.items()} if not cleaning.lowercase else dict(seen)
            cleaning = replace(cleaning, stop_words=language_of(small))
        if cleaning.min_count == "auto":
            cleaning = replace(cleaning, min_count=COMMON if n_documents >= FEW_DOCUMENTS else 1)
        self.cleaning, self.n_documents = cleaning, n_documents
        self.cleaner = Cleaner(cleaning)
        forms = self.cleaner.forms(seen)
        self.totals: Counter[str] = Counter()
        self.written: dict[str, Counter[str]] = defaultdict(Counter)
        for word, form, n in zip(self.cleaner.words(forms), forms, seen.values(), strict=True):
            if word is not None and form is not None:
                self.totals[word] += n
                if cleaning.stem:
                    self.written[word][form] += n

    def common(self) -> list[str]:
        """Words seen often enough, in sorted order."""
        least = int(self.cleaning.min_count)
        return sorted(word for word, n in self.totals.items() if n >= least)

    def forms_of(self, vocabulary: Iterable[str]) -> dict[str, dict[str, int]]:
        """The forms of the words, and of the parts of phrases."""
        parts = {part for word in vocabulary for part in word.split(" ")}
        return {word: dict(self.written[word]) for word in sorted(parts) if word in self.written}


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
        self.known: dict[int, Any] = {}

    def of(self, lexicon: Lexicon, ids: Any) -> Any:
        """The number of the part for each token, -1 for those left out."""
        known = self.known.get(id(lexicon), np.empty(0, np.int64))
        if known.size < lexicon.size:
            words = self.cleaner.words(self.cleaner.forms(lexicon.tokens(known.size)))
            new = [-1 if word is None else self.parts.get(word, -1) for word in words]
            known = self.known[id(lexicon)] = np.concatenate([known, np.array(new, np.int64)])
        return known[ids]
