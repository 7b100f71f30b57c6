"""plot: a figure of a model for a paper or a slide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from fdmix.cli.console import say, steps
from fdmix.cli.inputs import check_place, is_moments, loaded_cells, loaded_moments, refuse_to_replace
from fdmix.cli.options import Force, Model, Threads, with_layout
from fdmix.mixture.mixture import Mixture
from fdmix.report.groups import GROUP, group_shares
from fdmix.text.layouts import Layout
from fdmix.text.sources import files_of


@with_layout
def plot(
    model: Model,
    kind: Annotated[str, typer.Argument(help="What to draw, see above.", metavar="KIND")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .png, .svg or .pdf.", metavar="FILE")],
    layout: Layout,
    topics: Annotated[
        str | None,
        typer.Option(help="Topics to draw: 3,17 (bars, shares, words, intervals).", metavar="NUMBERS"),
    ] = None,
    moments: Annotated[Path | None, typer.Option(help="Moments of the text (pairs, tree).", metavar="FILE")] = None,
    cells: Annotated[
        Path | None, typer.Option(help="Moments by group, of fdmix count --by (shares, words).", metavar="FILE")
    ] = None,
    other: Annotated[
        list[Path] | None,
        typer.Option(help="Model to compare with (distances); may be given again.", metavar="MODEL"),
    ] = None,
    documents: Annotated[
        list[str] | None,
        typer.Option(help="Text (shares): file, folder or glob; may be given again.", metavar="FILES"),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Column of the documents that makes groups (shares).", metavar="COLUMN")
    ] = None,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Draw a figure of a model, for a paper or a slide.

    Needs matplotlib (the extra "plots"). KIND is one of:

      bars: the words of topics, as bars of their probability

      map: topics with similar words are near each other

      lift: which topics are in the same document more often than by chance

      likelihood: the likelihood during the fit

      distances: how far the topics are from those of --other models

      shares: shares of topics over time or groups, of --cells, or of
      --documents --by COLUMN

      words: words that rise and fall over time within topics, of --cells

      pairs: how often words are in the same document, of --moments

      tree: which topics merge, and what it costs, of --moments

      intervals: how sure the shares are (after fdmix reliability)

      edits: topics before and after the last edits (of fdmix edit)

    Examples:

      fdmix plot model map -o map.pdf

      fdmix plot model bars --topics 3,17 -o topics.svg

      fdmix plot model distances --other model2 -o distances.png

      fdmix plot model shares --documents text.csv --by year -o years.png

      fdmix plot model words --cells months.cells -o words.png
    """
    given = Given(
        topics=_numbers(topics), moments=moments, others=tuple(other or ()), documents=tuple(documents or ()), by=by,
        cells=cells, layout=layout, threads=threads,
    )  # fmt: skip
    draw = _drawing(kind, given)
    check_place(out)
    refuse_to_replace(out, force)
    plots = _plots()
    plots.saving.format_of(out)
    mixture = Mixture.load(model)
    plots.save_figure(draw(plots, mixture, given), out)
    say(f"Wrote {out} ({kind} of {model}).")


@dataclass(frozen=True)
class Given:
    """What a figure is made of, beside the model."""

    topics: list[int] | None
    moments: Path | None
    others: tuple[Path, ...]
    documents: tuple[str, ...]
    by: str | None
    cells: Path | None
    layout: Layout
    threads: int | None


def _bars(plots: Any, mixture: Mixture, given: Given) -> Any:
    return plots.topic_bars(mixture, given.topics)


def _map(plots: Any, mixture: Mixture, given: Given) -> Any:
    return plots.topic_map(mixture)


def _lift(plots: Any, mixture: Mixture, given: Given) -> Any:
    return plots.lift_matrix(mixture)


def _likelihood(plots: Any, mixture: Mixture, given: Given) -> Any:
    return plots.likelihood_curve(mixture)


def _distances(plots: Any, mixture: Mixture, given: Given) -> Any:
    from fdmix.metrics.matching import matching_distance, over_common_words  # noqa: PLC0415

    matched = {str(path): matching_distance(*over_common_words(mixture, Mixture.load(path))) for path in given.others}
    return plots.distance_histogram(matched)


