"""Vocabularies: tuples of distinct words, checked once and then trusted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, KeysView, Mapping, Set
from typing import Any

import numpy as np

Vocabulary = tuple[str, ...]
MIN_REMEMBERED = 1_000  # words; a smaller vocabulary is checked again in no time
_recently_checked: deque[Vocabulary] = deque(maxlen=4)  # thousands of moments may share one tuple: checked once


def as_vocabulary(words: Iterable[str] | Mapping[Any, Any], n_words: int | None = None) -> Vocabulary:
    """Check the names of the columns and return them as a tuple.

    `words` may be any sequence of strings, scikit-learn's `{word: column}` or gensim's `{id: word}`.

    >>> as_vocabulary({"cat": 1, "ant": 0})
    ('ant', 'cat')
    """
    if isinstance(words, tuple) and n_words in (None, len(words)) and any(words is w for w in _recently_checked):
        return words
    if isinstance(words, str):
        raise TypeError(f"a vocabulary is a sequence of words, not the single string {words!r}")
    if isinstance(words, Set) and not isinstance(words, KeysView):
        raise TypeError("a vocabulary needs an order, and a set has none: give a list")
    listed = _from_mapping(words) if isinstance(words, Mapping) else list(words)
    for position, word in enumerate(listed):
        if not isinstance(word, str):
            raise TypeError(
                f"vocabulary words must be strings, but word {position} is {word!r} ({type(word).__name__})"
            )
    vocabulary = tuple(str(word) for word in listed)
    if n_words is not None and len(vocabulary) != n_words:
        raise ValueError(
            f"the vocabulary has {len(vocabulary):,} words but the counts have {n_words:,} columns: they must match"
        )
    if len(set(vocabulary)) != len(vocabulary):
        seen: set[str] = set()
        twice = sorted({word for word in vocabulary if word in seen or seen.add(word)})  # type: ignore[func-returns-value]
        raise ValueError(
            f"the vocabulary repeats {len(twice):,} words ({some(twice)}): words must be distinct; "
            "to join spellings use Moments.merge_words"
        )
    for word in vocabulary:
        if not word.isascii():
            _refuse_lone_surrogates(word)
    if len(vocabulary) >= MIN_REMEMBERED:
        _recently_checked.append(vocabulary)
    return vocabulary


def united(a: Vocabulary, b: Vocabulary) -> Vocabulary:
    """The words of both: `a` itself if they are equal, else the union in sorted order.

    Sorting makes the union independent of the order in which shards arrive.

    >>> united(("dog", "cat"), ("cat", "emu"))
    ('cat', 'dog', 'emu')
    """
    return a if a == b else tuple(sorted(set(a) | set(b)))


def positions(words: Iterable[str], vocabulary: Vocabulary) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Where each word stands in the vocabulary, -1 for words it does not have."""
    where = {word: position for position, word in enumerate(vocabulary)}
    return np.array([where.get(word, -1) for word in words], dtype=np.int64)


def require_known(words: Iterable[str], vocabulary: Vocabulary) -> None:
    """Refuse words that the vocabulary does not have."""
    unknown = sorted(set(words) - set(vocabulary))
    if unknown:
        raise ValueError(f"not in the vocabulary of {len(vocabulary):,} words: {some(unknown)}")


def some(words: list[str], most: int = 5) -> str:
    """A few of the words, for a message.

    >>> some(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(word) for word in words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most:,} more"


def _from_mapping(words: Mapping[Any, Any]) -> list[Any]:
    by_column = words if all(isinstance(key, int | np.integer) for key in words) else None
    if by_column is None:
        by_column = {column: word for word, column in words.items()}
    if len(by_column) != len(words) or set(by_column) != set(range(len(words))):
        raise ValueError("a vocabulary given as a mapping must number its words 0, 1, 2, ... without gaps")
    return [by_column[column] for column in range(len(words))]


def _refuse_lone_surrogates(word: str) -> None:
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"the vocabulary word {word!r} is not valid Unicode text") from None
