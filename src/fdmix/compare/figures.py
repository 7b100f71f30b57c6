"""Figures of a comparison: each score against the number of topics, and likelihood and coherence against time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fdmix.compare.scores import SCORES
from fdmix.compare.tables import Summary, shown_scores

AGAINST_TIME = ("completion", "npmi", "c_v", "accuracy")
ON_LOG_SCALE = ("seconds", "peak_megabytes")


def draw_figures(folder: Path, found: Sequence[Summary]) -> list[Path]:
    """Write scores.png and .svg, time.png and .svg. Without matplotlib, an ImportError says how to get it."""
    from fdmix.plots import save_figure, score_panels  # noqa: PLC0415  (matplotlib is optional)

    done = [one for one in found if one.means]
    names = [name for name in shown_scores(done) if name != "cpu_seconds"]
    timed = [name for name in AGAINST_TIME if name in names]
    figures = {}
    if names:
        panels = [(SCORES[name].title, _against_topics(done, name)) for name in names]
        logs = ["y" if name in ON_LOG_SCALE else "" for name in names]
        figures["scores"] = score_panels(panels, below="number of topics", logs=logs)
    if timed:
        panels = [(SCORES[name].title, _against_time(done, name)) for name in timed]
        figures["time"] = score_panels(panels, below="seconds", logs=["x"] * len(timed))
    written = [folder / f"{title}.{suffix}" for title in figures for suffix in ("png", "svg")]
    for path in written:
        save_figure(figures[path.stem], path)
    return written


def _against_topics(found: Sequence[Summary], name: str) -> Mapping[str, Sequence[Any]]:
    """For each method: numbers of topics, scores, standard deviations."""
    return {
        method: ([one.topics for one in runs], [one.means[name] for one in runs], [one.spread[name] for one in runs])
        for method, runs in _by_method(found, name).items()
    }


def _against_time(found: Sequence[Summary], name: str) -> Mapping[str, Sequence[Any]]:
    """For each method: seconds, scores."""
    return {
        method: ([one.means["seconds"] for one in runs], [one.means[name] for one in runs])
        for method, runs in _by_method(found, name).items()
    }


def _by_method(found: Sequence[Summary], name: str) -> dict[str, list[Summary]]:
    """The runs of each method that have this score; all methods, so that each has the same colour in all panels."""
    methods = dict.fromkeys(one.method for one in found)
    return {method: [one for one in found if one.method == method and name in one.means] for method in methods}
