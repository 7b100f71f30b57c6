"""Topics before and after a step of edits: what people see of it, small enough to be kept in the log of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from fdmix.edits.plan import Plan
from fdmix.mixture.mixture import Mixture
from fdmix.mixture.ranking import WordRanking, relevance_weight
from fdmix.storage.facts import mapping, stated_number, string, strings

MOVED = 0.01  # l1 from which on a topic is said to have moved; rounding and a pass of EM move all a little
N_WORDS = 8  # of each topic
MAX_TOPICS = 60  # that a log keeps of a step; those that edits concern come first
ROLES = ("edited", "new", "gone", "moved")


@dataclass(frozen=True)
class OneSide:
    """A topic on one side of a step: its number, its label ("" if it has none), its share and its first words."""

    number: int
    label: str
    share: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class TopicChange:
    """A topic before and after a step.

    role : "edited" if an edit concerns it, "new", "gone", or "moved" if it moved though no edit concerns it
    before, after : None for topics that are new, or gone
    distance : l1 between its words before and after, from 0 to 2; None for topics that are new, or gone
    """

    role: str
    before: OneSide | None
    after: OneSide | None
    distance: float | None


def topic_changes(plan: Plan, mixture: Mixture, made: set[int]) -> tuple[TopicChange, ...]:
    """The topics that a step changed: those that edits concern, new ones, gone ones, then those that moved, by l1.

    made : topics that the step made, by their numbers in the plan
    """
    old, numbers = plan.mixture, plan.numbers
    found: list[tuple[str, int | None, int | None, float | None]] = []
    for topic in sorted(plan.live, key=lambda t: numbers[t]):
        after = numbers[topic]
        if topic in made or topic >= old.n_topics:
            found.append(("new", None, after, None))
            continue
        distance = float(np.abs(old.topics[topic] - mixture.topics[after]).sum())
        if topic in plan.touched or distance >= MOVED:
            found.append(("edited" if topic in plan.touched else "moved", topic, after, distance))
    kept = {topic for topic in plan.live if topic not in made}
    found += [("gone", topic, None, None) for topic in range(old.n_topics) if topic not in kept]
    found.sort(key=lambda row: (ROLES.index(row[0]), -(row[3] or 0.0) if row[0] == "moved" else 0))
    del found[MAX_TOPICS:]
    before = _sides(old, [t for _, t, _, _ in found if t is not None])
    now = _sides(mixture, [t for _, _, t, _ in found if t is not None])
    return tuple(
        TopicChange(
            role, None if earlier is None else before[earlier], None if later is None else now[later], distance
        )
        for role, earlier, later, distance in found
    )


def _sides(mixture: Mixture, topics: list[int]) -> dict[int, OneSide]:
    """One side of the topics of these numbers, with their words as the model ranks them."""
    if not topics:
        return {}
    shares = mixture.shares
    ranking = WordRanking(mixture.topics[topics], shares[topics], mixture.n_tokens, shares @ mixture.topics)
    columns = ranking.order(relevance_weight(None, mixture.relevance), min(N_WORDS, mixture.n_words))
    return {
        topic: OneSide(
            topic, mixture.labels.get(topic, ""), float(shares[topic]),
            tuple(mixture.word(u) for u in row if mixture.topics[topic, u] > 0),
        )
        for topic, row in zip(topics, columns.tolist(), strict=True)
    }  # fmt: skip


@dataclass(frozen=True)
class StepStory:
    """What a step did, as a log keeps it: topics before and after, and the log-likelihood of a pair of tokens.

    A log-likelihood is -inf if the model gives some pair of the text no chance. `missing` are words of the edits that
    the model does not have, and that were left out.
    """

    topics: tuple[TopicChange, ...]
    log_likelihood_before: float
    log_likelihood: float
    missing: tuple[str, ...] = ()

    @property
    def cost(self) -> float:
        """Log-likelihood that the edits cost, for a pair of tokens; negative if they gained, NaN if both are -inf."""
        return self.log_likelihood_before - self.log_likelihood

    def facts(self) -> dict[str, Any]:
        """For JSON, which has no infinite numbers: they become null."""
        before, after = (
            value if isfinite(value) else None for value in (self.log_likelihood_before, self.log_likelihood)
        )
        return {
            "topics": [
                {
                    "role": change.role,
                    "before": _facts_of_side(change.before),
                    "after": _facts_of_side(change.after),
                    "distance": change.distance,
                }
                for change in self.topics
            ],
            "log_likelihood_before": before,
            "log_likelihood": after,
            "missing": list(self.missing),
        }

    @classmethod
    def from_facts(cls, facts: Any) -> StepStory:
        """What `facts` gave, checked."""
        stated = mapping(facts, "what a step did")
        return cls(
            tuple(_change(mapping(each, "a change")) for each in stated["topics"]),
            _likelihood(stated["log_likelihood_before"]),
            _likelihood(stated["log_likelihood"]),
            strings(stated.get("missing", []), "the words that were left out"),
        )


def _likelihood(stated: float | None) -> float:
    return -inf if stated is None else float(stated)


def _facts_of_side(side: OneSide | None) -> dict[str, Any] | None:
    return None if side is None else {**vars(side), "words": list(side.words)}


def _change(stated: Mapping[str, Any]) -> TopicChange:
    before, after = (_stated_side(stated[name]) for name in ("before", "after"))
    role, distance = string(stated["role"], "the role of a topic"), stated["distance"]
    if role not in ROLES or (before is None) != (role == "new") or (after is None) != (role == "gone"):
        raise ValueError(f"a topic cannot be {role[:40]!r} in a step of edits")
    return TopicChange(role, before, after, None if distance is None else float(distance))


def _stated_side(value: Any) -> OneSide | None:
    if value is None:
        return None
    stated = mapping(value, "a topic of a step")
    return OneSide(
        stated_number(stated["number"], "the number of a topic"), string(stated["label"], "a label"),
        float(stated["share"]), strings(list(stated["words"]), "the words of a topic"),
    )  # fmt: skip
