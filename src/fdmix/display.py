"""Make text from data safe to show: words, file names and columns can contain terminal escapes or formulas.

All output passes through `for_terminal`, `for_csv`, `for_json`, `for_html` or `for_markdown`.
"""

from __future__ import annotations

import html
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

JOINERS = "\u200c\u200d"  # invisible, but needed to spell Persian, Indic scripts and emoji
# The characters of Unicode's category Cf that can be seen: signs that enclose Arabic, Syriac and Kaithi numbers.
VISIBLE_MARKS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
TABS_AND_NEWLINES = "\n\t"
FORMULA_STARTS = "=+-@\uff1d\uff0b\uff0d\uff20"  # in ASCII and in full width
SIGNED_NUMBER = re.compile(r"[+-][0-9., ]*[0-9](?:[eE][+-]?[0-9]+)?%?")
MARKDOWN_MARKS = re.compile(r"[\\`*_{}\[\]()#+!|~$<>&:.@^=\"]")  # every one may follow a backslash in CommonMark
MAX_SHOWN_CHARACTERS = 60  # of a word in a table
PHRASE_SEPARATOR = " · "


def for_terminal(text: str, *, lines: bool = False) -> str:
    r"""The text with escapes such as \x1b for characters that control a terminal or that reorder or hide text.

    These are control characters (C0, DEL and C1), format characters such as bidirectional overrides and zero-width
    spaces, line separators, and lone surrogates, which cannot be printed at all.

    lines : whether line breaks and tabs stay as they are

    >>> print(for_terminal("\x1b[31mred\u202e"))
    \x1b[31mred\u202e
    """
    if text.isprintable():
        return text
    kept = TABS_AND_NEWLINES if lines else ""
    return "".join(c if c in kept or not _is_hidden(c) else _escaped(c) for c in text)


def for_csv(cell: Any) -> Any:
    r"""A cell that a spreadsheet can open safely: text that it would run as a formula gets a leading apostrophe.

    Numbers stay as they are, even if they are text ("-1.5"). Control characters become escapes, except line breaks
    and tabs.

    >>> [for_csv(cell) for cell in ("=1+1", "-1", -1, "a\x1b[2J")]
    ["'=1+1", '-1', -1, 'a\\x1b[2J']
    """
    if not isinstance(cell, str):
        return cell
    text = cell
    if not cell.isprintable():
        whole = cell.replace("\r\n", "\n")
        text = "".join(
            c if c in TABS_AND_NEWLINES or unicodedata.category(c) not in ("Cc", "Cs") else _escaped(c) for c in whole
        )
    return f"'{text}" if _is_formula(cell) else text


def for_json(value: Any, indent: int | None = None) -> str:
    r"""The value as JSON that every parser accepts and that is safe to print: hidden characters become \u escapes.

    NaN and infinities, which JSON does not have, become null. Values without a JSON type, such as dates, become text.

    >>> for_json({"word": "\x9b31m", "score": float("nan")})
    '{"word": "\\u009b31m", "score": null}'
    """
    settings: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False, "default": _json_default, "indent": indent}
    try:
        text = json.dumps(value, **settings)
    except ValueError:
        text = json.dumps(_without_nan(value), **settings)
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or not _is_hidden(c) else json.dumps(c)[1:-1] for c in text)


def for_html(text: str) -> str:
    r"""The text as HTML that shows it: no markup, and escapes for characters that reorder or hide text.

    >>> for_html("</script>\u202e<b>")
    '&lt;/script&gt;\\u202e&lt;b&gt;'
    """
    return html.escape(for_terminal(text, lines=True))


def for_markdown(text: str) -> str:
    r"""The text as Markdown that shows it, within a line or a cell of a table: no markup, HTML, links or mentions.

    >>> print(for_markdown("<b>a|b</b> *x*"))
    \<b\>a\|b\</b\> \*x\*
    """
    return MARKDOWN_MARKS.sub(r"\\\g<0>", for_terminal(text))


# Notebooks centre or right-align what says nothing else; words are read from the left.
CELL = 'style="text-align: left; vertical-align: top; padding: 0.15em 1.2em 0.15em 0"'
CAPTION = 'style="text-align: left; font-weight: bold; white-space: nowrap; padding: 0.3em 0"'


def html_table(title: str, headers: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """An HTML table for notebooks; cells are text or numbers, and nothing in them becomes markup.

    headers : names of the columns, or none. The first cell of each row is its heading
    note : a line below the table
    """
    head = "".join(f'<th scope="col" {CELL}>{for_html(name)}</th>' for name in headers)
    body = "".join(
        f'<tr><th scope="row" {CELL}>{for_html(str(first))}</th>'
        + "".join(f"<td {CELL}>{for_html(str(cell))}</td>" for cell in cells)
        + "</tr>"
        for first, *cells in rows
    )
    return (
        f'<table style="border-collapse: collapse"><caption {CAPTION}>{for_html(title)}</caption>'
        + (f"<thead><tr>{head}</tr></thead>" if head else "")
        + f"<tbody>{body}</tbody></table>"
        + (f"<p>{for_html(note)}</p>" if note else "")
    )


def storable(text: str) -> str:
    r"""The text with escapes in place of lone surrogates, which UTF-8 cannot encode.

    >>> storable("a\udc80")
    'a\\udc80'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shown_word(word: str) -> str:
    """A word for a table: safe to print, cut if it is long, in quotation marks if it is blank.

    >>> shown_word("x" * 100)[-3:], shown_word(" ")
    ('xx…', '" "')
    """
    safe = for_terminal(word)
    if not safe.strip():
        return f'"{safe}"'
    return safe if len(safe) <= MAX_SHOWN_CHARACTERS else f"{safe[: MAX_SHOWN_CHARACTERS - 1]}…"


def shown_words(topics: Iterable[Iterable[str]]) -> list[str]:
    """The words of each topic as one line; " · " separates them if any word is a phrase, otherwise a blank.

    >>> shown_words([["supreme court", "impeachment"], ["tax", "budget"]])
    ['supreme court · impeachment', 'tax · budget']
    >>> shown_words([["tax", "budget"]])
    ['tax budget']
    """
    safe = [[shown_word(word) for word in words] for words in topics]
    phrases = any(character.isspace() for words in safe for word in words for character in word)
    return [(PHRASE_SEPARATOR if phrases else " ").join(words) for words in safe]


def _is_hidden(character: str) -> bool:
    """Whether a character is invisible and affects what is displayed."""
    if character in JOINERS or character in VISIBLE_MARKS:
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet would run the cell: its first visible character starts a formula, not a number."""
    if cell[:1] in ("\t", "\r", "\n"):
        return True
    for position, character in enumerate(cell):
        if unicodedata.category(character)[0] not in "ZC":  # spreadsheets skip blanks, some skip invisible ones
            return character in FORMULA_STARTS and not SIGNED_NUMBER.fullmatch(cell[position:].rstrip())
    return False


def _json_default(value: Any) -> Any:
    """A number of NumPy as a number of Python, any other object as text."""
    return value.item() if hasattr(value, "item") else str(value)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value
