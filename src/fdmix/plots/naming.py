"""Which topics a figure shows, how they are named, and their colours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fdmix.mixture.mixture import Mixture
from fdmix.mixture.placement import families, hellinger_distances, positions_on_map
from fdmix.plots.style import FAMILIES


def chosen_topics(mixture: Mixture, topics: Sequence[int] | None, most: int) -> list[int]:
    """The topics that are asked for, checked; or the largest ones, the largest first."""
    if topics is None:
        return [int(t) for t in np.argsort(-mixture.shares, kind="stable")[:most]]
    chosen = [int(t) for t in topics]
    if not chosen:
        raise ValueError("no topic is chosen: give at least one number, or None for the largest topics")
    if unknown := [t for t in chosen if not 0 <= t < mixture.n_topics]:
        raise ValueError(f"there is no topic {unknown[0]}: topics are numbered from 0 to {mixture.n_topics - 1}")
    return chosen


def topic_colours(mixture: Mixture) -> list[str]:
    """The colour of each topic's family, as in the report."""
    places = positions_on_map(hellinger_distances(mixture.topics))
    return [FAMILIES[family] for family in families(places, mixture.shares)]
