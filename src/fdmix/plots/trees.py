"""The tree of topics: which topics merge, and what likelihood it costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fdmix.plots.style import COLUMN, MORE, MUTED, PLAIN, TEXT, drawing, figure_of, shown_text
from fdmix.tree.tree import Tree

MAX_NAME = 30  # characters
ROW_INCHES = 0.13


def topic_tree(tree: Tree, cut: int | None = None, *, axes: Axes | None = None) -> Figure:
    """A figure of the merges of topics; further to the right, a merge has lost more likelihood.

    The scale is the square root of the likelihood lost so far, so that first merges, which lose little, can be told
    apart.

    tree : of `mixture.tree(moments)`
    cut : draw the line at which this many topics are left
    """
    names, order = tree.mixture.topic_names(2), _order(tree)
    heights, places = _nodes(tree, order)
    with drawing(axes, COLUMN, 0.5 + ROW_INCHES * tree.n_topics) as here:
        for k, (left, right) in enumerate(tree.merges.tolist()):
            node = tree.n_topics + k
            x, (a, b) = heights[node], (places[left], places[right])
            here.plot([heights[left], x, x, heights[right]], [a, a, b, b], color=TEXT, linewidth=0.7)
        if cut is not None:
            line = _between(tree, heights, len(tree.groups(cut)))
            here.axvline(line, color=MORE, linewidth=0.8, linestyle="--")
            here.set_title(f"{cut:,} topics", fontsize=7, color=MORE, loc="left", pad=3)
        texts = [shown_text(f"{topic}  {names[topic]}", MAX_NAME) for topic in order]
        here.set_yticks(range(len(order)), texts, **PLAIN)
        here.set(ylim=(len(order) - 0.4, -0.6), xlabel="log-likelihood of a pair lost, square root")
        here.set_xlim(0, max(heights[-1], 1e-12) * 1.03)
        here.tick_params(axis="y", length=0)
        here.spines["left"].set_visible(False)
        here.xaxis.label.set(color=MUTED)
        return figure_of(here)


def _order(tree: Tree) -> list[int]:
    """The topics from top to bottom, such that merged ones are beside each other."""
    members: dict[int, list[int]] = {topic: [topic] for topic in range(tree.n_topics)}
    for k, (left, right) in enumerate(tree.merges.tolist()):
        members[tree.n_topics + k] = members.pop(left) + members.pop(right)
    return next(iter(members.values()))


def _nodes(tree: Tree, order: list[int]) -> tuple[Any, Any]:
    """(how far to the right, how far down) each node is drawn."""
    lost = np.sqrt(np.maximum(np.cumsum(tree.costs), 0))  # rounding may give the first merges a cost below zero
    heights = np.concatenate([np.zeros(tree.n_topics), np.maximum.accumulate(lost)])
    places = np.zeros(len(heights))
    places[order] = np.arange(tree.n_topics)
    for k, (left, right) in enumerate(tree.merges.tolist()):
        places[tree.n_topics + k] = (places[left] + places[right]) / 2
    return heights, places


def _between(tree: Tree, heights: Any, n_left: int) -> float:
    """Where a vertical line leaves this many topics: between two merges."""
    merges = heights[tree.n_topics :]
    n_done = tree.n_topics - n_left
    before = merges[n_done - 1] if n_done else 0.0
    after = merges[n_done] if n_done < len(merges) else merges[-1] * 1.02
    return float((before + after) / 2)
