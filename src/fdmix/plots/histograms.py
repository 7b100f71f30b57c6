"""Histograms, above all that of the distances between matched topics, which is a figure of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from fdmix.metrics.matching import Matching, matching_distance, over_common_words
from fdmix.plots.style import COLUMN, LARGE, MUTED, SMALL, TEXT, colour_of, drawing, figure_of, legend

DISTANCE_BINS = np.linspace(0, 2, 41)  # l1 distances lie between 0 (equal) and 2 (no word in common)


def distance_histogram(
    found: Any, other: Any = None, *, colours: Mapping[str, str] | None = None, axes: Axes | None = None
) -> Figure:
    """A figure of how far matched topics are apart, in l1 distance: 0 is equality, 2 is no common word.

    found : a Mixture, Solution or fitted FDM, to be matched with `other`; or the distances themselves: an array or a
        `Matching`; or several of these by name, such as {"FDM - LDA": distances}
    colours : by name
    """
    if other is not None:
        found = matching_distance(*over_common_words(found, other))
    values = found if isinstance(found, Mapping) else {"": found}
    distances = {name: _distances(one) for name, one in values.items()}
    return histogram(
        distances, DISTANCE_BINS, below="l1 distance of matched topics", left="topics", colours=colours, axes=axes
    )


def _distances(found: Any) -> Any:
    distances = np.asarray(found.distances if isinstance(found, Matching) else found, np.float64)
    if distances.ndim != 1:
        raise ValueError("distances are one number for each pair of topics; to compare two models, give both of them")
    if distances.size and not (distances.min() >= 0 and distances.max() <= 2 + 1e-9):
        raise ValueError("l1 distances of topics lie between 0 and 2")
    return np.minimum(distances, 2)


def histogram(
    values: Mapping[str, Any],
    bins: Any,
    *,
    below: str,
    left: str = "",
    density: bool = False,
    colours: Mapping[str, str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """A figure of one or more histograms over the same bins; one alone is filled, and its mean is marked.

    values : arrays by name; density : whether the areas are 1; below, left : what the axes show
    """
    with drawing(axes, COLUMN, 0.62 * COLUMN) as here:
        drawn = []
        for number, (name, each) in enumerate(values.items()):
            colour = colour_of(name, number, colours)
            kind: Any = "stepfilled" if len(values) == 1 else "step"
            here.hist(each, bins, histtype=kind, color=colour, density=density, linewidth=1.2)
            drawn.append(Line2D([], [], color=colour, linewidth=1.2))
        here.set(xlabel=below, ylabel=left or ("density" if density else ""), xlim=(bins[0], bins[-1]))
        here.margins(y=0.08)
        here.yaxis.set_major_locator(MaxNLocator(5, integer=not density))
        if len(values) > 1:
            legend(here, drawn, list(values))
        elif each := [one for one in values.values() if len(one)]:
            _mark_mean(here, float(np.mean(each[0])), bins)
        return figure_of(here)


def _mark_mean(axes: Axes, mean: float, bins: Any) -> None:
    axes.axvline(mean, color=TEXT, linewidth=0.8, linestyle=(0, (4, 2)))
    on_the_left = mean > (bins[0] + bins[-1]) / 2
    axes.annotate(
        f"mean {mean:.2f}", (mean, 1), (-3 if on_the_left else 3, -LARGE), xycoords=("data", "axes fraction"),
        textcoords="offset points", ha="right" if on_the_left else "left", fontsize=SMALL, color=MUTED,
    )  # fmt: skip
