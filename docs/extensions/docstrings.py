"""Docstrings of fdmix for Sphinx: the text that a terminal shows well becomes reStructuredText.

A docstring has paragraphs, lists of `name : meaning`, headings that are underlined, formulas that are indented, and
examples. All other characters are plain text, so that symbols such as `theta_d` need no escapes in the source.
"""

import re
from typing import Any

from sphinx.util import logging

ENTRY = re.compile(r"^(\*{0,2}\w[\w.]*(?:, \*{0,2}\w[\w.]*)*) : (.*)")
PAGE = re.compile(r"docs/([\w/-]+)\.md")
ARRAY = re.compile(r"ndarray\[Any, dtype\[[^\]]*\]\]")
MARKUP = re.compile(r"([\\*_|`])")


def setup(app: Any) -> dict[str, Any]:
    """What Sphinx calls."""
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _short_signature)
    return {"parallel_read_safe": True}


def _process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Replace the lines in place, as Sphinx wants it. A missing docstring is a warning, which fails the build."""
    if not any(line.strip() for line in lines) and what != "attribute":
        logging.getLogger(__name__).warning("%s has no docstring", name)
    lines[:] = restructured(lines)


def _short_signature(
    app: Any, what: str, name: str, obj: Any, options: Any, arguments: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """The signature without the types of the numbers in arrays, which the docstring tells in words."""
    arguments, returned = (None if text is None else ARRAY.sub("ndarray", text) for text in (arguments, returned))
    return arguments, returned


def restructured(lines: list[str]) -> list[str]:
    """The docstring's lines as reStructuredText.

    >>> restructured(["The share of mu_t.", "", "n : how many", "    there are"])
    ['The share of mu\\\\_t.', '', '- **n**: how many there are', '']
    """
    out: list[str] = []
    for block in _blocks(lines):
        if block[0].startswith(">>>"):
            out += [*block, ""]
        elif block[0].startswith("    "):
            out += ["::", "", *block, ""]
        else:
            out += [*_paragraph(block), ""]
    return out


def _blocks(lines: list[str]) -> list[list[str]]:
    """The lines between empty lines."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line.rstrip())
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _paragraph(block: list[str]) -> list[str]:
    """A heading, a list of names with their meanings, or text."""
    out: list[str] = []
    for line in block:
        entry = ENTRY.match(line)
        if set(line) == {"-"} and out:
            out[-1] = f"**{out[-1]}**"
            out.append("")
        elif entry:
            if out and out[-1] and not out[-1].startswith("- "):
                out.append("")
            out.append(f"- **{escaped(entry[1])}**: {escaped(entry[2])}")
        elif line.startswith("    ") and out and out[-1].startswith("- "):
            out[-1] += " " + escaped(line.strip())
        else:
            if out and out[-1].startswith("- "):
                out.append("")
            out.append(escaped(line.strip()))
    return out


def escaped(text: str) -> str:
    r"""Text whose markup characters are plain, and whose code in backticks is code.

    >>> escaped("`fit` finds mu_t")
    '``fit`` finds mu\\_t'
    """
    parts = re.split(r"``?([^`]+)``?", text)
    shown = [f"``{part}``" if i % 2 else MARKUP.sub(r"\\\1", part) for i, part in enumerate(parts)]
    return PAGE.sub(r":doc:`/\1`", _apart(shown))


def _apart(parts: list[str]) -> str:
    """The parts in a row; code that touches a letter needs an escaped space between them."""
    text = ""
    for part in parts:
        touching = text.endswith("``") and part[:1].isalnum()
        text += ("\\ " if touching or (part.startswith("``") and text[-1:].isalnum()) else "") + part
    return text
