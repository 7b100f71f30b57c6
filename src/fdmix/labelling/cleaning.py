"""A usable label from what a language model answered: one short line of plain text."""

from __future__ import annotations

import re
import unicodedata

from fdmix.display import JOINERS

MAX_LABEL_CHARACTERS = 60
THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,100}>")
HEADING = re.compile(r"^(?:the )?(?:topic |suggested )?(?:label|name|title|topic)(?: is)?\s*[:=]\s*", re.IGNORECASE)
LINE_MARK = re.compile(r"^(?:[-*•#>]+|\d+[.)])\s+")
AROUND = " \t\"'`*_~“”„‘’«»[](){}<>|"


def clean_label(answer: str) -> str:
    r"""The first line of an answer without markup, quotation marks and hidden characters, cut to 60 characters.

    "" if nothing is left. Characters such as "<" that are no markup stay: labels are data, and whoever shows them
    escapes them.

    >>> clean_label('**Label:** "Tax policy\x1b[31m".\nThis topic is about taxes.')
    'Tax policy[31m'
    >>> clean_label("<think>It says tax.</think>\n\n# Taxes & budgets")
    'Taxes & budgets'
    """
    text = TAG.sub("", THINKING.sub("", answer))
    for line in text.splitlines():
        visible = "".join(c for c in line if c.isspace() or not _is_hidden(c))
        label = " ".join(LINE_MARK.sub("", visible.strip()).split())
        label = HEADING.sub("", label.replace("**", "").replace("__", "").strip(AROUND)).strip(AROUND)
        label = label.rstrip(".").strip(AROUND)
        if label:
            return _shortened(label)
    return ""


def _is_hidden(character: str) -> bool:
    return character not in JOINERS and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn")


def _shortened(label: str) -> str:
    """At most 60 characters, whole words if possible."""
    if len(label) <= MAX_LABEL_CHARACTERS:
        return label
    cut = label[:MAX_LABEL_CHARACTERS]
    at_word = cut.rpartition(" ")[0]
    return (at_word if len(at_word) >= MAX_LABEL_CHARACTERS // 2 else cut[:-1]).rstrip(" ,;:-") + "…"