def _shares(plots: Any, mixture: Mixture, given: Given) -> Any:
    if given.cells is not None:
        from fdmix import effects  # noqa: PLC0415  (other figures need not wait for it)

        shares = effects.over(mixture, loaded_cells(given.cells), n_threads=given.threads)
        return plots.topic_shares(shares, mixture=mixture, topics=given.topics)
    by = given.by or ""
    source = files_of(list(given.documents), replace(given.layout, kept=((GROUP, by),)))
    with steps() as bars:
        found = group_shares(mixture, source, by, n_threads=given.threads, report=bars.report)
    return plots.topic_shares(found, mixture=mixture, topics=given.topics)


def _words(plots: Any, mixture: Mixture, given: Given) -> Any:
    from fdmix import effects  # noqa: PLC0415  (other figures need not wait for it)

    found = effects.word_changes(mixture, loaded_cells(given.cells or Path()), n_threads=given.threads)
    return plots.word_trends(found, mixture, given.topics)


def _tree(plots: Any, mixture: Mixture, given: Given) -> Any:
    return plots.topic_tree(mixture.tree(loaded_moments(given.moments or "")))


def _intervals(plots: Any, mixture: Mixture, given: Given) -> Any:
    return plots.share_intervals(mixture, given.topics)


def _edits(plots: Any, mixture: Mixture, given: Given) -> Any:
    from fdmix.edits import last_story  # noqa: PLC0415  (other figures need not wait for it)

    return plots.edit_changes(last_story(mixture))


def _pairs(plots: Any, mixture: Mixture, given: Given) -> Any:
    return plots.pair_matrix(loaded_moments(given.moments or ""), mixture, scale="log")


KINDS: dict[str, Callable[[Any, Mixture, Given], Any]] = {
    "bars": _bars,
    "map": _map,
    "lift": _lift,
    "likelihood": _likelihood,
    "distances": _distances,
    "shares": _shares,
    "words": _words,
    "pairs": _pairs,
    "tree": _tree,
    "intervals": _intervals,
    "edits": _edits,
}
USES = {
    "topics": ("bars", "shares", "words", "intervals"), "moments": ("pairs", "tree"), "others": ("distances",),
    "documents": ("shares",), "by": ("shares",), "cells": ("shares", "words"),
}  # fmt: skip
OPTIONS = {"others": "--other"}  # where the option has another name
NEEDED = {
    "distances": ("others",), "shares": ("documents", "by"), "pairs": ("moments",), "tree": ("moments",),
    "words": ("cells",),
}  # fmt: skip


def _drawing(kind: str, given: Given) -> Callable[[Any, Mixture, Given], Any]:
    """The function that draws a kind, if it has what it needs and nothing that it would ignore."""
    if kind not in KINDS:
        raise ValueError(f"there is no plot {kind!r}; there are: {', '.join(KINDS)}")
    if kind == "shares" and given.cells is not None and (given.documents or given.by):
        raise ValueError("--cells and --documents both make groups: give one of them")
    for name in () if kind == "shares" and given.cells is not None else NEEDED.get(kind, ()):
        if not getattr(given, name):
            raise ValueError(f"a plot of {kind} needs {_option(name)}")
    for name, kinds in USES.items():
        if getattr(given, name) and kind not in kinds:
            raise ValueError(f"{_option(name)} is for plots of {_listed(kinds)}, not of {kind}")
    if given.moments is not None and not is_moments(given.moments):
        raise ValueError(f"{given.moments} is not a file of moments; fdmix count writes one")
    return KINDS[kind]


def _listed(kinds: tuple[str, ...]) -> str:
    return " and ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)


def _option(name: str) -> str:
    return OPTIONS.get(name, f"--{name}")


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError(f"--topics takes numbers of topics, such as 3,17, not {text!r}")
    return [int(part) for part in parts]


def _plots() -> ModuleType:
    """fdmix.plots, or an ImportError that says what to install."""
    from fdmix import plots  # noqa: PLC0415  (matplotlib is optional)

    return plots
