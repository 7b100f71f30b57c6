"""Constraints that cannot hold together are refused, in words, before anything is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fdmix.corpus.vocabulary import some

if TYPE_CHECKING:
    from fdmix.edits.plan import Plan


def refuse_contradictions(plan: Plan) -> None:
    """Raise a ValueError that names the constraints of the plan that contradict each other, if some do."""
    _refuse_bans(plan)
    for linked in plan.together:
        for topic in [None, *sorted({t for t, _ in plan.topic_bans})]:
            out = {u for u in linked if u in plan.bans or (topic is not None and (topic, u) in plan.topic_bans)}
            if out and out != linked:
                raise ValueError(
                    f"{_some(plan, out)} is banned, but belongs together with {_some(plan, linked - out)}: "
                    "ban all of these words, or none"
                )
        for both in plan.apart:
            if len(shared := linked & both) > 1:
                raise ValueError(f"{_some(plan, shared)} cannot belong together and apart")
    for both in plan.apart:
        if len(both - plan.bans) > len(plan.live):
            raise ValueError(
                f"{len(both)} words cannot be in {len(both)} topics of their own: the model has {len(plan.live)}"
            )
        for topic, seeds in plan.seeds.items():
            if len(shared := both & set(seeds)) > 1:
                raise ValueError(f"topic {topic} is seeded with {_some(plan, shared)}, which belong apart")


def _refuse_bans(plan: Plan) -> None:
    if len(plan.bans) >= plan.words.n_words:
        raise ValueError("all words would be banned: a topic needs at least one")
    for topic in sorted(plan.live):
        out = plan.bans | {u for t, u in plan.topic_bans if t == topic}
        if wanted := out & set(plan.seeds.get(topic, ())):
            raise ValueError(f"topic {topic} is seeded with {_some(plan, wanted)}, which is banned from it")
        if not out or any(topic in (o.topic, o.other) for o in plan.operations):
            continue  # words of topics that edits make are known only when they are made
        words = plan.mixture.topics[topic]
        if topic in plan.frozen and plan.holds(topic, out):
            held = {u for u in out if words[u] > 0}
            raise ValueError(
                f"topic {topic} is frozen and holds {_some(plan, held)}, which is banned from it: "
                "ban, fit, and then freeze"
            )
        if not np.delete(words, sorted(out)).any():
            raise ValueError(f"all words of topic {topic} would be banned: drop the topic instead")


def _some(plan: Plan, columns: set[int]) -> str:
    return some([plan.name(u) for u in sorted(columns)], most=3)
