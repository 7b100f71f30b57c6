"""How sure topics are: the interval of each topic's share, and how often it came back in refits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fdmix.metrics.arguments import as_mixture
from fdmix.plots.naming import chosen_topics
from fdmix.plots.style import ACCENT, COLUMN, MORE, MUTED, PLAIN, SMALL, drawing, figure_of, shown_text

MAX_TOPICS = 40  # unless topics are chosen; more rows do not fit on a page
MAX_NAME = 28  # characters
ROW_INCHES = 0.14
UNRELIABLE = 0.5  # topics that came back in fewer refits are drawn in another colour, as the report remarks on them


def share_intervals(mixture: Any, topics: Sequence[int] | None = None, *, axes: Axes | None = None) -> Figure:
    """A figure of the share of each topic with its interval, and how often the topic came back in refits.

    mixture : a Mixture with `mixture.reliability`, which `fdmix.reliability.reliability` finds
    topics : their numbers, in this order; None takes the largest ones, 40 at most
    """
    model = as_mixture(mixture)
    sure = model.reliability
    if sure is None:
        raise ValueError("this model does not know how sure its topics are: fdmix reliability finds it")
    chosen = chosen_topics(model, topics, MAX_TOPICS)
    names, rows = model.topic_names(2), np.arange(len(chosen))
    with drawing(axes, COLUMN, 0.55 + ROW_INCHES * len(chosen)) as here:
        for row, topic in zip(rows.tolist(), chosen, strict=True):
            colour = ACCENT if sure.returned[topic] >= UNRELIABLE else MORE
            here.hlines(row, *sure.shares[topic], color=colour, linewidth=1.2)
            here.plot(model.shares[topic], row, "o", color=colour, markersize=2.5)
            here.annotate(
                f"{sure.returned[topic]:.0%}", (1, row), (3, 0), xycoords=("axes fraction", "data"),
                textcoords="offset points", va="center", fontsize=SMALL - 0.5, color=MUTED, annotation_clip=False,
            )  # fmt: skip
        here.annotate(
            "comes back", (1, 1), (3, 2), xycoords="axes fraction", textcoords="offset points",
            fontsize=SMALL - 0.5, color=MUTED, annotation_clip=False,
        )  # fmt: skip
        here.set_yticks(rows, [shown_text(f"{topic}  {names[topic]}", MAX_NAME) for topic in chosen], **PLAIN)
        here.set(ylim=(len(chosen) - 0.4, -0.6), xlabel=f"share of the topic, {sure.name_of_intervals}")
        here.set_xlim(left=0)
        here.xaxis.set_major_locator(MaxNLocator(4))
        here.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.6g}%")
        return figure_of(here)
