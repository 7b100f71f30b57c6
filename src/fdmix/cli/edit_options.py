"""How edits are written on the command line."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fdmix.edits.log import STRENGTH

TOPICS, WORDS, NUMBERS = "Edits of topics", "Edits of words", "Labels and numbers"


def _edit(help: str, panel: str, value: str) -> Any:
    """The type of an option for an edit, which may be given several times."""
    return Annotated[list[str] | None, typer.Option(help=help, rich_help_panel=panel, metavar=value)]


AskMerge = _edit("Make one topic of several; it has the first number.", TOPICS, "T,T")
AskSplit = _edit("Make two topics of one.", TOPICS, "T")
AskDrop = _edit("Take a topic away.", TOPICS, "T")
AskSeed = _edit(
    "Words that a topic must hold. A name that no topic has makes a new one; word=0.05 sets a strength.", WORDS,
    "'T: WORDS'",
)  # fmt: skip
AskBan = _edit("Words that no topic may hold; with T, only topic T must not hold them.", WORDS, "'[T:] WORDS'")
AskTogether = _edit("Words that get the same topics.", WORDS, "WORDS")
AskApart = _edit("Words of which a topic may hold one at most.", WORDS, "WORDS")
AskFreeze = _edit("Keep the words of a topic as they are.", WORDS, "T")
AskRename = _edit("Give a topic a label.", NUMBERS, "'T: LABEL'")
AskPin = _edit("Fix a topic's number, or give it another one.", NUMBERS, "T[=N]")


def list_of(text: str, option: str, most: int | None = None) -> list[int]:
    """Numbers of topics.

    >>> list_of("3,7", "--merge")
    [3, 7]
    """
    parts = text.replace(",", " ").split()
    if not parts or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise ValueError(f"{option} takes numbers of topics, such as 3,7, not {text!r}")
    if most is not None and len(parts) > most:
        raise ValueError(f"{option} takes a topic and a number, such as 12=0, not {text!r}")
    return [int(part) for part in parts]


def words_of(text: str) -> list[str]:
    """Words between blanks, or between commas if there are any.

    >>> words_of("carbon warming"), words_of("supreme court, judge")
    (['carbon', 'warming'], ['supreme court', 'judge'])
    """
    return [word.strip() for word in text.split(",") if word.strip()] if "," in text else text.split()


def seeds_of(text: str) -> dict[int | str, dict[str, float]]:
    """Seeds of one topic.

    >>> seeds_of("climate: carbon warming=0.05")
    {'climate': {'carbon': 0.02, 'warming': 0.05}}
    """
    name, colon, words = text.partition(":")
    if not colon or not name.strip():
        raise ValueError(f"--seed takes a topic and its words, such as 'climate: carbon warming', not {text!r}")
    seeds = {}
    for word in words_of(words):
        before, equals, strength = word.rpartition("=")
        try:
            seeds[before if equals else word] = float(strength) if equals else STRENGTH
        except ValueError:
            seeds[word] = STRENGTH  # a word that holds an equals sign
    topic = name.strip()
    return {int(topic) if topic.isascii() and topic.isdigit() and len(topic) < 10 else topic: seeds}


def named_words(text: str) -> tuple[int | None, list[str]]:
    """(topic or None, words) of a ban.

    >>> named_words("lol rofl"), named_words("12: lol")
    ((None, ['lol', 'rofl']), (12, ['lol']))
    """
    before, colon, words = text.partition(":")
    if colon and before.strip().isascii() and before.strip().isdigit():
        return list_of(before, "--ban")[0], words_of(words)
    return None, words_of(text)


def topic_and_text(text: str, option: str) -> tuple[int, str]:
    """(topic, text).

    >>> topic_and_text("3: taxes", "--rename")
    (3, 'taxes')
    """
    before, colon, label = text.partition(":")
    if not colon:
        raise ValueError(f"{option} takes a topic and its label, such as '3: taxes', not {text!r}")
    return list_of(before, option)[0], label.strip()
