"""What a method is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.compare.documents import Documents
from fdmix.mixture.mixture import Mixture

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class Task:
    """What to fit: documents to learn from, documents held out (for theta only), and settings for all methods.

    sweeps : of samplers; mallet : the path of MALLET's command
    """

    train: Documents
    test: Documents
    n_topics: int
    seed: int
    n_threads: int
    sweeps: int = 1_000
    n_words: int = 10
    mallet: str | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """The result of a fit.

    topics : a Mixture or an array (T, N) whose rows are weights of words; None if the method has only word lists
    words : the words of each topic as the method itself ranks them; None to rank them by relevance, by the same rule
        for all methods
    prior : the method's own prior of documents for `Mixture.assign`, None if it has none
    theta : what computes the shares of topics in (documents to learn from, documents held out); only needed without
        topics, and called after the clock has stopped
    """

    topics: Any = None
    words: list[list[str]] | None = None
    prior: Any = None
    theta: Callable[[], tuple[Floats, Floats]] | None = None

    def mixture(self, vocabulary: Any) -> Mixture | None:
        """The topics as a mixture; a topic without any word is uniform. None if there are only word lists."""
        if self.topics is None or isinstance(self.topics, Mixture):
            return self.topics
        weights = np.maximum(np.asarray(self.topics, np.float64), 0)
        weights[~weights.any(axis=1)] = 1.0
        return Mixture(weights / weights.sum(axis=1, keepdims=True), vocabulary=vocabulary)
