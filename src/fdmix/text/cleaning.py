"""Presets of `Cleaning`, and how a preset and the steps that a user gives make one cleaning."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from fdmix.corpus.preparation import Cleaning
from fdmix.text.stop_words import STOP_WORDS, read_stop_words, split_words

RARE_TWEET_WORD = 1_000 / 16_000_000  # tokens for each tweet: the paper leaves out words seen under 1,000 times
PRESETS = {
    "plain": Cleaning(
        drop_numbers=False, drop_urls=False, drop_mentions=False, drop_entities=False, min_letters=1,
        stop_words=None, min_count=1,
    ),
    "papers": Cleaning(min_letters=3, stop_words="english", stem="english", min_count=25, min_tokens=20),
    "tweets": Cleaning(
        min_letters=3, drop_non_ascii=True, stop_words="english", stem="english", min_count=1, max_words=15_000,
        min_tokens=4,
    ),
    "paper-papers": Cleaning(min_letters=3, stop_words="english", stem="english", min_count=50),
    "paper-tweets": Cleaning(
        min_letters=3, drop_non_ascii=True, stop_words="english", stem="english", drop_most_common=200,
        min_count=RARE_TWEET_WORD, min_tokens=4,
    ),
}  # fmt: skip


def cleaning_of(preset: str | Cleaning | None, steps: dict[str, Any]) -> Cleaning:
    """The cleaning of a preset (or the default one) with some steps changed.

    >>> cleaning_of("papers", {"stem": None}).min_count
    25
    """
    if isinstance(preset, Cleaning) or preset is None:
        base = preset or Cleaning()
    elif preset in PRESETS:
        base = PRESETS[preset]
    else:
        raise ValueError(f"there is no preset {preset!r}; there are {', '.join(PRESETS)}")
    known = [f.name for f in fields(Cleaning)]
    if unknown := sorted(set(steps) - set(known)):
        raise TypeError(f"there is no step {unknown[0]!r}; there are {', '.join(known)}")
    if "stop_words" in steps:
        steps = steps | {"stop_words": _stop_words(steps["stop_words"])}
    if "add_stop_words" in steps:
        steps = steps | {"add_stop_words": _added_stop_words(steps["add_stop_words"])}
    return replace(base, **steps)


def names_a_file(stop_words: Any) -> bool:
    """Whether stop words are given as the name of a file, not as a language or a list of words."""
    return isinstance(stop_words, str | os.PathLike) and stop_words not in ("auto", *STOP_WORDS)


def _stop_words(given: Any) -> Any:
    if given is None or given is False:
        return None
    if names_a_file(given):
        if not os.path.isfile(given):  # noqa: PTH113  (Path.is_file raises errors if a name is too long)
            raise ValueError(
                f"stop_words={str(given)[:80]!r} is neither a file nor a language; "
                f"there are lists for {', '.join(STOP_WORDS)}"
            )
        return read_stop_words(Path(given))
    return given if isinstance(given, str) else tuple(given)


def _added_stop_words(given: Any) -> Any:
    """The words in a file, in a string such as "one,two" or in any iterable."""
    if given is None:
        return ()
    if not isinstance(given, str | os.PathLike):
        return tuple(given)
    if os.path.isfile(given):  # noqa: PTH113
        return read_stop_words(Path(given))
    words = split_words(str(given))
    if isinstance(given, os.PathLike) or any(mark in word for word in words for mark in ("/", "\\", ".")):
        raise ValueError(f"there is no file {str(given)[:80]!r} of stop words to add")
    return tuple(words)
