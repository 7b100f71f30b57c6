"""How text became words: the cleaning, and the forms in which each word was written. It travels with the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from math import ceil
from typing import Any

from fdmix.corpus.forms import FormsByWord, FormsOfDocuments, combined, renamed
from fdmix.runtime.whole_numbers import whole_number
from fdmix.storage.facts import mapping, stated_number, string, strings, tallies

MAX_NGRAMS = 1_000  # in a file: a larger number is a mistake, and counting such runs would never end
TREATMENT = (
    "lowercase", "drop_numbers", "drop_urls", "drop_mentions", "drop_entities", "drop_non_ascii", "min_letters",
    "stop_words", "add_stop_words", "stem", "drop_most_common", "min_tokens", "ngrams", "phrases",
)  # fmt: skip
SWITCHES = (
    "lowercase", "drop_numbers", "drop_urls", "drop_mentions", "drop_entities", "drop_non_ascii", "phrases",
    "open_vocabulary",
)  # fmt: skip
LEAST = {"min_letters": 0, "min_tokens": 0, "drop_most_common": 0, "ngrams": 1, "min_count": 1, "max_words": 1}
FEW_DOCUMENTS = 1_000
COMMON = 5  # the least count of a word, unless documents are few


def least_count(min_count: float | str, n_documents: int) -> int:
    """How often a word must be seen: as given, for each document, or "auto": 5 times, once under 1,000 documents.

    >>> least_count(1_000 / 16_000_000, 1_000_000)
    63
    """
    if isinstance(min_count, str):
        return COMMON if n_documents >= FEW_DOCUMENTS else 1
    return int(min_count) if min_count >= 1 else max(1, ceil(min_count * n_documents))


@dataclass(frozen=True)
class Cleaning:
    """The steps from text to words; each can be switched off.

    A token is a run of letters, marks, digits and underscores of any script.

    lowercase : fold case
    drop_numbers : leave out tokens without a letter
    drop_urls, drop_mentions, drop_entities : leave out http://... and www..., @name, and &amp; and its like
    drop_non_ascii : leave out tokens with a letter outside ASCII
    min_letters : leave out shorter tokens
    stop_words : "auto" (the language whose function words fill the text, if any does), a language, own words,
        or None
    add_stop_words : words to leave out beside those of stop_words
    stem : a language of Snowball's stemmers, or None; words are shown in their most frequent form
    min_count : leave out words seen less often; "auto" is 5, or 1 for fewer than 1,000 documents. A number below 1
        is multiplied by the number of documents
    drop_most_common : leave out the N most frequent words, before max_share and max_words choose
    max_words : keep the N most frequent words
    max_share : leave out words that are in more than this share of the documents
    min_tokens : leave out documents with fewer tokens left
    ngrams : also count runs of up to N neighbouring words as words
    phrases : join neighbours that stick together ("neural network") into one word
    open_vocabulary : count every word, so that parts counted later can bring new ones; min_count,
        drop_most_common, max_words and max_share are kept for `Moments.prune`, which the fit calls
    tokenizer : any function from a text to its tokens, instead of ours; all other steps follow as usual
    """

    lowercase: bool = True
    drop_numbers: bool = True
    drop_urls: bool = True
    drop_mentions: bool = True
    drop_entities: bool = True
    drop_non_ascii: bool = False
    min_letters: int = 2
    stop_words: str | tuple[str, ...] | None = "auto"
    add_stop_words: tuple[str, ...] = ()
    stem: str | None = None
    min_count: float | str = "auto"
    drop_most_common: int = 0
    max_words: int | None = None
    max_share: float = 1.0
    min_tokens: int = 0
    ngrams: int = 1
    phrases: bool = False
    open_vocabulary: bool = False
    tokenizer: Callable[[str], Iterable[str]] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name in SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} is True or False, not {getattr(self, name)!r}")
        for name, least in LEAST.items():
            value = getattr(self, name)
            is_share = name == "min_count" and isinstance(value, float) and 0 < value < 1
            if not is_share and (name, value) not in (("min_count", "auto"), ("max_words", None)):
                object.__setattr__(self, name, whole_number(name, value, least))
        if not 0 < self.max_share <= 1:
            raise ValueError(f"max_share is a share of the documents, above 0 and up to 1, not {self.max_share!r}")
        if self.phrases and self.ngrams > 1:
            raise ValueError(
                "choose one: phrases=True joins neighbours that stick together, ngrams counts all of them"
            )
        if self.phrases and self.open_vocabulary:
            raise ValueError(
                "an open vocabulary has no phrases: which words stick together is chosen from the first text. "
                "Count that text with phrases=True and later ones like it, or use ngrams"
            )
        if isinstance(self.add_stop_words, str):
            raise TypeError(f"add_stop_words is a list of words, not the string {self.add_stop_words!r}")
        object.__setattr__(self, "stop_words", _in_order(self.stop_words))
        object.__setattr__(self, "add_stop_words", _in_order(self.add_stop_words))
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise TypeError("tokenizer must be a function from a text to its tokens")

    def treats_like(self, other: Cleaning) -> bool:
        """Whether a text gives the same tokens under both; tokenizers are compared by name."""
        return not self.unlike(other)

    def unlike(self, other: Cleaning) -> list[str]:
        """The steps in which they differ."""
        mine, theirs = self.facts(), other.facts()
        return [name for name in (*TREATMENT, "tokenizer") if mine[name] != theirs[name]]

    def facts(self) -> dict[str, Any]:
        """For JSON; a tokenizer is kept by name only."""
        kept = asdict(self) | {"tokenizer": None}
        if self.tokenizer is not None:
            kept["tokenizer"] = getattr(self.tokenizer, "__qualname__", type(self.tokenizer).__name__)
        return kept

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Cleaning:
        """What `facts` gave, checked; a user's tokenizer is not stored and must be given again."""
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(mapping(facts, "the cleaning")) - known):
            raise ValueError(f"unknown steps of cleaning: {', '.join(unknown)}")
        given = dict(facts)
        if isinstance(given.get("stop_words"), list):
            given["stop_words"] = strings(given["stop_words"], "stop_words")
        for name in ("stop_words", "stem", "tokenizer"):
            if given.get(name) is not None and not isinstance(given[name], tuple):
                string(given[name], name)
        if type(given.get("max_share", 1.0)) not in (int, float):
            raise ValueError(f"max_share must be a number, not {given['max_share']!r}")
        if stated_number(given.get("ngrams", 1), "ngrams") > MAX_NGRAMS:
            raise ValueError(f"ngrams must be at most {MAX_NGRAMS}, not {given['ngrams']}")
        own = given.pop("tokenizer", None)
        return cls(**given, tokenizer=None if own is None else _Missing(own))


