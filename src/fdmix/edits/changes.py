"""What edits did to a model: which topics moved, what became of the words, and what likelihood it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fdmix.edits.before_after import MOVED, StepStory, TopicChange, topic_changes
from fdmix.edits.plan import Plan
from fdmix.mixture.mixture import Mixture


@dataclass(frozen=True)
class WordControl:
    """A word that an edit named: its rank in a topic and its probability there, before and after. Rank 1 is first.

    wanted : True for a seed, False for a ban
    rank_before, before : None if the topic is new
    """

    topic: int
    word: str
    wanted: bool
    rank_before: int | None
    rank: int
    before: float | None
    probability: float


@dataclass(frozen=True)
class Changes:
    """What edits did.

    renumbered : old number -> new number, of topics that had to change it
    new : numbers of topics that edits made
    gone : old numbers of topics that were merged into others or dropped
    touched : new numbers of topics that edits concern
    moved : (new number, l1 between its old and new words) of other topics, the largest change first
    words : what became of seeds and of words banned from one topic
    missing : words of the edits that the model does not have
    log_likelihood_before, log_likelihood : of a pair of tokens
    topics : all topics that changed, before and after
    """

    renumbered: Mapping[int, int]
    new: tuple[int, ...]
    gone: tuple[int, ...]
    touched: tuple[int, ...]
    moved: tuple[tuple[int, float], ...]
    words: tuple[WordControl, ...]
    missing: tuple[str, ...]
    log_likelihood_before: float
    log_likelihood: float
    topics: tuple[TopicChange, ...] = ()

    @property
    def cost(self) -> float:
        """Log-likelihood that the edits cost, for a pair of tokens; negative if they gained."""
        return self.log_likelihood_before - self.log_likelihood

    @classmethod
    def of(cls, plan: Plan, mixture: Mixture, before: float, after: float) -> Changes:
        """The changes from the plan's mixture to the edited one."""
        numbers, old = plan.numbers, plan.mixture
        made = {o.other for o in plan.operations if o.kind == "split"}
        made |= {o.topic for o in plan.operations if o.kind == "new"}
        kept = [t for t in plan.live if t < old.n_topics and t not in made]
        distances = {
            numbers[t]: float(np.abs(old.topics[t] - mixture.topics[numbers[t]]).sum())
            for t in kept if t not in plan.touched
        }  # fmt: skip
        moved = sorted(((t, d) for t, d in distances.items() if d >= MOVED), key=lambda pair: (-pair[1], pair[0]))
        return cls(
            {t: numbers[t] for t in sorted(kept) if numbers[t] != t},
            tuple(sorted(numbers[t] for t in made & plan.live)),
            tuple(t for t in range(old.n_topics) if t not in kept),
            tuple(sorted(numbers[t] for t in plan.touched)),
            tuple(moved),
            tuple(_controls(plan, mixture, made)),
            tuple(plan.missing),
            before,
            after,
            topic_changes(plan, mixture, made),
        )

    @property
    def story(self) -> StepStory:
        """What the log of the model keeps."""
        return StepStory(self.topics, self.log_likelihood_before, self.log_likelihood, self.missing)


def _controls(plan: Plan, mixture: Mixture, made: set[int]) -> list[WordControl]:
    wanted = [(t, u, True) for t, seeds in sorted(plan.seeds.items()) for u in sorted(seeds)]
    wanted += [(t, u, False) for t, u in sorted(plan.topic_bans)]
    found = []
    for topic, column, is_seed in wanted:
        if topic not in plan.touched:
            continue
        number = plan.numbers[topic]
        existed = topic < plan.mixture.n_topics and topic not in made
        earlier = plan.mixture.topics[topic] if existed else None
        found.append(
            WordControl(
                number, mixture.word(column), is_seed,
                None if earlier is None else _rank(earlier, column), _rank(mixture.topics[number], column),
                None if earlier is None else float(earlier[column]), float(mixture.topics[number, column]),
            )
        )  # fmt: skip
    return found


def _rank(topic: np.ndarray[tuple[int], np.dtype[np.float64]], column: int) -> int:
    return int((topic > topic[column]).sum()) + 1
