"""Figures of a comparison: each score against the number of topics, and likelihood and coherence against time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fdmix.compare.scores import SCORES
from fdmix.compare.tables import Summary, shown_scores
from fdmix.storage import replacing

# the palettes of Okabe and Ito, and of Tol, which colour-blind readers can tell apart
COLOURS = (
    "#000000", "#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#CC79A7", "#009E73", "#882255", "#999933", "#44AA99",
    "#999999", "#332288", "#AA4499",
)  # fmt: skip
AGAINST_TIME = ("completion", "npmi", "c_v", "accuracy")
COLUMNS = 3  # panels beside each other


def draw_figures(folder: Path, found: Sequence[Summary]) -> list[Path]:
    """Write scores.png and .svg, time.png and .svg. Without matplotlib, an ImportError says how to get it."""
    require_matplotlib()
    done = [one for one in found if one.means]
    names = [name for name in shown_scores(done) if name != "cpu_seconds"]
    if not names:
        return []
    pictures = {
        "scores": ([(_against_topics, name) for name in names], "number of topics"),
        "time": ([(_against_time, name) for name in AGAINST_TIME if name in names], "seconds"),
    }
    written = []
    for title, (panels, below) in pictures.items():
        written += _write(folder, title, panels, below, done)
    return written


def require_matplotlib() -> None:
    """Raise an ImportError that says what to install if figures cannot be drawn."""
    try:
        import matplotlib.figure  # noqa: F401, PLC0415
    except ImportError as missing:
        raise ImportError("figures need matplotlib: pip install 'fdmix[plots]'") from missing


def _write(folder: Path, title: str, panels: list[Any], below: str, found: Sequence[Summary]) -> list[Path]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    if not panels:
        return []
    methods = list(dict.fromkeys(one.method for one in found))
    n_rows = -(-len(panels) // COLUMNS)
    written = []
    for suffix, canvas in (("png", FigureCanvasAgg), ("svg", FigureCanvasSVG)):
        figure = Figure(figsize=(3.4 * COLUMNS, 2.6 * n_rows + 0.5), layout="constrained", dpi=160)
        for place, (plot, name) in enumerate(panels):
            axes = figure.add_subplot(n_rows, COLUMNS, place + 1)
            for method, colour in zip(methods, COLOURS * len(methods), strict=False):
                plot(axes, name, [one for one in found if one.method == method and name in one.means], colour)
            axes.set(title=SCORES[name].title, xlabel=below)
            axes.spines[["top", "right"]].set_visible(False)
        lines, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(lines, labels, loc="outside lower center", ncols=min(len(methods), 5), frameon=False)
        with replacing(folder / f"{title}.{suffix}") as file:
            getattr(canvas(figure), f"print_{suffix}")(file)
        written.append(folder / f"{title}.{suffix}")
    return written


def _against_topics(axes: Any, name: str, found: list[Summary], colour: str) -> None:
    """A line for each method, with bars of one standard deviation."""
    method = found[0].method if found else None
    axes.errorbar(
        [one.topics for one in found], [one.means[name] for one in found], [one.spread[name] for one in found],
        color=colour, label=method, marker="o", markersize=3, linewidth=1, capsize=2,
    )  # fmt: skip
    axes.set_xticks(sorted({*axes.get_xticks(), *(one.topics for one in found)} & {one.topics for one in found}))
    if name in ("seconds", "peak_megabytes") and found:
        axes.set_yscale("log")


def _against_time(axes: Any, name: str, found: list[Summary], colour: str) -> None:
    """A point for each method and number of topics."""
    method = found[0].method if found else None
    x, y = [one.means["seconds"] for one in found], [one.means[name] for one in found]
    axes.plot(x, y, color=colour, label=method, marker="o", markersize=4, linewidth=0.6)
    axes.set_xscale("log")
