"""Topics to begin a refit with: merged, split, dropped and new ones, in closed form or from a topic's own pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fdmix.edits.plan import Operation, Plan
from fdmix.edits.workspace import Workspace
from fdmix.solvers.swaps import Draft, OwnPairs

Floats = np.ndarray[Any, np.dtype[np.float64]]
ROWS_SHARE = (
    0.7  # of the seed words' rows of Mhat in a new topic; the rest is the unigram, so that all words can enter
)

NEIGHBOURS = 5  # topics that may move with a seeded, new or dropped one


class Start:
    """Topics, alpha and prior in the numbers that they have after the edits."""

    def __init__(self, plan: Plan, workspace: Workspace) -> None:
        mixture, n_places = plan.mixture, max(*plan.live, plan.mixture.n_topics - 1) + 1
        n_places = max([n_places, *(max(o.topic, o.other) + 1 for o in plan.operations)])
        self.plan, self.workspace = plan, workspace
        topics, alpha = np.zeros((n_places, workspace.seen.size)), np.zeros((n_places, n_places))
        topics[: mixture.n_topics] = mixture.topics[:, workspace.seen]
        alpha[: mixture.n_topics, : mixture.n_topics] = mixture.correlations
        self.draft = Draft(topics, alpha)
        self.places_prior = np.zeros(n_places)
        if mixture.prior is not None:
            self.places_prior[: mixture.n_topics] = mixture.prior
        for operation in plan.operations:
            self._do(operation)
        numbers = plan.numbers
        order = sorted(numbers, key=numbers.__getitem__)
        self.topics: Floats = self.draft.topics[order]
        self.alpha = _without_empty_topics(self.draft.alpha[np.ix_(order, order)])
        self.prior = None if mixture.prior is None else self.places_prior[order]

    def _do(self, operation: Operation) -> None:
        draft, prior, topic, other = self.draft, self.places_prior, operation.topic, operation.other
        if operation.kind == "merge":
            draft.merge(topic, other)
            prior[topic], prior[other] = prior[topic] + prior[other], 0.0
        elif operation.kind == "split":
            self._split(topic, other)
        elif operation.kind == "drop":
            draft.alpha[topic] = draft.alpha[:, topic] = 0
            draft.topics[topic] = 0
            prior[topic] = 0.0
        else:
            self._new(topic, operation.seeds)

    def _split(self, topic: int, new: int) -> None:
        draft, prior = self.draft, self.places_prior
        split = OwnPairs(draft.topics, draft.alpha, self.workspace.mhat).split(topic)
        if not split.gain > 0:
            raise ValueError(f"topic {topic} cannot be split: its words do not form two groups")
        draft.split(topic, new, split)
        size = split.joint.sum(axis=1) / split.joint.sum()
        prior[topic], prior[new] = prior[topic] * size

    def _new(self, topic: int, seeds: Mapping[int, float]) -> None:
        """A topic around its seed words, with the share of an average topic."""
        draft, mhat, plan = self.draft, self.workspace.mhat, self.plan
        columns, strengths = zip(*sorted(seeds.items()), strict=True)
        rows = mhat[np.searchsorted(self.workspace.seen, columns)].toarray()
        around = np.array(strengths) @ (rows / rows.sum(axis=1, keepdims=True)) / sum(strengths)
        draft.topics[topic] = ROWS_SHARE * around + (1 - ROWS_SHARE) * self.workspace.unigram
        share = 1 / len(plan.live)
        shares = draft.alpha.sum(axis=1) / draft.alpha.sum()
        draft.alpha *= (1 - share) / draft.alpha.sum()
        draft.alpha[topic] = draft.alpha[:, topic] = share / 4 * shares
        draft.alpha[topic, topic] = share / 2
        self.places_prior[topic] = share * self.places_prior.sum()


def _without_empty_topics(alpha: Floats) -> Floats:
    """alpha that sums to 1; a topic that is left without a share gets a little, because EM keeps zeros."""
    if not alpha.any(axis=1).all():
        alpha = alpha + (0.01 * alpha.sum() or 1.0) / alpha.size
    return alpha / alpha.sum()


def near(plan: Plan, start: Start) -> set[int]:
    """The topics nearest to the ones that were seeded, made or dropped, by the overlap sum_u sqrt(mu_s(u) mu_t(u)).

    They give words away to these topics, or take over their words.
    """
    made = {o.topic for o in plan.operations if o.kind == "new"} & plan.live
    centres = [start.draft.topics[t] for t in sorted((set(plan.seeds) & plan.touched) | made)]
    dropped = sorted({o.topic for o in plan.operations if o.kind == "drop"})
    centres += [plan.mixture.topics[t, start.workspace.seen] for t in dropped if t < plan.mixture.n_topics]
    live = sorted(plan.live)
    roots = np.sqrt(start.draft.topics[live]) if centres else np.zeros((0, 0))
    found: set[int] = set()
    for centre in centres:
        closest = np.argsort(-(roots @ np.sqrt(centre)), kind="stable")
        found |= {live[k] for k in closest[: NEIGHBOURS + 1].tolist()}  # one of them may be the topic itself
    return found
