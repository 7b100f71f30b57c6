"""Lines: the likelihood during a fit, and scores of several methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from fdmix.mixture.mixture import Mixture
from fdmix.plots.style import (
    ACCENT,
    COLUMN,
    FAMILIES,
    MIDDLE,
    MUTED,
    PAGE,
    PLAIN,
    SMALL,
    colour_of,
    drawing,
    figure_of,
    legend,
    shown_text,
)
from fdmix.plots.style import panels as several

N_COLUMNS, PANEL_INCHES, LEGEND_INCHES = 3, 1.9, 0.35  # panels beside each other, height of one and of the legend
LINES = (("-", "o"), ("--", "s"), (":", "^"))  # of the first eight methods, of the next ones, ...
FIRST_PASSES = 0.1  # share of the passes that may lie below the figure: likelihoods rise steeply at first


def likelihood_curve(fit: Any, *, axes: Axes | None = None) -> Figure:
    """A figure of the log-likelihood of a pair, sum_uv Mhat[u, v] log M[u, v], after each pass over the pairs.

    The scale is that of the later passes; the first ones may rise from below. Passes over documents that come after
    them are left out: they serve the documents, and the likelihood of the pairs may fall.

    fit : a Solution, a fitted FDM, a Mixture that knows how it was fitted, or a list of likelihoods
    """
    passes, values = _curve(fit)
    with drawing(axes, COLUMN, 0.6 * COLUMN) as here:
        here.plot(passes, values, color=ACCENT, linewidth=1.2)
        here.plot(passes[-1:], values[-1:], "o", color=ACCENT, markersize=3)
        later = values[min(int(FIRST_PASSES * len(values)), len(values) - 1) :]
        room = max(np.ptp(later), 1e-3 * abs(later[-1]), 1e-9)
        here.set_ylim(later.min() - 0.1 * room, later.max() + 0.1 * room)
        told = f"{values[-1]:.4f} after {passes[-1]:,} passes".replace("-", "−")
        here.set_title(told, loc="right", fontsize=SMALL, color=MUTED)
        here.set(xlabel="pass over the pairs", ylabel="log-likelihood of a pair")
        here.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        here.yaxis.set_major_locator(MaxNLocator(5))
        here.ticklabel_format(useOffset=False)
        return figure_of(here)


def _curve(fit: Any) -> tuple[Any, Any]:
    """(numbers of passes, likelihoods)."""
    if hasattr(fit, "mixture_"):
        fit = fit.mixture_
    model = getattr(fit, "mixture", fit)
    refined = isinstance(model, Mixture) and "refined" in model.provenance
    if isinstance(fit, Mixture):
        told = fit.provenance.get("fit")
        points = told.get("curve") if isinstance(told, Mapping) else None
        found = np.array(points or np.zeros((0, 2)), np.float64)
        if found.ndim != 2 or found.shape[1] != 2:
            raise ValueError("the model states a curve of its fit that cannot be read")
        passes, values = found[:, 0].astype(np.int64), found[:, 1]
    else:
        values = np.asarray(getattr(fit, "log_likelihoods", fit), np.float64)
        passes = np.arange(values.size)
    finite = np.isfinite(values)
    if refined:
        finite[-1:] = False  # the mixture itself, after the passes over documents
    if finite.sum() < 2:
        raise ValueError("this model does not know how its likelihood rose: models fitted by fdmix to word pairs do")
    return passes[finite], values[finite]


def score_lines(
    lines: Mapping[str, Sequence[Any]],
    *,
    below: str,
    left: str = "",
    title: str = "",
    log: str = "",
    colours: Mapping[str, str] | None = None,
    named: bool = True,
    axes: Axes | None = None,
) -> Figure:
    """A figure of a line with points for each method, with bars if spreads are given.

    lines : by name of the method: (x, y) or (x, y, spreads)
    log : the axes with a logarithmic scale: "", "x", "y" or "xy"; named : whether there is a legend
    """
    with drawing(axes, COLUMN, 0.7 * COLUMN) as here:
        looks = [_look(name, number, colours) for number, name in enumerate(lines)]
        for look, (x, y, *spreads) in zip(looks, lines.values(), strict=True):
            here.errorbar(x, y, spreads[0] if spreads else None, capsize=1.5, **look)
        here.set(xlabel=below, ylabel=left)
        here.set_title(shown_text(title) if title else "", fontsize=MIDDLE, **PLAIN)
        if "x" in log:
            here.set_xscale("log")
            _tick_log_scale(here.xaxis)
        if "y" in log:
            here.set_yscale("log")
            _tick_log_scale(here.yaxis)
        if "x" not in log:
            here.set_xticks(sorted({value for x, *_ in lines.values() for value in x}))
            here.xaxis.set_minor_locator(NullLocator())
        if named:
            legend(here, [Line2D([], [], **look) for look in looks], list(lines))
        return figure_of(here)


def score_panels(
    panels: Sequence[tuple[str, Mapping[str, Sequence[Any]]]],
    *,
    below: str,
    logs: Sequence[str] | None = None,
    colours: Mapping[str, str] | None = None,
) -> Figure:
    """A figure of several `score_lines` of the same methods beside and below each other, with one legend.

    panels : (title, lines) of each; logs : the `log` of each
    """
    names = list(dict.fromkeys(name for _, lines in panels for name in lines))
    columns = min(N_COLUMNS, len(panels))
    height = PANEL_INCHES + LEGEND_INCHES / -(-len(panels) // columns)
    with several(None, len(panels), columns, PAGE * columns / N_COLUMNS, height) as found:
        for axes, (title, lines), log in zip(found, panels, logs or [""] * len(panels), strict=True):
            all_methods = {name: lines.get(name, ((), ())) for name in names}
            score_lines(all_methods, below=below, title=title, log=log, colours=colours, named=False, axes=axes)
        figure = figure_of(found[0])
        samples = [Line2D([], [], **_look(name, number, colours)) for number, name in enumerate(names)]
        legend(figure, samples, names, loc="outside lower center", ncols=5)
    return figure


def _look(name: str, number: int, colours: Mapping[str, str] | None) -> dict[str, Any]:
    """Colour, line and marker of a method; where colours repeat, the others differ."""
    line, marker = LINES[number // len(FAMILIES) % len(LINES)]
    colour = colour_of(name, number, colours)
    return {"color": colour, "linestyle": line, "marker": marker, "markersize": 2.5, "linewidth": 1}


def _tick_log_scale(axis: Any) -> None:
    """Ticks at 1, 2 and 5 times a power of ten, written as plain numbers; only the powers if there are many."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,)))
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_locator(NullLocator())
