"""effects: regressions of the topics of documents on their columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fdmix.cli.console import print_json, say, steps
from fdmix.cli.options import AsJson, Force, Inputs, Model, Threads, with_layout
from fdmix.cli.over_tables import show_effects
from fdmix.cli.table_files import check_table_file, rows_of_columns, write_table
from fdmix.mixture.mixture import Mixture
from fdmix.text.files import Layout
from fdmix.text.reading import read_corpus
from fdmix.text.sources import files_of

KEPT = "column "  # before the names of columns, so that none is taken for the number of the document


@with_layout
def effects(
    model: Model,
    inputs: Inputs,
    layout: Layout,
    formula: Annotated[
        str, typer.Option(metavar="FORMULA", help='Columns and their terms: "~ party + month(date)".')
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the table: a .csv or .parquet file.", metavar="FILE"),
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="unbiased, or composition, as estimateEffect of stm does it.")
    ] = "unbiased",
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.9,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws of --method composition.")] = 0,
    threads: Threads = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Regress the shares of topics in documents on their columns, such as party and date.

    The columns are those of the files. In the formula, month(date) is the
    number of months since the first one: its effect is the change a month.
    C(month(date)) has a level for each month. day, week, quarter and year work
    in the same way. Needs the extra "effects".

    Examples:

      fdmix effects model speeches.csv --column text --formula "~ party"

      fdmix effects model speeches.csv --formula "~ party * year(date)" -o e.csv
    """
    from fdmix import effects as questions  # noqa: PLC0415  (this function has the same name)
    from fdmix.effects.regression import METHODS  # noqa: PLC0415

    if method not in METHODS:
        raise ValueError(f"--method is one of {', '.join(METHODS)}, not {method!r}")
    columns = questions.columns_of_formula(formula)
    if out is not None:
        check_table_file(out, force)
    mixture = Mixture.load(model)
    source = files_of(inputs, replace(layout, kept=tuple((KEPT + name, name) for name in columns)))
    with steps() as bars:
        corpus = read_corpus(source, like=mixture, report=bars.report, n_threads=threads)
    kept = {name: (corpus.documents or {})[KEPT + name] for name in columns}
    found = questions.effects(mixture, corpus, formula, kept, method=method, level=level, seed=seed)
    if as_json:
        print_json(rows_of_columns(found.columns()))
    else:
        show_effects(mixture, found)
    if out is not None:
        write_table(out, found.columns())
        say(f"Wrote {out}.")
