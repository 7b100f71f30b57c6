"""assign: the topics of documents, as a table."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated

import typer

from fdmix.cli.assign_rows import writer
from fdmix.cli.console import say, say_device, steps, timed
from fdmix.cli.inputs import check_place, is_same_file, refuse_to_replace
from fdmix.cli.on_cluster import ENGINES as CLUSTER_ENGINES
from fdmix.cli.on_cluster import Cluster, assign_on_cluster, refuse_cluster
from fdmix.cli.options import (
    Device,
    Force,
    Inputs,
    Model,
    Ranking,
    Threads,
    ranking_of,
    with_layout,
)  # fmt: skip
from fdmix.mixture.assignment import document_device
from fdmix.mixture.mixture import Mixture
from fdmix.mixture.sheet import Sheet
from fdmix.storage.places import place_of
from fdmix.text.files import STDIN, Layout
from fdmix.text.notices import with_notices
from fdmix.text.recipe import recipe_like
from fdmix.text.sources import Files, files_of
from fdmix.text.tokenising import token_batches

Prior = Annotated[str, typer.Option(help="none (most likely topics) or dirichlet (posterior mean).")]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COLUMNS", help="Columns of the input to copy into the result: --keep date,user."),
]
Form = Annotated[
    str,
    typer.Option(
        metavar="FORM",
        help="main: a row for each document, with its main topic; wide: the same, and a column for each topic; "
        "long: a row for each document and topic.",
    ),
]


@with_layout
def assign(
    model: Model,
    inputs: Inputs,
    layout: Layout,
    out: Annotated[str, typer.Option("--out", "-o", help="File: .parquet, .csv or .jsonl; - prints CSV.")] = "-",
    keep: Keep = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="Column to copy into the result as `id`.")
    ] = None,
    form: Form = "main",
    min_share: Annotated[
        float, typer.Option(help="Smaller shares are written as 0, and left out of the long form.")
    ] = 0.001,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words that stand for a topic.")] = 4,
    ranking: Ranking = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="CSV: do not mark text that spreadsheets would run as a formula.")
    ] = False,
    prior: Prior = "none",
    engine: Annotated[
        str,
        typer.Option(
            help="What computes: auto (the CPU), torch (GPUs), or a cluster: dask, spark.",
            metavar="NAME",
        ),
    ] = "auto",
    cluster: Cluster = None,
    device: Device = "auto",
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Find the topics of documents: the main topic of each, its words and its share.

    Columns: document (counted from 0), file (if there are several), the columns
    to --keep, topic, label (if topics have labels), words, share, known_words.
    A document without a word that the model knows has known_words 0 and no
    topic. Text is cleaned the way the model's text was.

    Examples:

      fdmix assign model new.csv --column text --keep date,user -o topics.csv

      fdmix assign model new.csv --column text --form wide -o theta.parquet

      echo "cats chase mice" | fdmix assign model -

      fdmix assign model posts/ --engine dask --cluster tcp://host:8786 -o out
    """
    if out != "-":
        check_place(place_of(out))
        refuse_to_replace(place_of(out), force)
    words_by = ranking_of(ranking)
    refuse_cluster(engine, cluster)
    if engine not in CLUSTER_ENGINES:
        document_device(engine, device)  # refuses what is not there before anything is read
    mixture = Mixture.load(model)
    say_device(engine, device)
    chosen = _prior(prior)
    if engine in CLUSTER_ENGINES:
        _refuse_for_cluster(out, id, ranking, raw)
        given = files_of(inputs, layout)
        how = {"keep": _columns(keep), "form": form, "min_share": min_share, "words": words, "prior": chosen}
        assign_on_cluster(mixture, given, place_of(out), engine, cluster, force, **how)
        return
    kept = [*([("id", id)] if id else []), *((name, name) for name in _columns(keep))]
    columns = tuple((f"column {i}", name) for i, (_, name) in enumerate(kept))
    source = files_of(inputs, replace(layout, kept=columns))
    _refuse_input(out, source)
    carried = [("file", "file")] if source.per_file or len(source.paths) > 1 else []
    carried += [(name, f"column {i}") for i, (name, _) in enumerate(kept)]
    sheet = Sheet(mixture.typical_words(words, words_by), (), form, min_share, mixture.labels)
    names = _named(carried, {"topics", *sheet.names})
    sheet = replace(sheet, carried=tuple(names))
    recipe = recipe_like(mixture, steps={"min_tokens": 0})
    n_documents = n_empty = 0
    printed = out == "-" and sys.stdout.isatty()
    with steps(hidden=printed) as bars, timed() as seconds, writer(out, sheet, raw) as write:
        for batch in with_notices(token_batches(source, recipe.cleaning, threads, bars.report)):
            corpus = recipe.corpus([recipe.counts(batch)[0]])
            found = mixture.assignment(corpus, chosen, n_threads=threads, engine=engine, device=device)
            write(sheet.rows(n_documents, {name: batch.kept[key] for name, key in names.items()}, found))
            n_documents += len(found.theta)
            n_empty += found.n_empty
        took = seconds()
    if n_empty:
        say(f"Documents without a word that the model knows: {n_empty:,}. They have no topic.")
    say(f"{n_documents:,} documents in {took:.1f} s" + ("." if out == "-" else f". Wrote {out}."))


def _refuse_for_cluster(out: str, id: str | None, ranking: str | None, raw: bool) -> None:
    if out == "-":
        raise ValueError("a cluster writes a folder of Parquet files: give --out FOLDER")
    if id is not None or ranking is not None or raw:
        raise ValueError("--id, --ranking and --raw do not apply on a cluster: use --keep for columns")


def _columns(given: Iterable[str] | None) -> list[str]:
    """The names in lists such as `date,user`; a name with a comma is put into quotation marks."""
    names = [name for value in given or () for name in next(csv.reader([value], skipinitialspace=True), [])]
    return list(dict.fromkeys(name for name in names if name))


def _named(carried: list[tuple[str, str]], taken: set[str]) -> dict[str, str]:
    """{name in the result: name in a batch}; a column that is called like one of the result's own gets a new name."""
    found: dict[str, str] = {}
    for name, key in carried:
        free = name
        while free in taken or free in found:
            free = f"input_{free}"
        if free != name:
            say(f"The input's column {name!r} is written as {free!r}: the result already has a column {name!r}.")
        found[free] = key
    return found


def _refuse_input(out: str, source: Files) -> None:
    if out != "-" and any(is_same_file(place_of(out), path) for path in source.paths if path != STDIN):
        raise FileExistsError(f"{out} is an input: give another name for the result")


def _prior(name: str) -> str | None:
    if name not in ("none", "dirichlet"):
        raise ValueError(f"--prior is none or dirichlet, not {name!r}")
    return None if name == "none" else name
