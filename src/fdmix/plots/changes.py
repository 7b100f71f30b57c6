"""What changed: topics before and after edits, and words that rise and fall within a topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fdmix.edits.before_after import StepStory, TopicChange
from fdmix.edits.changes import Changes
from fdmix.edits.in_words import cost_in_words
from fdmix.effects.words import WordChanges
from fdmix.metrics.arguments import as_mixture
from fdmix.plots.style import (
    ACCENT,
    COLUMN,
    LESS,
    MIDDLE,
    MORE,
    MUTED,
    PAGE,
    PLAIN,
    SMALL,
    drawing,
    figure_of,
    panels,
    shown_text,
    without_frame,
)

MAX_NAME = 34  # characters of a topic's words
MAX_WORD = 18
MAX_TOPICS = 8  # panels of words, unless topics are chosen
N_WORDS = 6  # that rise, and that fall
MAX_DOUBLINGS = 5  # length of the longest bar; words that were not there at first would need endless ones
ROW_INCHES, TITLE_INCHES = 0.125, 0.35


def edit_changes(changes: Changes | StepStory, *, axes: Axes | None = None) -> Figure:
    """A figure of the topics that edits changed: the share of each before (ring) and after (disc), and its words.

    The title says what likelihood the edits cost. Topics that moved though no edit concerns them are drawn in grey.

    changes : of an edited model, `edited.changes`
    """
    topics = changes.topics
    if not topics:
        raise ValueError("these edits changed no topic, so there is nothing to draw")
    with drawing(axes, COLUMN + 1.2, 0.7 + 1.6 * ROW_INCHES * len(topics)) as here:
        for row, change in enumerate(topics):
            _draw_change(here, row, change)
        here.set_yticks(range(len(topics)), [_named(change) for change in topics], **PLAIN)
        here.set(ylim=(len(topics) - 0.3, -0.7), xlabel="share of the topic before (ring) and after (disc)")
        here.set_xlim(0, 1.05 * max(side.share for change in topics for side in _sides(change)))
        here.xaxis.set_major_locator(MaxNLocator(4))
        here.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.6g}%")
        cost = cost_in_words(changes.cost)
        told = f"the edits {cost} in log-likelihood of a pair" if np.isfinite(changes.cost) else cost
        here.set_title(told, fontsize=MIDDLE, loc="left", pad=4)
        return figure_of(here)


def _draw_change(axes: Axes, row: int, change: TopicChange) -> None:
    colour = MUTED if change.role == "moved" else ACCENT
    before, after = change.before, change.after
    if before is not None and after is not None:
        axes.hlines(row, before.share, after.share, color=colour, linewidth=1)
    if before is not None:
        axes.plot(before.share, row, "o", color=colour, markersize=4, markerfacecolor="white", markeredgewidth=1)
    if after is not None:
        axes.plot(after.share, row, "o", color=colour, markersize=3.5)
    side = after or before
    words = "" if side is None else ", ".join(side.words)
    told = {"new": "new: ", "gone": "gone: "}.get(change.role, "") + words
    axes.annotate(
        shown_text(told, MAX_NAME), (1, row), (3, 0), xycoords=("axes fraction", "data"), va="center",
        textcoords="offset points", fontsize=SMALL - 0.5, color=colour, annotation_clip=False, **PLAIN,
    )  # fmt: skip


def _sides(change: TopicChange) -> list[Any]:
    return [side for side in (change.before, change.after) if side is not None]


def _named(change: TopicChange) -> str:
    sides = _sides(change)
    numbers = list(dict.fromkeys(str(side.number) for side in sides))
    return shown_text(" → ".join(numbers) + (f"  {sides[-1].label}" if sides[-1].label else ""), MAX_WORD)


def word_trends(
    changes: WordChanges, mixture: Any, topics: Sequence[int] | None = None, *, axes: Sequence[Axes] | None = None
) -> Figure:
    """A figure of the words that rise and fall over time within each topic, as bars of the factor of the change.

    changes : of `fdmix.effects.word_changes(mixture, cells)`, whose cells have a calendar
    topics : their numbers, in this order; None takes those with the surest changes, 8 at most
    axes : axes for each of the topics; None makes a new figure
    """
    trend, model = changes.trend, as_mixture(mixture)
    if trend is None:
        raise ValueError("these cells have no calendar, so no word rises or falls: count --by month(date)")
    chosen = _with_changes(trend, model.n_topics) if topics is None else [int(topic) for topic in topics]
    if not chosen or min(chosen) < 0 or max(chosen) >= model.n_topics:
        raise ValueError(
            "no word rises or falls within a topic" if topics is None
            else f"topics are chosen by their numbers, from 0 to {model.n_topics - 1}"
        )  # fmt: skip
    names, columns = model.topic_names(2), min(4, len(chosen))
    width = COLUMN if columns <= 2 else PAGE
    words = [_words_of(trend, topic) for topic in chosen]
    n_rows = max(map(len, words))
    with panels(axes, len(chosen), columns, width, TITLE_INCHES + n_rows * ROW_INCHES) as found:
        for here, topic, shown in zip(found, chosen, words, strict=True):
            _draw_words(here, trend, shown, n_rows)
            title = shown_text(f"{topic}  {names[topic]}", MAX_NAME * 2 // max(columns, 2) + 4)
            here.set_title(title, loc="left", fontsize=MIDDLE, fontweight="bold", pad=3, **PLAIN)
        return figure_of(found[0])


def _with_changes(trend: dict[str, Any], n_topics: int) -> list[int]:
    """The topics with the surest changes, the surest first."""
    surest = np.zeros(n_topics)
    np.maximum.at(surest, np.asarray(trend["topic"], int), np.abs(trend["z"]))
    return [int(t) for t in np.argsort(-surest, kind="stable")[:MAX_TOPICS] if surest[t] > 0]


def _words_of(trend: dict[str, Any], topic: int) -> list[int]:
    """Rows of the table: the surest words of a topic, those that rise before those that fall."""
    z = np.asarray(trend["z"])
    rows = [row for row, t in enumerate(np.asarray(trend["topic"]).tolist()) if t == topic]
    rises = sorted((row for row in rows if z[row] > 0), key=lambda row: -z[row])[:N_WORDS]
    falls = sorted((row for row in rows if z[row] <= 0), key=lambda row: z[row])[:N_WORDS]
    return rises + falls[::-1]


def _factor(factor: float) -> str:
    """The factor of a bar; beyond the longest bar only that it is beyond, as it is mostly the noise of a rare word.

    >>> _factor(12.3), _factor(0.123), _factor(19724)
    ('x12', 'x0.12', '> x32')
    """
    longest = 2.0**MAX_DOUBLINGS
    if factor > longest:
        return f"> x{longest:.0f}"
    if factor < 1 / longest:
        return f"< x{1 / longest:.2g}"
    return f"x{factor:.0f}" if factor >= 10 else f"x{factor:.2g}"


def _draw_words(axes: Axes, trend: dict[str, Any], shown: list[int], n_rows: int) -> None:
    """Words with the factor of their change, as bars of its logarithm."""
    change = np.asarray(trend["change"])[shown]
    with np.errstate(divide="ignore"):
        logs = np.clip(np.log2(change), -MAX_DOUBLINGS, MAX_DOUBLINGS)
    axes.barh(range(len(shown)), logs, height=0.72, color=[MORE if x > 0 else LESS for x in logs], linewidth=0)
    for row, (factor, value) in enumerate(zip(change.tolist(), logs.tolist(), strict=True)):
        axes.text(
            value, row, f" {_factor(factor)} ", va="center",
            ha="left" if value > 0 else "right", fontsize=SMALL - 0.5, color=MUTED,
        )  # fmt: skip
    axes.set_yticks(range(len(shown)), [shown_text(trend["word"][row], MAX_WORD) for row in shown], **PLAIN)
    reach = 2 * max([*np.abs(logs).tolist(), 1e-3])
    axes.set(xticks=[], xlim=(-reach, reach), ylim=(n_rows - 0.4, -0.6))
    axes.axvline(0, color=MUTED, linewidth=0.6)
    without_frame(axes)