def _in_order(stop_words: Any) -> Any:
    """Words in sorted order; the name of a language, and None, as they are."""
    if stop_words is None or isinstance(stop_words, str):
        return stop_words
    if not all(isinstance(word, str) for word in stop_words):
        raise TypeError("stop words must be strings")
    return tuple(sorted(set(stop_words)))


class _Missing:
    """Stands for a tokenizer that was not stored."""

    def __init__(self, name: str) -> None:
        self.__qualname__ = name

    def __call__(self, text: str) -> Iterable[str]:
        raise ValueError(
            f"the text was cut by a tokenizer of your own, {self.__qualname__!r}, which is not stored: "
            "give it again, tokenizer=..."
        )


@dataclass(frozen=True)
class Preparation:
    """The cleaning, and how often each word was written in which form: `forms["learn"]["learning"]`.

    Forms are counted where words are stems. They add and subtract like the moments they belong to.
    """

    cleaning: Cleaning
    forms: FormsByWord = field(default_factory=dict)

    def shown(self, word: str) -> str:
        """The most frequent form of a word, of each of its parts if it is a phrase.

        >>> Preparation(Cleaning(stem="english"), {"learn": {"learning": 7, "learn": 2}}).shown("deep learn")
        'deep learning'
        """
        return " ".join(self._best(part) for part in word.split(" "))

    def _best(self, word: str) -> str:
        forms = self.forms.get(word)
        return min(forms, key=lambda form: (-forms[form], form)) if forms else word

    def joined(self, other: Preparation, sign: int = 1) -> Preparation:
        """The preparation of both texts together, or with sign = -1 of what is left; they must be treated alike."""
        if not self.cleaning.treats_like(other.cleaning):
            unlike = ", ".join(self.cleaning.unlike(other.cleaning))
            raise ValueError(f"the texts were prepared differently ({unlike}): count both alike")
        still_open = self.cleaning.open_vocabulary and (sign < 0 or other.cleaning.open_vocabulary)
        cleaning = replace(self.cleaning, open_vocabulary=still_open)
        return Preparation(cleaning, combined(self.forms, other.forms, sign))

    def of(self, documents: Any) -> Preparation:
        """The preparation of some documents, with their forms if documents are kept apart."""
        if not isinstance(self.forms, FormsOfDocuments):
            return self
        return replace(self, forms=self.forms.of(documents))

    def weighted(self, copies: Any = None) -> Preparation:
        """The forms added up over documents, where document d counts copies[d] times (once unless given)."""
        if not isinstance(self.forms, FormsOfDocuments):
            return self
        times = [1] * self.forms.counts.shape[0] if copies is None else copies
        return replace(self, forms=self.forms.weighted(times))

    def renamed(self, names: Mapping[str, str], vocabulary: Iterable[str]) -> Preparation:
        """The forms of the words that are left, under their new names."""
        parts = {part for word in vocabulary for part in word.split(" ")}
        return replace(self, forms=renamed(self.forms, names, parts))

    def facts(self) -> dict[str, Any]:
        """For JSON, in sorted order."""
        forms = {word: dict(sorted(self.forms[word].items())) for word in sorted(self.forms)}
        return {"cleaning": self.cleaning.facts(), "forms": forms}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any] | None) -> Preparation | None:
        """What `facts` gave, checked."""
        if facts is None:
            return None
        stated = mapping(facts, "the preparation")
        forms = mapping(stated["forms"], "forms")
        return cls(
            Cleaning.from_facts(stated["cleaning"]),
            {word: tallies(written, f"the forms of {word[:40]!r}") for word, written in forms.items()},
        )


def joined(a: Preparation | None, b: Preparation | None, sign: int = 1) -> Preparation | None:
    """Of two parts: unknown if either's is."""
    return None if a is None or b is None else a.joined(b, sign)
