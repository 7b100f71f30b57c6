"""Text of unknown origin, made safe to show: words, file names and columns come from whoever wrote the data.

Every output passes through one of three doors: `for_terminal`, `for_csv` and `for_json`.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

JOINERS = "\u200c\u200d"  # invisible, but Persian, Indic scripts and emoji are spelled with them
VISIBLE_MARKS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"  # in Cf
BREAKS = "\n\t"
FORMULA_STARTS = "=+-@\uff1d\uff0b\uff0d\uff20"  # the last four are the full-width forms
NUMBER = re.compile(r"[+-][0-9., ]*[0-9](?:[eE][+-]?[0-9]+)?%?")
LONGEST_WORD = 60  # characters of a word in a table
PHRASE_SEPARATOR = " · "


def for_terminal(text: str, *, lines: bool = False) -> str:
    r"""The text with every character that steers a terminal, reorders or hides text written out, such as \x1b.

    That is: control characters (C0, DEL and C1), format characters such as bidirectional overrides and zero-width
    spaces, line separators, and lone surrogates, which cannot be printed at all.

    lines : whether line breaks and tabs stay as they are

    >>> print(for_terminal("\x1b[31mred\u202e"))
    \x1b[31mred\u202e
    """
    if text.isprintable():
        return text
    kept = BREAKS if lines else ""
    return "".join(c if c in kept or not _is_hidden(c) else _written_out(c) for c in text)


def for_csv(cell: Any) -> Any:
    r"""The cell as a spreadsheet may open it: text that would be run as a formula gets a leading apostrophe.

    Numbers stay numbers, also as text ("-1.5"). Control characters are written out, but for line breaks and tabs.

    >>> [for_csv(cell) for cell in ("=1+1", "-1", -1, "a\x1b[2J")]
    ["'=1+1", '-1', -1, 'a\\x1b[2J']
    """
    if not isinstance(cell, str):
        return cell
    text = cell
    if not cell.isprintable():
        whole = cell.replace("\r\n", "\n")
        text = "".join(
            c if c in BREAKS or unicodedata.category(c) not in ("Cc", "Cs") else _written_out(c) for c in whole
        )
    return f"'{text}" if _is_formula(cell) else text


def for_json(value: Any, indent: int | None = None) -> str:
    r"""The value as JSON that every parser takes and that is safe to print: hidden characters become \u escapes.

    NaN and infinities, which JSON does not have, become null; what JSON has no type for (dates) becomes text.

    >>> for_json({"word": "\x9b31m", "score": float("nan")})
    '{"word": "\\u009b31m", "score": null}'
    """
    settings: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False, "default": _plain, "indent": indent}
    try:
        text = json.dumps(value, **settings)
    except ValueError:
        text = json.dumps(_finite(value), **settings)
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or not _is_hidden(c) else json.dumps(c)[1:-1] for c in text)


def storable(text: str) -> str:
    r"""The text as UTF-8 can hold it: lone surrogates are written out.

    >>> storable("a\udc80")
    'a\\udc80'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shown_word(word: str) -> str:
    """A word for a table: safe, not endless, and visible even if it is blank.

    >>> shown_word("x" * 100)[-3:], shown_word(" ")
    ('xx…', '" "')
    """
    safe = for_terminal(word)
    if not safe.strip():
        return f'"{safe}"'
    return safe if len(safe) <= LONGEST_WORD else f"{safe[: LONGEST_WORD - 1]}…"


def shown_words(topics: Iterable[Iterable[str]]) -> list[str]:
    """The words of each topic in one line; with " · " between them if any word is a phrase.

    >>> shown_words([["supreme court", "impeachment"], ["tax", "budget"]])
    ['supreme court · impeachment', 'tax · budget']
    >>> shown_words([["tax", "budget"]])
    ['tax budget']
    """
    safe = [[shown_word(word) for word in words] for words in topics]
    phrases = any(character.isspace() for words in safe for word in words for character in word)
    return [(PHRASE_SEPARATOR if phrases else " ").join(words) for words in safe]


def _is_hidden(character: str) -> bool:
    """Whether a character is of a category that shows nothing and does something."""
    if character in JOINERS or character in VISIBLE_MARKS:
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _is_formula(cell: str) -> bool:
    if cell[:1] in ("\t", "\r", "\n"):
        return True
    for position, character in enumerate(cell):
        if unicodedata.category(character)[0] not in "ZC":  # spreadsheets skip blanks, and some what cannot be seen
            return character in FORMULA_STARTS and not NUMBER.fullmatch(cell[position:].rstrip())
    return False


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's; anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
