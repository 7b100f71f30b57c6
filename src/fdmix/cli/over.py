"""over: the shares of topics over time and groups, with error bars."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cells import MomentsByGroup
from fdmix.cells.grouping import shown_key
from fdmix.cli.console import print_json, say, timed
from fdmix.cli.inputs import loaded_cells
from fdmix.cli.options import AsJson, Force, Model, Threads
from fdmix.cli.over_tables import show_cells, show_differences, show_summary, show_topic, show_trends, show_words
from fdmix.cli.table_files import check_table_file, rows_of_columns, write_table
from fdmix.mixture.mixture import Mixture

TABLES = ("shares", "trends", "words")
MAX_COLUMNS = 4  # cells that are shown side by side; more cells are summed up


def over(
    model: Model,
    cells: Annotated[Path, typer.Argument(help="Moments by group, of `fdmix count --by`.", metavar="CELLS")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the table: a .csv or .parquet file.", metavar="FILE"),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="GROUPS", help="Add cells up to larger ones, such as year(date) or party."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Only these cells: party=D, or date=2021-01..2021-06. Repeatable."),
    ] = None,
    table: Annotated[
        str, typer.Option(metavar="NAME", help="shares, trends, or words that rise and fall within topics.")
    ] = "shares",
    topic: Annotated[int | None, typer.Option(metavar="N", help="Show one topic in all cells.", min=0)] = None,
    compare: Annotated[
        str | None, typer.Option(metavar="COLUMN=VALUE", help="Compare the shares in these cells ...")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--with", metavar="COLUMN=VALUE", help="... with those in these cells.")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.9,
    threads: Threads = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Show the shares of topics over time and groups, with error bars.

    The topics stay as they are, and the shares are fitted to each cell.
    Intervals say how much other documents from the same source would change
    the shares. They do not include the uncertainty of the topics.

    Examples:

      fdmix count text.csv --column text --by "month(date),party" -o cells

      fdmix over model cells --by "month(date)" -o shares.csv

      fdmix over model cells --by "month(date)" --topic 7

      fdmix over model cells --table words

      fdmix over model cells --compare party=D --with party=R
    """
    if table not in TABLES:
        raise ValueError(f"--table is one of {', '.join(TABLES)}, not {table!r}")
    if (compare is None) != (against is None):
        raise ValueError("--compare and --with belong together: --compare party=D --with party=R")
    if out is not None:
        check_table_file(out, force)
    mixture, given = Mixture.load(model), loaded_cells(cells)
    if topic is not None and topic >= mixture.n_topics:
        raise ValueError(f"there are topics 0 to {mixture.n_topics - 1}, but no topic {topic}")
    for choice in only or ():
        given = given.select(**selection(choice))
    given = given if by is None else given.along(by)
    with timed() as seconds:
        columns = _answer(mixture, given, table, topic, (compare, against), level, threads, shown=not as_json)
        took = seconds()
    if as_json:
        print_json(rows_of_columns(columns))
    if out is not None:
        write_table(out, columns)
        say(f"Wrote {out}: {len(next(iter(columns.values()))):,} rows, in {took:.1f} s.")


def selection(choice: str) -> dict[str, Any]:
    """The arguments of `MomentsByGroup.select` for `party=D` or `date=2021-01..2021-06`, several joined by commas.

    >>> selection("party=D,date=2021-01..")
    {'party': 'D', 'date': ('2021-01', None)}
    """
    chosen: dict[str, Any] = {}
    for part in choice.split(","):
        column, sign, value = (piece.strip() for piece in part.partition("="))
        if not column or not sign or not value:
            raise ValueError(f"{part!r} does not choose cells: write party=D or date=2021-01..2021-06")
        first, dots, last = value.partition("..")
        chosen[column] = (first or None, last or None) if dots else value
    return chosen


def _answer(
    mixture: Mixture,
    cells: MomentsByGroup,
    table: str,
    topic: int | None,
    compared: tuple[str | None, str | None],
    level: float,
    threads: int | None,
    shown: bool,
) -> dict[str, Any]:
    """Compute and print what was asked for; the columns of its whole table."""
    from fdmix import effects  # noqa: PLC0415  (other commands need not wait for it)

    a, b = compared
    if a is not None and b is not None:
        first, second = cells.select(**selection(a)), cells.select(**selection(b))
        if shared := set(first.cells) & set(second.cells):
            raise ValueError(f"the cell {shown_key(min(shared, key=str))} is on both sides: choose separate cells")
        found = effects.compare(mixture, first, second, level=level)
        if shown:
            show_differences(mixture, found, a, b)
        return found.columns()
    shares = effects.over(mixture, cells, level=level, n_threads=threads)
    if table == "words":
        changes = effects.word_changes(mixture, cells, shares, n_threads=threads)
        if shown:
            show_words(mixture, changes, topic)
        return changes.cells if changes.trend is None else changes.trend
    if table == "trends":
        if shown:
            show_trends(mixture, shares)
        return shares.trends()
    if shown:
        if topic is not None:
            show_topic(mixture, shares, topic)
        elif len(shares.keys) <= MAX_COLUMNS:
            show_cells(mixture, shares)
        else:
            show_summary(mixture, shares)
    return shares.columns()
