"""What people edited in the model and what each step did, for the page."""

from __future__ import annotations

import math
from typing import Any

from fdmix.display import for_terminal, shown_word
from fdmix.edits.before_after import OneSide, StepStory
from fdmix.edits.in_words import edit_in_words
from fdmix.edits.log import EditLog, Step
from fdmix.edits.storing import LOG
from fdmix.mixture.mixture import Mixture


def facts_of_edits(mixture: Mixture) -> list[dict[str, Any]] | None:
    """The steps of edits that the model remembers, the oldest first; None if none can be read."""
    if LOG not in mixture.provenance:
        return None
    try:
        steps = EditLog.from_facts(mixture.provenance[LOG]).steps
        return [_step(step) for step in steps] or None
    except (ValueError, KeyError, TypeError):  # of a damaged file; the rest of the page can still be shown
        return None


def _step(step: Step) -> dict[str, Any]:
    said = [for_terminal(edit_in_words(edit)) for edit in step.edits]
    if step.story is None:
        return {"edits": said, "topics": [], "before": None, "after": None}
    story = StepStory.from_facts(step.story)
    if story.missing:
        said.append(f"not in the model, left out: {', '.join(map(shown_word, story.missing))}")
    return {
        "edits": said,
        "topics": [
            {
                "role": change.role,
                "before": _side(change.before),
                "after": _side(change.after),
                "distance": None if change.distance is None else _short(change.distance),
            }
            for change in story.topics
        ],
        "before": _short(story.log_likelihood_before),
        "after": _short(story.log_likelihood),
    }


def _side(side: OneSide | None) -> dict[str, Any] | None:
    if side is None:
        return None
    words = [shown_word(word) for word in side.words]
    return {"number": side.number, "label": for_terminal(side.label), "share": _short(side.share), "words": words}


def _short(value: float) -> float | None:
    """Seven digits; None where there is no number, such as the likelihood of a model without some pair."""
    return float(f"{value:.7g}") if math.isfinite(value) else None
