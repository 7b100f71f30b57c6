"""Edit a model: say what to change, refit in a second or two, see what it did, undo it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fdmix.edits.before_after import StepStory
from fdmix.edits.changes import Changes
from fdmix.edits.constraints import Constraints
from fdmix.edits.log import (
    OTHERS,
    STRENGTH,
    Apart,
    Ban,
    Drop,
    Edit,
    EditLog,
    Freeze,
    Merge,
    Pin,
    Rename,
    Seed,
    Split,
    Step,
    Together,
    checked_strength,
)
from fdmix.edits.plan import Plan
from fdmix.edits.refit import refit, shrinkage_for
from fdmix.edits.start import Start, near
from fdmix.edits.storing import LOG, base_digest, read_base, write_base
from fdmix.edits.words import Words
from fdmix.edits.workspace import Workspace
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.runtime.whole_numbers import whole_number

PASSES = 3  # of a refit unless asked for more: what a second at T = 200 has room for (docs/how-to/editing.md)


@dataclass(frozen=True, eq=False)
class Edited:
    """An edited model.

    mixture : the model after the edits
    changes : what the last step did; None for a model that was not refitted
    base : the model before the first edit
    log : all edits since then
    """

    mixture: Mixture
    changes: Changes | None
    base: Mixture
    log: EditLog
    workspace: Workspace

    @property
    def log_likelihood(self) -> float:
        """Of a pair of tokens; after a step, what this step ended with, so that a replay tells the same story."""
        last = self.log.steps[-1] if self.log.steps else None
        if last is not None and last.story is not None and last.moments == self.workspace.checksum:
            return StepStory.from_facts(last.story).log_likelihood
        return self.workspace.log_likelihood(self.mixture)

    def edit(self) -> Editor:
        """Go on editing, without setting up the word pairs again."""
        return Editor(self)

    def undo(self, steps: int = 1) -> Edited:
        """The model before the last step, or before more of them: the same bits as it had then."""
        whole_number("steps", steps, least=1)
        if steps > len(self.log.steps):
            raise ValueError(_too_many_undone(len(self.log.steps), steps))
        return replayed(self.base, self.log, self.workspace, len(self.log.steps) - steps)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model with its log, and the base beside it, so that it can be undone later."""
        self.mixture.save(path)
        write_base(path, self.base)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        moments: Moments,
        *,
        engine: str = "auto",
        n_threads: int | None = None,
    ) -> Edited:
        """Read a model, edited or not, to go on editing it or to undo edits."""
        workspace = Workspace(moments, engine, n_threads)
        mixture = Mixture.load(path)
        if LOG not in mixture.provenance:
            return unedited(mixture, workspace)
        log = EditLog.from_facts(mixture.provenance[LOG])
        return cls(mixture, None, read_base(path, mixture, log), log, workspace)


class Editor:
    """Edits that wait for `fit`. Each method returns a new editor and refuses at once what cannot be done.

    Topics are named by their numbers before the edits. Topics that edits make get the lowest number that is free, or
    the next one; `new_topics` tells it.
    """

    def __init__(self, edited: Edited, edits: tuple[Edit, ...] = (), words: Words | None = None) -> None:
        self.edited, self.edits = edited, edits
        self.mixture = edited.workspace.aligned(edited.mixture)
        self.words = Words(self.mixture, edited.workspace.seen) if words is None else words
        self.plan = Plan.of(self.mixture, edited.log.standing, edits, self.words)

    def _with(self, *edits: Edit) -> Editor:
        return Editor(self.edited, (*self.edits, *edits), self.words)

    def merge(self, *topics: int) -> Editor:
        """Make one topic of several; it has the number of the first."""
        return self._with(Merge(tuple(map(_number, topics))))

    def split(self, topic: int) -> Editor:
        """Make two topics of one, by the pairs of its words; one keeps the number."""
        return self._with(Split(_number(topic)))

    def drop(self, topic: int) -> Editor:
        """Take a topic away; its words fall to others."""
        return self._with(Drop(_number(topic)))

    def seed(self, words: Mapping[Any, Any], strength: float = STRENGTH) -> Editor:
        """Words that topics must hold: `{"climate": ["carbon", "warming"], 3: {"tax": 0.05}}`.

        A topic is a number or a label; a name that no topic has makes a new one. The topic's number is fixed.

        strength : s, pseudo-counts as a share of the topic's tokens: the word's probability in the topic is at least
            s / (1 + the sum of all s of the topic). It may differ for each word
        """
        if not isinstance(words, Mapping):
            raise TypeError('seeds are given by topic: {"climate": ["carbon", "warming"]}')
        edits = []
        for topic, given in words.items():
            listed = given if isinstance(given, Mapping) else dict.fromkeys(_listed(given), strength)
            edits.append(
                Seed(
                    topic if isinstance(topic, str) else _number(topic),
                    {word: checked_strength(str(word), s) for word, s in listed.items()},
                )
            )
        return self._with(*edits)

    def ban(self, *words: str, topic: int | None = None) -> Editor:
        """Words that a topic must not hold, or no topic at all."""
        return self._with(Ban(words, None if topic is None else _number(topic)))

    def together(self, *words: str) -> Editor:
        """Words that belong together: they get the same topics, in the same proportions."""
        return self._with(Together(words))

    def apart(self, *words: str) -> Editor:
        """Words that do not belong together: a topic holds one of them at most."""
        return self._with(Apart(words))

    def freeze(self, *topics: int) -> Editor:
        """Topics whose words stay as they are, bit for bit. How frequent they are may still change."""
        return self._with(*(Freeze(_number(topic)) for topic in topics))

    def rename(self, topic: int, label: str) -> Editor:
        """Give a topic a label; "" removes it."""
        return self._with(Rename(_number(topic), label))

    def pin(self, topic: int, number: int | None = None) -> Editor:
        """Fix the number of a topic, now and in later edits; the topic that has it gets another one."""
        return self._with(Pin(_number(topic), _number(topic if number is None else number)))

    @property
    def missing(self) -> list[str]:
        """Words of the edits that the model does not have; they are left out."""
        return list(self.plan.missing)

    @property
    def new_topics(self) -> list[int]:
        """The numbers that topics made by these edits will have."""
        made = {o.other if o.kind == "split" else o.topic for o in self.plan.operations if o.kind in ("split", "new")}
        return sorted(self.plan.numbers[topic] for topic in made & self.plan.live)

    def fit(self, passes: int = PASSES, others: str = "near") -> Edited:
        """Refit the model under all its constraints.

        passes : of EM; more of them let topics settle further
        others : what becomes of topics that no edit concerns. "near": those nearest to seeded, new and dropped topics
            may move, the others stay; "stay": all of them stay; "follow": all of them may move, and will, because
            fits end before the likelihood does not rise any more. How frequent topics are changes in any case
        """
        whole_number("passes", passes, least=1)
        if others not in OTHERS:
            raise ValueError(f"others must be one of {', '.join(OTHERS)}, not {others!r}")
        self.plan.require_numbers()
        before = self.edited.log_likelihood
        mixture, changes = refitted(self.plan, self.edited.workspace, passes, others, before)
        standing = self.plan.standing(self.plan.numbers)
        step = Step(self.edits, self.edited.workspace.checksum, passes, others, changes.story.facts())
        log = self.edited.log.with_step(step, standing)
        mixture = replace(mixture, provenance={**mixture.provenance, LOG: log.facts()})
        return replace(self.edited, mixture=mixture, changes=changes, log=log)


