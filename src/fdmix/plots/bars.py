"""Topics as bars: the words that describe them, with their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fdmix.metrics.arguments import as_mixture
from fdmix.mixture.mixture import Mixture
from fdmix.plots.naming import chosen_topics, topic_colours
from fdmix.plots.style import (
    COLUMN,
    MIDDLE,
    MUTED,
    PAGE,
    PLAIN,
    SMALL,
    figure_of,
    panels,
    shown_text,
    silent_about_glyphs,
    without_frame,
)

MAX_TOPICS = 12  # unless topics are chosen; more do not fit on a page
MAX_WORD = 18  # characters
GAP = 5  # points between titles
ROW_INCHES, TITLE_INCHES = 0.125, 0.35


def topic_bars(
    mixture: Any,
    topics: Sequence[int] | None = None,
    n: int = 8,
    *,
    ranking: Any = None,
    columns: int | None = None,
    axes: Sequence[Axes] | None = None,
) -> Figure:
    """A figure of the n most typical words of each topic, as bars of their probability in the topic.

    The ranking chooses the words, and the most probable one comes first. Each topic has a scale of its own; the
    numbers compare topics.

    mixture : a Mixture, Solution or fitted FDM
    topics : their numbers, in this order; None takes the largest ones, 12 at most
    ranking : as in `Mixture.top_words`
    columns : panels beside each other; up to 2 make a figure as wide as a column of text, more one as wide as a page
    axes : axes for each of the topics; None makes a new figure
    """
    model = as_mixture(mixture)
    chosen = chosen_topics(model, topics, MAX_TOPICS)
    columns = columns or min(4, len(chosen))
    top = model.top_columns(n, ranking)
    colours, names = topic_colours(model), model.topic_names(2)
    width = COLUMN if columns <= 2 else PAGE
    with panels(axes, len(chosen), columns, width, TITLE_INCHES + ROW_INCHES * n) as found:
        titles = []
        for one, topic in zip(found, chosen, strict=True):
            _draw(one, model, topic, top[topic], colours[topic])
            title = shown_text(f"{topic}  {names[topic]}")
            titles.append(one.set_title(title, loc="left", fontsize=MIDDLE, fontweight="bold", pad=3, **PLAIN))
        _cut(titles, found)
        return figure_of(found[0])


def _draw(axes: Axes, mixture: Mixture, topic: int, top: Any, colour: str) -> None:
    probability = mixture.topics[topic]
    columns = sorted((u for u in top.tolist() if probability[u] > 0), key=lambda u: -probability[u])
    values = mixture.topics[topic, columns]
    places = np.arange(len(columns))
    axes.barh(places, values, height=0.72, color=colour, linewidth=0)
    for place, value in enumerate(values.tolist()):
        axes.text(value, place, f" {percent(value)}", va="center", ha="left", fontsize=SMALL - 0.5, color=MUTED)
    axes.set_yticks(places, [shown_text(mixture.word(u), MAX_WORD) for u in columns], **PLAIN)
    axes.set(xticks=[], xlim=(0, max(values, default=1) * 1.28), ylim=(len(top) - 0.5, -0.6))
    without_frame(axes)


def _cut(titles: Sequence[Any], axes: Sequence[Axes]) -> None:
    """Cut titles that would reach the next title at their right, or the end of the figure."""
    figure = figure_of(axes[0])
    with silent_about_glyphs():
        figure.draw_without_rendering()  # which lays the figure out
        starts = [title.get_window_extent() for title in titles]
        for title, start in zip(titles, starts, strict=True):
            text = title.get_text()
            beside = [other.x0 for other in starts if other.x0 > start.x0 and abs(other.y0 - start.y0) < start.height]
            end = min([*beside, figure.bbox.x1]) - GAP * figure.dpi / 72
            while title.get_window_extent().x1 > end and len(text) > 1:
                text = text[:-1]
                title.set_text(f"{text.rstrip(' ,')}…")


def percent(share: float) -> str:
    """A share with two digits.

    >>> [percent(share) for share in (0.123, 0.0123, 0.000012)]
    ['12%', '1.2%', '0.0012%']
    """
    number = float(f"{100 * share:.2g}")
    digits = 0 if number >= 10 or number <= 0 else min(1 - int(np.floor(np.log10(number))), 6)
    return f"{number:.{digits}f}%"
