"""The command line: the same few functions a Python user calls."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import fdmix
from fdmix import picture, worlds

app = typer.Typer(help="Learn topics from word pairs.", no_args_is_help=True, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fdmix {fdmix.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Learn topics from word pairs."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files that are written.")] = Path("demo"),
    documents: Annotated[int, typer.Option(min=1, help="Documents to draw.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same documents.")] = 0,
) -> None:
    """Draw the paper's picture: the pair matrix of three overlapping topics.

    Example: fdmix demo --documents 100000 --out pictures
    """
    world = worlds.intervals()
    corpus = world.sample(documents, length=30, seed=seed)
    moments = fdmix.Moments.of(corpus)
    matrix = moments.matrix.toarray()
    error = abs(matrix - world.mixture.pair_matrix()).sum()
    typer.echo(f"{documents:,} documents of 30 tokens, drawn from three topics: words 1-40, 30-70 and 60-100.")
    typer.echo(f"Mhat, the probability that a pair of tokens of a document is (u, v), from {moments!r}:\n")
    typer.echo(picture.shaded(matrix))
    typer.echo(f"\nl1 distance to the true pair matrix: {error:.3f} (it falls as documents are added).")
    out.mkdir(parents=True, exist_ok=True)
    moments.save(out / "moments.fdmix")
    typer.echo(f"Wrote {out / 'moments.fdmix'}")
    try:
        picture.save_heatmap(matrix, out / "mhat.png", "Mhat of three overlapping topics")
        typer.echo(f"Wrote {out / 'mhat.png'}")
    except ImportError as missing:
        typer.echo(str(missing))
