"""count, merge, subtract: moments from text, and their exact arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdmix.cli.console import say, steps, timed
from fdmix.cli.inputs import added, is_moments, moments_files
from fdmix.cli.options import Column, Encoding, Inputs, Split, TextOptions, Threads, with_text_options
from fdmix.moments import Moments
from fdmix.text.files import STDIN, Layout
from fdmix.text.reading import read_moments
from fdmix.text.resumable import CountInProgress
from fdmix.text.sources import files_of

Out = Annotated[Path, typer.Option("--out", "-o", help="File to write.")]


@with_text_options
def count(
    inputs: Inputs,
    out: Out,
    text: TextOptions,
    folds: Annotated[int, typer.Option(min=0, help="Keep so many parts apart, for cross-validation.")] = 0,
    threads: Threads = None,
) -> None:
    """Count the word pairs of text into a file of moments.

    Killed at any moment and started again, it goes on where it was; the result is the same to the last bit.

    Examples:

      fdmix count a.csv b.parquet --column text -o moments

      fdmix count papers.csv --column paper_text --split paragraphs --preset papers -o moments
    """
    moments = count_text(inputs, text, out, folds=folds, threads=threads)
    say(f"Wrote {out}: {moments!r}")


def count_text(inputs: list[str], text: TextOptions, out: Path, folds: int, threads: int | None) -> Moments:
    """Count files with checkpoints; standard input without."""
    files = files_of(inputs, text.layout)
    with steps() as bars, timed() as seconds:
        if STDIN in files.paths:
            moments = read_moments(files, preset=text.cleaning, folds=folds, n_threads=threads, report=bars.report)
            moments.save(out)
        else:
            job = CountInProgress(files, text.cleaning, out, folds=folds)
            if job.resumes:
                say(f"Going on from {job.folder}.")
            try:
                moments = job.run(n_threads=threads, report=bars.report)
            except KeyboardInterrupt:
                say(f"Stopped. What was done is kept in {job.folder}: the same command goes on from there.")
                raise typer.Exit(130) from None
        say(f"Read {len(files.paths):,} file(s) in {seconds():.1f} s.")
    return moments


def merge(inputs: Inputs, out: Out) -> None:
    """Add files of moments: exactly as if all documents had been counted together.

    Example: fdmix merge monday.moments tuesday.moments -o week.moments
    """
    files = moments_files(inputs)
    if not files:
        raise ValueError("merge adds files of moments, as written by `fdmix count`; these are not")
    total = added(files)
    total.save(out)
    say(f"Wrote {out}: {total!r}")


def subtract(
    whole: Annotated[Path, typer.Argument(help="File of moments.")],
    removed: Annotated[list[str], typer.Argument(help="What to remove: files of moments, or text.")],
    out: Out,
    column: Column = None,
    split: Split = None,
    encoding: Encoding = None,
) -> None:
    """Remove documents from moments, exactly. Text is cleaned the way the moments' text was.

    Examples:

      fdmix subtract all.moments spam.moments -o rest.moments

      fdmix subtract all.moments withdrawn.csv --column text -o rest.moments
    """
    if not is_moments(whole):
        raise ValueError(f"{whole} is no file of moments")
    total = Moments.load(whole)
    files = moments_files(removed)
    if files:
        part = added(files)
    else:
        source = files_of(removed, Layout(column, (), split, encoding))
        with steps() as bars:
            part = read_moments(source, like=total, folds=len(total.folds), report=bars.report)
    rest = total - part
    rest.save(out)
    say(f"Removed {part.n_documents:,} documents. Wrote {out}: {rest!r}")
