"""Edits as people say them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from fdmix.edits.log import Edit

SENTENCES = {
    "Split": "split topic {topic} into two",
    "Drop": "drop topic {topic}",
    "Freeze": "freeze topic {topic}",
    "Pin": "topic {topic} has the number {number}",
}


def edit_in_words(edit: Edit) -> str:
    """What an edit asks for, in the numbers of the topics before it.

    >>> from fdmix.edits.log import Ban, Merge
    >>> edit_in_words(Merge((3, 7))), edit_in_words(Ban(("lol",), None))
    ('merge topics 3 and 7', 'no topic holds lol')
    """
    kind, said = type(edit).__name__, vars(edit)
    if kind in SENTENCES:
        return SENTENCES[kind].format(**said)
    if kind == "Merge":
        return f"merge topics {_listed(map(str, said['topics']))}"
    if kind == "Rename":
        return (
            f"call topic {said['topic']} “{said['label']}”"
            if said["label"]
            else f"no label for topic {said['topic']}"
        )
    named = _with_strengths(said["words"]) if isinstance(said["words"], Mapping) else said["words"]
    words = _listed(named, "or" if kind == "Ban" else "and")
    if kind == "Seed":
        topic = said["topic"]
        return f"{f'topic {topic}' if isinstance(topic, int) else f'“{topic}”'} holds {words}"
    if kind == "Ban":
        return f"no topic holds {words}" if said["topic"] is None else f"topic {said['topic']} does not hold {words}"
    return f"{words} belong together" if kind == "Together" else f"no topic holds two of {words}"


def cost_in_words(cost: float) -> str:
    """What a step did to the log-likelihood of a pair; without a number where the model gave some pair no chance.

    >>> cost_in_words(0.01234), cost_in_words(-0.5), cost_in_words(math.inf)
    ('cost 0.0123', 'gained 0.5000', 'some word pairs of the text have no chance now')
    """
    if math.isfinite(cost):
        return f"{'cost' if cost >= 0 else 'gained'} {abs(cost):.4f}"
    when = {math.inf: "now", -math.inf: "before only"}.get(cost, "before and now")
    return f"some word pairs of the text have no chance {when}"


def _with_strengths(words: Mapping[str, float]) -> list[str]:
    """The words; with their strengths if these differ."""
    if len(set(words.values())) < 2:
        return list(words)
    return [f"{word} ({strength:g})" for word, strength in words.items()]


def _listed(items: Iterable[Any], last: str = "and") -> str:
    each = list(items)
    return f" {last} ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)
