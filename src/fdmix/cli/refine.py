"""refine: passes over documents that finish what the pairs began."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdmix.cli.console import fitting, say, steps, timed
from fdmix.cli.inputs import check_model_output
from fdmix.cli.options import Column, Delimiter, Encoding, Force, Inputs, Model, NoHeader, Split, Threads
from fdmix.documents.refining import refine as improved
from fdmix.mixture.mixture import Mixture
from fdmix.text.files import Layout
from fdmix.text.reading import read_corpus
from fdmix.text.sources import files_of


def refine(
    model: Model,
    inputs: Inputs,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model folder to write.")],
    column: Column = None,
    split: Split = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    unseen: Annotated[
        Path | None,
        typer.Option(help="Other text to decide by how far to go (default: part of the input)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same topics.")] = 0,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Improve a model by passes over its documents, as many as help documents that are set aside.

    Example: fdmix refine model tweets.csv --column text -o better
    """
    check_model_output(out, force)
    mixture = Mixture.load(model)
    layout = Layout(column, (), split, encoding, delimiter, not no_header)
    with steps() as bars, timed() as seconds:
        corpus = read_corpus(files_of(inputs, layout), like=mixture, report=bars.report, n_threads=threads)
        judges = None if unseen is None else read_corpus(files_of([unseen], layout), like=mixture)
        better = improved(mixture, corpus, unseen=judges, seed=seed, callback=fitting(bars), n_threads=threads)
        took = seconds()
    better.save(out)
    say(f"Refined on {corpus.n_documents:,} documents in {took:.1f} s. Wrote {out}.")
