"""report: the topics of a model as one interactive HTML file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fdmix.choice.choice import Choice
from fdmix.cli.console import say, steps, timed
from fdmix.cli.inputs import check_place, is_moments, loaded_cells, loaded_moments, refuse_to_replace
from fdmix.cli.options import Force, Threads, with_layout
from fdmix.mixture.mixture import Mixture
from fdmix.report.groups import GROUP
from fdmix.report.writing import write_report
from fdmix.storage.model_folder import is_model
from fdmix.text.layouts import Layout
from fdmix.text.sources import files_of


@with_layout
def report(
    models: Annotated[
        list[Path], typer.Argument(help="Model folder; a second one is compared with it.", metavar="MODEL [OTHER]")
    ],
    layout: Layout,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.", metavar="FILE")] = Path(
        "report.html"
    ),
    moments: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Moments of the text: adds coherence and word pairs."),
    ] = None,
    documents: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILES",
            help="Text: adds the most typical documents of each topic. Files, folders or globs.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of the documents: adds shares of topics by its values."),
    ] = None,
    cells: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Moments by group (fdmix count --by): adds shares over time and groups."),
    ] = None,
    choice: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Numbers of topics (fdmix choose -o FILE.json): adds how they compare."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page (default: the model's name).")] = None,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Write a report of the topics: one HTML file to look at and to send.

    The file opens in any browser, from disk, without a network. It holds the
    model's words and numbers, and passages of the documents if you give them.
    Labels that are typed into it can be exported and stored by fdmix label.
    A model that was edited shows what each step of edits did.

    Examples:

      fdmix report model -o report.html

      fdmix report model --moments text.moments --documents text.csv --column text

      fdmix report model50 model100 -o compared.html
    """
    models, more = _models_and_documents(models, bool(documents))
    check_place(out)
    refuse_to_replace(out, force)
    documents = [*(documents or ()), *more]
    if len(models) > 2:
        raise ValueError(f"a report compares two models, not {len(models)}")
    if by is not None and not documents:
        raise ValueError("--by groups documents by a column: give --documents, too")
    if moments is not None and not is_moments(moments):
        raise ValueError(f"{moments} is not a file of moments; fdmix count writes one")
    if by is not None and cells is not None:
        raise ValueError("--by and --cells both make groups: give one of them")
    numbers = None if choice is None else Choice.load(choice)
    mixtures = [Mixture.load(model) for model in models]
    kept = () if by is None else ((GROUP, by),)
    source = None if not documents else files_of(documents, replace(layout, kept=kept))
    with steps() as bars, timed() as seconds:
        write_report(
            mixtures[0], out,
            moments=None if moments is None else loaded_moments(moments),
            documents=source, by=by, cells=None if cells is None else loaded_cells(cells),
            compare_with=mixtures[1] if len(mixtures) > 1 else None, choice=numbers,
            names=(str(models[0]), str(models[-1])),
            title=title or f"Topics of {models[0].name}",
            n_threads=threads, report=bars.report,
        )  # fmt: skip
        took = seconds()
    say(f"Wrote {out} ({out.stat().st_size / 1e6:.1f} MB) in {took:.1f} s.")
    say(f"Open it in a browser: {out.resolve().as_uri()}")


def _models_and_documents(given: list[Path], with_documents: bool) -> tuple[list[Path], list[str]]:
    """Models, and what `--documents a.csv b.csv` gave beside its first file, which only the shell knows apart."""
    others = [path for path in given if not is_model(path)] if with_documents else []
    models = [path for path in given if path not in others]
    for path in models or given[:1]:
        if not is_model(path):
            Mixture.load(path)  # which says what is wrong with it
    return models, [str(path) for path in others]
