"""fit: from text or moments to a model folder, in one step."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.console import fitting, print_json, say, steps, timed
from fdmix.cli.count import counted_files
from fdmix.cli.inputs import added, check_model_output, moments_files
from fdmix.cli.options import AsJson, Force, Inputs, TextOptions, Threads, with_text_options
from fdmix.cli.tables import hint_at_dominating_words, topic_facts, topic_table
from fdmix.corpus.corpus import Corpus
from fdmix.documents.fitting import fit_documents
from fdmix.fit.fitting import fit_mixture
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.solvers import EM, SOLVERS
from fdmix.text.reading import read_corpus
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import files_of


@with_text_options
def fit(
    inputs: Inputs,
    text: TextOptions,
    topics: Annotated[int, typer.Option("--topics", "-t", min=1, help="Number of topics.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model folder to write.")],
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same topics.")] = 0,
    solver: Annotated[str, typer.Option(help="em (ours) or adam (the paper's).")] = "em",
    documents: Annotated[
        bool, typer.Option("--documents", help="Learn from the text's documents, too: slower, better on real text.")
    ] = False,
    sparsity: Annotated[
        float | None,
        typer.Option(help="How hard to prune words from topics, in tokens (default: auto; 0: maximum likelihood)."),
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Stop after so many seconds with the best so far.")] = None,
    start: Annotated[Path | None, typer.Option(help="A model to begin with; its topics keep their numbers.")] = None,
    threads: Threads = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Learn topics from text, from files of moments, or from folders of either.

    Ctrl-C stops the fit and keeps the best topics so far.

    Examples:

      fdmix fit tweets.csv --column text --topics 50 -o model

      fdmix fit papers/ --preset papers --topics 100 -o model

      fdmix fit week.moments --topics 200 -o model

      fdmix fit papers/ --preset papers --topics 100 --documents -o model
    """
    check_model_output(out, force)
    if solver not in SOLVERS:
        raise ValueError(f"there is no solver {solver!r}; there are {', '.join(SOLVERS)}")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"--time-limit is a number of seconds above 0, not {time_limit:g}")
    settings: dict[str, Any] = {"seed": seed, "time_limit": time_limit, "n_threads": threads}
    if documents:
        if solver != "em" or sparsity is not None or start is not None:
            raise ValueError("--documents does not go with --solver, --sparsity or --start")
        learned: Any = _corpus(inputs, text, threads)
    else:
        toll = "auto" if sparsity is None else sparsity
        settings |= {"solver": solver, "sparsity": toll}
        EM(toll)  # refuses what is no toll before anything is read
        settings |= {"start": "anchors" if start is None else Mixture.load(start)}
        learned = _moments(inputs, text, threads)
    say(f"{learned!r}")
    with steps() as bars, timed() as seconds, _stoppable():
        fitted = fit_documents if documents else fit_mixture
        solution = fitted(learned, topics, callback=fitting(bars), **settings)
        took = seconds()
    solution.mixture.save(out)
    if as_json:
        score = solution.log_likelihoods[-1]
        print_json(
            {"model": str(out), "topics": topic_facts(solution.mixture), "log_likelihood": score}
            | {"converged": solution.converged, "reason": solution.reason, "seconds": round(took, 3)}
        )
    else:
        topic_table(solution.mixture)
        hint_at_dominating_words(solution.mixture)
    say(f"{len(solution.log_likelihoods) - 1} passes in {took:.1f} s: {solution.reason}. Wrote {out}.")
    if solution.reason == "interrupted by the user":
        raise typer.Exit(130)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Before the first pass there is nothing to keep."""
    try:
        yield
    except KeyboardInterrupt:
        say("Stopped before there were topics to keep.")
        raise typer.Exit(130) from None


def _corpus(inputs: list[str], text: TextOptions, threads: int | None) -> Corpus:
    if moments_files(inputs):
        raise ValueError("--documents needs the text: moments have forgotten which words were in a document")
    with steps() as bars:
        return read_corpus(files_of(inputs, text.layout), preset=text.cleaning, n_threads=threads, report=bars.report)


def _moments(inputs: list[str], text: TextOptions, threads: int | None) -> Moments:
    files = moments_files(inputs)
    if files:
        if text.given or text.layout.column:
            raise ValueError("the inputs are moments, already counted: options of text do not apply to them")
        return added(files)
    with tempfile.TemporaryDirectory(prefix="fdmix-") as folder:
        job = CountInProgress(files_of(inputs, text.layout), text.cleaning, Path(folder) / "moments")
        return counted_files(job, threads, "Nothing was written; `fdmix count` can be stopped and goes on later.")
