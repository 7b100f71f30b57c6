"""The edit log: what people changed in a model, as data that can be stored, replayed and undone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from fdmix.storage.facts import mapping, stated_number, string, strings

STRENGTH = 0.02  # of a seed word unless given: enough to be among the first words of nearly every topic
MAX_STRENGTH = 10.0
OTHERS = ("near", "stay", "follow")  # which topics may move that no edit concerns


@dataclass(frozen=True)
class Merge:
    """Topics become one, which has the number of the first."""

    topics: tuple[int, ...]


@dataclass(frozen=True)
class Split:
    """A topic becomes two: one keeps the number, the other gets the next free one."""

    topic: int


@dataclass(frozen=True)
class Drop:
    """A topic goes away; its words fall to other topics."""

    topic: int


@dataclass(frozen=True)
class Seed:
    """Words that a topic must hold, each with its strength; the name of no topic makes a new one."""

    topic: int | str
    words: Mapping[str, float]


@dataclass(frozen=True)
class Ban:
    """Words that a topic must not hold, or no topic (None)."""

    words: tuple[str, ...]
    topic: int | None


@dataclass(frozen=True)
class Together:
    """Words that have the same topics."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Apart:
    """Words of which a topic holds one at most."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Freeze:
    """A topic whose words stay as they are."""

    topic: int


@dataclass(frozen=True)
class Rename:
    """A topic's label; "" removes it."""

    topic: int
    label: str


@dataclass(frozen=True)
class Pin:
    """A topic gets a number and keeps it."""

    topic: int
    number: int


Edit = Merge | Split | Drop | Seed | Ban | Together | Apart | Freeze | Rename | Pin
KINDS: dict[str, type[Any]] = {
    kind.__name__.lower(): kind
    for kind in (Merge, Split, Drop, Seed, Ban, Together, Apart, Freeze, Rename, Pin)
}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """Edits that were fitted together.

    moments : checksum of the moments that they were fitted to
    passes : of the refit
    others : one of OTHERS
    story : what it did, for people (`StepStory.facts`); None in models that are older than this
    """

    edits: tuple[Edit, ...]
    moments: str
    passes: int
    others: str
    story: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class EditLog:
    """All edits since the base model, in steps.

    base : fingerprint of the model before the first step
    labels : of the base
    inherited : constraints that held in the base already, from before an update of the moments
    steps : what was done, the oldest first
    standing : constraints that hold now, in the numbers of the edited model
    """

    base: str
    labels: Mapping[int, str]
    inherited: tuple[Edit, ...] = ()
    steps: tuple[Step, ...] = ()
    standing: tuple[Edit, ...] = ()

    def with_step(self, step: Step, standing: tuple[Edit, ...]) -> EditLog:
        """The log after one more step."""
        return replace(self, steps=(*self.steps, step), standing=standing)

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "base": self.base,
            "labels": {str(topic): label for topic, label in self.labels.items()},
            "inherited": [facts_of(edit) for edit in self.inherited],
            "steps": [
                {
                    "edits": [facts_of(edit) for edit in step.edits],
                    "moments": step.moments,
                    "passes": step.passes,
                    "others": step.others,
                    "story": step.story,
                }
                for step in self.steps
            ],
            "standing": [facts_of(edit) for edit in self.standing],
        }

    @classmethod
    def from_facts(cls, facts: Any) -> EditLog:
        """What `facts` gave, checked."""
        stated = mapping(facts, "the edits")
        try:
            labels = mapping(stated["labels"], "the labels")
            return cls(
                string(stated["base"], "the base"),
                {int(topic): string(label, "a label") for topic, label in labels.items()},
                _edits(stated["inherited"]),
                tuple(_step(step) for step in _items(stated["steps"], "the steps")),
                _edits(stated["standing"]),
            )
        except KeyError as missing:
            raise ValueError(f"the log of edits is damaged: {missing.args[0]!r} is missing") from None


def facts_of(edit: Edit) -> dict[str, Any]:
    """An edit for JSON, such as {"edit": "merge", "topics": [3, 7]}."""
    found: dict[str, Any] = {"edit": type(edit).__name__.lower()}
    for each in fields(edit):
        value = getattr(edit, each.name)
        found[each.name] = list(value) if isinstance(value, tuple) else dict(value) if each.name == "words" else value
    return found


def edit_of_facts(facts: Any) -> Edit:
    """The edit that `facts_of` wrote, checked.

    >>> edit_of_facts({"edit": "merge", "topics": [3, 7]})
    Merge(topics=(3, 7))
    """
    stated = dict(mapping(facts, "an edit"))
    name = string(stated.pop("edit"), "the kind of an edit")
    if name not in KINDS:
        raise ValueError(f"there is no edit {name[:40]!r}; there are {', '.join(KINDS)}")
    kind = KINDS[name]
    known = {each.name for each in fields(kind)}
    if set(stated) != known:
        raise ValueError(f"the edit {name!r} needs {', '.join(sorted(known))}, not {', '.join(sorted(stated))[:80]}")
    found: Edit = kind(**{field: _checked(name, field, value) for field, value in stated.items()})
    return found


def _checked(kind: str, field: str, value: Any) -> Any:
    if field == "topics":
        return tuple(stated_number(topic, "a topic") for topic in _items(value, "the topics"))
    if field in ("topic", "number"):
        if (kind == "ban" and value is None) or (kind == "seed" and isinstance(value, str)):
            return value
        return stated_number(value, f"the {field} of an edit")
    if field == "label":
        return string(value, "a label")
    if kind == "seed":
        return {word: checked_strength(word, strength) for word, strength in mapping(value, "seed words").items()}
    return strings(value, "the words of an edit")


def checked_strength(word: str, strength: Any) -> float:
    """The strength of a seed word, or a ValueError."""
    if isinstance(strength, bool) or not isinstance(strength, int | float) or not math.isfinite(strength):
        raise ValueError(f"the strength of the seed word {word[:40]!r} must be a number, not {strength!r}")
    if not 0 < strength <= MAX_STRENGTH:
        raise ValueError(
            f"the strength of the seed word {word[:40]!r} must be above 0 and at most {MAX_STRENGTH:g}, not "
            f"{strength:g}: 0.02 makes it one of the first words"
        )
    return float(strength)


def _step(facts: Any) -> Step:
    stated = mapping(facts, "a step")
    others = string(stated["others"], "others")
    if others not in OTHERS:
        raise ValueError(f"others must be one of {', '.join(OTHERS)}, not {others[:40]!r}")
    return Step(
        _edits(stated["edits"]),
        string(stated["moments"], "the checksum of the moments"),
        stated_number(stated["passes"], "the passes", least=1),
        others,
        None if stated.get("story") is None else mapping(stated["story"], "what a step did"),
    )


def _edits(facts: Any) -> tuple[Edit, ...]:
    return tuple(edit_of_facts(edit) for edit in _items(facts, "the edits"))


def _items(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list")
    return value
