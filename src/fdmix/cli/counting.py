"""count, merge, subtract: moments from text, and their exact arithmetic."""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated

import typer

from fdmix.cli.console import say, steps, timed
from fdmix.cli.inputs import added, check_output, is_moments, moments_files, refuse_to_replace
from fdmix.cli.options import Column, Encoding, Force, Inputs, Split, TextOptions, Threads, with_text_options
from fdmix.mixture import Mixture
from fdmix.model_folder import is_model
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
    like: Annotated[Path | None, typer.Option(help="Moments or a model whose words and cleaning to keep.")] = None,
    folds: Annotated[int, typer.Option(min=0, help="Keep so many parts apart, for cross-validation.")] = 0,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Count the word pairs of text into a file of moments.

    Killed at any moment and started again, it goes on where it was; the result is the same to the last bit.
    Parts that will be added or subtracted should be counted with the same words: --like the first of them.

    Examples:

      fdmix count a.csv b.parquet --column text -o moments

      fdmix count papers.csv --column paper_text --split paragraphs --preset papers -o moments

      fdmix count tuesday.csv --like monday.moments -o tuesday.moments
    """
    check_output(out, inputs)
    if like is not None and text.given:
        raise ValueError("--like keeps the words and the cleaning of a file: other options of cleaning do not apply")
    model = None if like is None else (Mixture.load(like) if is_model(like) else Moments.load(like))
    job = CountInProgress(files_of(inputs, text.layout), text.cleaning, out, like=model, folds=folds)
    refuse_to_replace(out, force or job.resumes)
    moments = counted_files(
        job, threads, f"What was done is kept in {job.folder}: the same command goes on from there."
    )
    say(f"Wrote {out}: {moments!r}")
    if not moments.n_documents:
        say("Beware: no document is left that has two words or more.")


def counted_files(job: CountInProgress, threads: int | None, when_stopped: str) -> Moments:
    """Count files with checkpoints; standard input without."""
    with steps() as bars, timed() as seconds:
        try:
            if STDIN in job.files.paths:
                moments = read_moments(
                    job.files, preset=job.cleaning, like=job.like, folds=job.folds,
                    n_threads=threads, report=bars.report,
                )  # fmt: skip
                moments.save(job.target)
            else:
                if job.resumes:
                    say(f"Going on from {job.folder}.")
                elif job.replaces_a_failed_count:
                    say(f"{job.folder} is left from a count that failed: beginning anew.")
                moments = job.run(n_threads=threads, report=bars.report)
        except KeyboardInterrupt:
            say(f"Stopped. {when_stopped}")
            raise typer.Exit(130) from None
        say(f"Read {len(job.files.paths):,} file(s) in {seconds():.1f} s.")
    return moments


def merge(
    inputs: Annotated[list[str], typer.Argument(help="Files of moments, or folders of them.")],
    out: Out,
    force: Force = False,
) -> None:
    """Add files of moments: exact sums, whatever their order.

    The same as counting all documents together if all were counted with the same words (see `fdmix count --like`).

    Example: fdmix merge monday.moments tuesday.moments -o week.moments
    """
    check_output(out, [])
    refuse_to_replace(out, force)
    files = moments_files(inputs)
    if not files:
        raise ValueError("merge adds files of moments, as written by `fdmix count`; these are not")
    parts = [Moments.load(path) for path in files]
    if any(part.vocabulary != parts[0].vocabulary for part in parts) and any(map(_choosy, parts)):
        say(
            "Beware: the parts chose their words each for itself, so a word may be missing where it was rare. "
            "Count later parts with --like the first to avoid it."
        )
    total = reduce(add, parts)
    total.save(out)
    say(f"Wrote {out}: {total!r}")


def _choosy(moments: Moments) -> bool:
    """Whether words were left out for being rare or common."""
    if moments.preparation is None:
        return False
    cleaning = moments.preparation.cleaning
    return cleaning.min_count != 1 or cleaning.max_words is not None or cleaning.max_share < 1 or cleaning.phrases


def subtract(
    whole: Annotated[Path, typer.Argument(help="File of moments.")],
    removed: Annotated[list[str], typer.Argument(help="What to remove: files of moments, or text.")],
    out: Out,
    column: Column = None,
    split: Split = None,
    encoding: Encoding = None,
    force: Force = False,
) -> None:
    """Remove documents from moments, exactly. Text is cleaned the way the moments' text was.

    Examples:

      fdmix subtract all.moments spam.moments -o rest.moments

      fdmix subtract all.moments withdrawn.csv --column text -o rest.moments
    """
    check_output(out, [whole, *removed])
    refuse_to_replace(out, force)
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
