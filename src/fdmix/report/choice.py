"""The choice of the number of topics, for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from fdmix.choice.choice import IN_WORDS, Choice


def facts_of_choice(choice: Choice) -> dict[str, Any]:
    """The gains with their standard errors, what all scores would choose, and the choice in words."""
    gains, errors = choice.gains().mean(axis=0), choice.standard_errors()
    return {
        "candidates": list(choice.candidates),
        "gains": [_short(gain) for gain in gains],
        "errors": [_short(error) for error in errors],
        "chosen": choice.n_topics,
        "best": choice.best(),
        "hasTopics": choice.has_topics,
        "unit": "pair" if choice.criterion == "pairs" else "token",
        "verdict": choice.verdict,
        "documents": choice.n_documents,
        "folds": len(choice.scores[choice.criterion]),
        "scores": [
            {
                "name": name,
                "decides": name == choice.criterion,
                "isLikelihood": name in IN_WORDS,
                "chosen": choice.chosen_by(name),
                "means": [_short(mean) for mean in choice.means(name)],
            }
            for name in choice.scores
        ],
    }


def _short(value: float) -> float | None:
    """Six digits; None where there is no number."""
    return float(f"{value:.6g}") if np.isfinite(value) else None