def refitted(
    plan: Plan, workspace: Workspace, passes: int, others: str, before: float, revived: float = 0.0
) -> tuple[Mixture, Changes]:
    """The mixture that a plan and some passes lead to, and what they did.

    before : the log-likelihood of the plan's mixture
    revived : share of the unigram in topics at the beginning, so that words can enter them
    """
    start = Start(plan, workspace)
    still = set(plan.frozen)
    if others != "follow":
        still |= plan.live - plan.touched - (near(plan, start) if others == "near" else set())
    constraints = Constraints.of(plan, still, workspace.seen, workspace.unigram)
    first = start.topics
    if revived:
        first[constraints.free] = (1 - revived) * first[constraints.free] + revived * workspace.unigram
    topics = constraints.begin(first, start.alpha)
    found = refit(
        workspace, topics, start.alpha, constraints, passes, shrinkage_for(plan.mixture, workspace.moments.n_tokens)
    )
    return _finished(plan, workspace, found, start.prior, before)


def _finished(plan: Plan, workspace: Workspace, found: Any, prior: Any, before: float) -> tuple[Mixture, Changes]:
    topics = np.zeros((len(found.topics), plan.mixture.n_words))
    topics[:, workspace.seen] = found.topics
    labels = {plan.numbers[t]: label for t, label in plan.labels.items() if label and t in plan.live}
    mixture = replace(plan.mixture, topics=topics, correlations=found.alpha, prior=prior, labels=labels)
    return mixture, Changes.of(plan, mixture, before, found.log_likelihood)


def edit(mixture: Mixture, moments: Moments, *, engine: str = "auto", n_threads: int | None = None) -> Editor:
    """Begin to edit a mixture: `edit(mixture, moments).merge(3, 7).split(12).fit()`."""
    workspace = Workspace(moments, engine, n_threads)
    if LOG in mixture.provenance:
        standing = EditLog.from_facts(mixture.provenance[LOG]).standing
        return Editor(unedited(with_constraints(mixture, standing), workspace))
    return Editor(unedited(mixture, workspace))


def with_constraints(mixture: Mixture, standing: tuple[Edit, ...]) -> Mixture:
    """The mixture as the base of further edits, under constraints that hold in it already."""
    log = EditLog(base_digest(mixture), dict(mixture.labels), standing, (), standing)
    return replace(mixture, provenance={**mixture.provenance, LOG: log.facts()})


def unedited(mixture: Mixture, workspace: Workspace) -> Edited:
    """A model without a step of edits, as the base of some."""
    log = EditLog(base_digest(mixture), dict(mixture.labels))
    if LOG in mixture.provenance:
        log = EditLog.from_facts(mixture.provenance[LOG])
    return Edited(mixture, None, mixture, log, workspace)


def replayed(base: Mixture, log: EditLog, workspace: Workspace, n_steps: int | None = None) -> Edited:
    """The model that the first steps of a log make of its base, to the same bits; all steps unless told."""
    if base_digest(base) != log.base:
        raise ValueError("this log belongs to another base model: its numbers mean other topics")
    now = Edited(base, None, base, replace(log, steps=(), standing=log.inherited), workspace)
    for number, step in enumerate(log.steps[:n_steps]):
        if step.moments != workspace.checksum:
            raise ValueError(
                f"step {number + 1} of the log was fitted to other moments (checksum {step.moments[:12]}...): "
                "give the moments that it was fitted to"
            )
        now = Editor(now, step.edits).fit(step.passes, step.others)
    return now


def _too_many_undone(done: int, asked: int) -> str:
    if not done:
        return "this model has no edits to undo"
    return f"{done} {'step' if done == 1 else 'steps'} of edits can be undone, not {asked}"


def _number(topic: Any) -> int:
    return whole_number("the number of a topic", topic)


def _listed(words: Any) -> Iterable[str]:
    if isinstance(words, str):
        raise TypeError(f"seed words are a list, such as [{words!r}], not a single string")
    return list(words)
