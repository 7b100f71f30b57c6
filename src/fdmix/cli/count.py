"""count: from text to a file of moments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cells.moments_by_group import DEFAULT_FOLDS
from fdmix.cli.console import print_json, say, steps, timed
from fdmix.cli.count_cells import count_cells
from fdmix.cli.info import facts_of
from fdmix.cli.inputs import check_output, is_cells, loaded_cells, refuse_repeated_paths, refuse_to_replace
from fdmix.cli.on_cluster import Cluster, count_on_cluster, refuse_cluster
from fdmix.cli.options import (
    Again,
    AsJson,
    Force,
    Inputs,
    Memory,
    TextOptions,
    Threads,
    Weighting,
    with_text_options,
)
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.moments.spilling import checked_memory
from fdmix.runtime.memory import bytes_in
from fdmix.storage.model_folder import is_model
from fdmix.text.files import STDIN
from fdmix.text.forecast import forecast
from fdmix.text.reading import read_moments
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import Files, files_of


@with_text_options
def count(
    inputs: Inputs,
    text: TextOptions,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write.")] = None,
    like: Annotated[Path | None, typer.Option(help="Moments or a model whose words and cleaning to keep.")] = None,
    keep_all_words: Annotated[
        bool, typer.Option("--open", help="Keep every word, so that later counts can bring new ones.")
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="GROUPS",
            help="Keep groups apart, by columns and calendar bins: month(date),party. Bins: day, week, month, "
            "quarter, year.",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Keep N parts apart, for cross-validation and error bars (default: 0, or 10 with --by).",
        ),
    ] = None,
    weighting: Weighting = None,
    memory: Memory = None,
    again: Again = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what counting will take, from a sample of the text.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Count on a cluster, with the same result: dask or spark."),
    ] = None,
    cluster: Cluster = None,
    threads: Threads = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Count the word pairs of text into a file of moments.

    Resumes if interrupted: repeat the same command. The result is the same to
    the last bit. (With --by, it begins again, and word counts of all documents
    must fit into memory.)

    Daily updates: count the first part with --open, and later parts with --like
    the first. New words enter, and rare words are left out when topics are
    fitted. Without --open, --like never lets a new word in.

    Examples:

      fdmix count a.csv b.parquet --column text -o moments

      fdmix count monday.csv --open -o monday.moments

      fdmix count tuesday.csv --like monday.moments -o tuesday.moments

      fdmix count posts/ --memory 2GB -o moments

      fdmix count a.csv --column text --by "month(date),party" -o cells

      fdmix count posts/ --engine spark --cluster yarn -o moments
    """
    refuse_cluster(engine, cluster, memory)
    if like is not None and (text.given or keep_all_words):
        raise ValueError("--like keeps the words and the cleaning of a file: other options of cleaning do not apply")
    if out is None and not estimate:
        raise ValueError("give --out FILE for the moments, or --estimate to see what counting will take")
    if out is not None and estimate:
        raise ValueError("--estimate writes no file: leave out --out")
    limit = None if memory is None else checked_memory(bytes_in(memory))
    if limit is not None and by is not None:
        raise ValueError("--memory does not go with --by: the counts of groups are kept in memory")
    if out is not None:
        check_output(out, inputs)
    files = files_of(inputs, text.layout)
    if not again:
        refuse_repeated_paths(files)
    model = None if like is None else _loaded_like(like)
    cleaning = text.with_open_vocabulary() if keep_all_words else text.cleaning
    if out is None:
        _say_forecast(files, cleaning, model, threads, as_json, limit)
        return
    if engine is not None:
        refuse_to_replace(out, force)
        how = {"by": by, "folds": folds, "weighting": weighting, "like": model}
        how |= {} if like is not None else {"preset": cleaning}
        count_on_cluster(files, out, engine, cluster, as_json, **how)
        return
    if by is not None:
        refuse_to_replace(out, force)
        counting = {"folds": DEFAULT_FOLDS if folds is None else folds, "weighting": weighting, "n_threads": threads}
        count_cells(files, by, None if like is not None else cleaning, model, out, as_json, **counting)
        return
    job = CountInProgress(files, cleaning, out, like=model, folds=folds or 0, weighting=weighting, memory=limit)
    refuse_to_replace(out, force or job.resumes)
    with timed() as seconds:
        moments = counted_files(job, threads, f"What was done is kept in {job.folder}: the same command resumes it.")
        took = seconds()
    for source in moments.ledger.counted_twice():
        say(f"Warning: {source.times} files hold the same {source.documents:,} documents as {source.name}.")
    if not moments.n_documents:
        say("Warning: no document has two or more words.")
    if as_json:
        print_json({"moments": str(out)} | facts_of(moments) | {"seconds": round(took, 3)})
    say(f"Wrote {out}: {moments!r}")


def _loaded_like(path: Path) -> Any:
    """A model or moments whose words and cleaning to keep; of moments by group, any cell knows them."""
    if is_model(path):
        return Mixture.load(path)
    if is_cells(path):
        cells = loaded_cells(path)
        return cells[next(iter(cells))]
    return Moments.load(path)


def _say_forecast(
    files: Files, cleaning: Any, like: Any, threads: int | None, as_json: bool, memory: float | None
) -> None:
    if STDIN in files.paths:
        raise ValueError("--estimate reads a sample first: give files, not standard input")
    with steps() as bars:
        found = forecast(files, cleaning, like, n_threads=threads, report=bars.report, memory=memory)
    if as_json:
        print_json(found.__dict__)
    else:
        say(f"Counting will take {found}.")


def counted_files(job: CountInProgress, threads: int | None, when_stopped: str) -> Moments:
    """Count files with checkpoints; standard input without."""
    with steps() as bars, timed() as seconds:
        try:
            if STDIN in job.files.paths:
                moments = read_moments(
                    job.files,
                    preset=None if job.like is not None else job.cleaning,
                    like=job.like,
                    folds=job.folds,
                    weighting=job.weighting,
                    n_threads=threads,
                    memory=job.memory,
                    report=bars.report,
                )
                moments.save(job.target)
            else:
                if job.resumes:
                    say(f"Resuming from {job.folder}.")
                elif job.replaces_a_failed_count:
                    say(f"{job.folder} is left from a count that failed: beginning anew.")
                moments = job.run(n_threads=threads, report=bars.report)
        except KeyboardInterrupt:
            say(f"Stopped. {when_stopped}")
            raise typer.Exit(130) from None
        say(f"Read {len(job.files.paths):,} file(s) in {seconds():.1f} s.")
    return moments
