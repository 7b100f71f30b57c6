"""choose: how many topics a text has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.choice import Choice, choose_n_topics, numbers_of_topics
from fdmix.choice.candidates import STEPS
from fdmix.choice.choice import PAIRS, table_kind
from fdmix.choice.choosing import FOLDS
from fdmix.cli.console import print_json, say, show, steps, timed
from fdmix.cli.fit import documents_in_memory
from fdmix.cli.inputs import added, check_place, in_a_sentence, moments_files, refuse_to_replace
from fdmix.cli.options import AsJson, Force, Inputs, TextOptions, Threads, with_text_options
from fdmix.cli.tables import plain_table

MOMENTS_WITHOUT_FOLDS = (
    "these moments keep no folds, so no documents can be left out: count again with fdmix count --folds 10"
)


@with_text_options
def choose(
    inputs: Inputs,
    text: TextOptions,
    topics: Annotated[
        str, typer.Option("--topics", "-t", help="Numbers to try: a range 10..300, or 10,20,50.", metavar="NUMBERS")
    ],
    range_steps: Annotated[
        int, typer.Option("--steps", min=2, help="How many numbers of a range to try, in equal ratios.")
    ] = STEPS,
    criterion: Annotated[
        str, typer.Option(help="Score that decides: pairs, or completion of documents.", metavar="NAME")
    ] = PAIRS,
    folds: Annotated[
        int | None, typer.Option(min=3, help=f"Parts of the documents, each left out once (default: {FOLDS}).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Table to write: .csv, .parquet; .json for reports.", metavar="FILE"),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Figure to write: .png, .svg or .pdf (needs matplotlib).", metavar="FILE")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same result.")] = 0,
    threads: Threads = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Choose the number of topics by the score of left-out documents.

    The documents are divided into folds. For each number of topics, topics are
    fitted without one fold and scored on it. The choice is the smallest number
    whose gain is within one standard error of the best. One topic, the word
    frequencies alone, is always tried: if nothing beats it, there are no topics.

    Moments must keep folds (fdmix count --folds 10). With text, the completion
    of left-out documents is scored as well.

    Examples:

      fdmix choose reviews.csv --column text --topics 5..100

      fdmix choose week.moments --topics 10..300 -o numbers.csv --plot t.pdf

      fdmix choose week.moments -t 10..300 -o numbers.json   # for fdmix report
    """
    numbers = numbers_of_topics(topics, range_steps)
    for path in (out, plot):
        if path is not None:
            check_place(path)
            refuse_to_replace(path, force)
    if out is not None:
        table_kind(out)
    plots = None if plot is None else _plots(plot)
    data = _data(inputs, text, threads, folds)
    say(in_a_sentence(data))
    settings: dict[str, Any] = {"criterion": criterion, "seed": seed, "n_threads": threads}
    with steps() as bars, timed() as seconds:
        choice = choose_n_topics(data, numbers, folds=folds or FOLDS, report=bars.report, **settings)
        took = seconds()
    if out is not None:
        choice.save(out)
    if plots is not None and plot is not None:
        plots.save_figure(plots.choice_curve(choice), plot)
    _show(choice, as_json)
    written = " and ".join(str(path) for path in (out, plot) if path is not None)
    say(f"{took:.1f} s." + (f" Wrote {written}." if written else ""))


def _data(inputs: list[str], text: TextOptions, threads: int | None, folds: int | None) -> Any:
    """Moments with folds, or the documents."""
    counted = moments_files(inputs)
    if not counted:
        return documents_in_memory(inputs, text, threads)
    if text.given or text.layout.column:
        raise ValueError("the inputs are moments, already counted: options of text do not apply to them")
    moments = added(counted)
    if not moments.folds:
        raise ValueError(MOMENTS_WITHOUT_FOLDS)
    if folds is not None and folds != len(moments.folds):
        raise ValueError(f"these moments keep {len(moments.folds)} folds: leave out --folds, or count again")
    return moments


def _show(choice: Choice, as_json: bool) -> None:
    columns = choice.columns()
    if as_json:
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        print_json(
            {"topics": choice.n_topics, "has_topics": choice.has_topics, "verdict": choice.verdict}
            | {"criterion": choice.criterion, "others": choice.others, "candidates": rows}
        )
        return
    table = plain_table()
    # The score that decides is the gain, up to a constant; without it the table fits into 80 columns.
    shown = [name for name in columns if name not in ("chosen", "standard_error", choice.criterion)]
    for name in shown:
        table.add_column("gain ± error" if name == "gain" else name, justify="right", no_wrap=True)
    table.add_column("")
    for place in range(len(choice.candidates)):
        cells = {name: _cell(columns[name][place]) for name in shown}
        cells["gain"] += f" ± {columns['standard_error'][place]:.4f}"
        table.add_row(*cells.values(), "<- take" if columns["chosen"][place] else "")
    show(table)
    show(choice.verdict)
    show(f"The other scores would choose: {choice.second_opinions}.")


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _plots(path: Path) -> Any:
    """fdmix.plots, or an error that says what to install or which files it writes."""
    from fdmix import plots  # noqa: PLC0415  (matplotlib is optional)

    plots.saving.format_of(path)
    return plots
