"""fit: from text or moments to a model folder, in one step."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.console import OF_DOCUMENTS, OF_PAIRS, fitting, print_json, say, say_device, steps, timed
from fdmix.cli.count import counted_files
from fdmix.cli.inputs import (
    added,
    check_model_output,
    in_a_sentence,
    moments_files,
    refuse_repeated_paths,
    within_memory,
)
from fdmix.cli.options import (
    AsJson,
    Device,
    Engine,
    Force,
    Inputs,
    Memory,
    TextOptions,
    Threads,
    Weighting,
    with_text_options,
)
from fdmix.cli.source_names import with_sources
from fdmix.cli.tables import hint_at_dominating_words, topic_facts, topic_table
from fdmix.corpus.corpus import Corpus
from fdmix.documents.fitting import fit_documents
from fdmix.engines import checked_engine
from fdmix.engines.registry import WITH_DEVICES
from fdmix.fit.fitting import fit_mixture
from fdmix.fit.solution import Solution
from fdmix.fit.stopping import Stop
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.moments.spilling import checked_memory
from fdmix.moments.weighting import DEFAULT_WEIGHTING, known_weighting
from fdmix.runtime.interruption import completed, deferred_ctrl_c
from fdmix.runtime.memory import available_bytes, bytes_in, in_words
from fdmix.runtime.processes import is_leader, process_count
from fdmix.solvers import EM, SOLVERS
from fdmix.text.files import STDIN
from fdmix.text.reading import read_corpus
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import files_of

PAIRS_ALONE = "topics are fitted to word pairs alone, without passes over documents"
BYTES_A_BYTE = 2.5  # of memory, for a byte of text that is read into a corpus
LARGE = 1e9  # bytes; a corpus that takes more says so


@with_text_options
def fit(
    inputs: Inputs,
    text: TextOptions,
    topics: Annotated[int, typer.Option("--topics", "-t", min=1, help="Number of topics.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model folder to write.")],
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same topics.")] = 0,
    pairs_only: Annotated[
        bool,
        typer.Option(
            "--pairs-only",
            help="FDM alone, the paper's method, from word pairs: faster and with less memory, but worse on most "
            "real text.",
        ),
    ] = False,
    documents: Annotated[bool, typer.Option("--documents", hidden=True)] = False,
    solver: Annotated[str, typer.Option(help="em (ours) or adam (the paper's, for pairs only).")] = "em",
    sparsity: Annotated[
        float | None,
        typer.Option(help="For pairs only: how hard to prune words from topics, in tokens (0: maximum likelihood)."),
    ] = None,
    weighting: Weighting = None,
    start: Annotated[
        Path | None,
        typer.Option(help="For pairs only: a model to start from; its topics keep their numbers."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Stop after this many seconds with the best so far.")
    ] = None,
    engine: Engine = "auto",
    device: Device = "auto",
    threads: Threads = None,
    memory: Memory = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Learn topics from text, from files of moments, or from folders of either.

    From text, FDM fits topics to the word pairs, and LDA sampling over the
    documents then improves them. --pairs-only leaves the sampling out: that is
    the paper's method.

    Moments hold no documents, so their topics are fitted to word pairs alone.

    Ctrl-C stops the fit and keeps the best topics so far.

    Examples:

      fdmix fit tweets.csv --column text --topics 50 -o model

      fdmix fit papers/ --preset papers --topics 100 -o model

      fdmix fit papers/ --preset papers --topics 100 --pairs-only -o model

      fdmix fit week.moments --topics 200 -o model

      fdmix fit huge.moments --topics 200 --memory 2GB -o model
    """
    _check_output(out, force)
    if solver not in SOLVERS:
        raise ValueError(f"there is no solver {solver!r}; there are {', '.join(SOLVERS)}")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"--time-limit is a number of seconds above 0, not {time_limit:g}")
    shrinkage = "auto" if sparsity is None else sparsity
    if weighting is not None:
        known_weighting(weighting)
    checked_engine(engine, device)
    if process_count() > 1:
        _check_sharing(engine, inputs)
    EM(shrinkage)  # refuses a bad value before anything is read
    given = {"--solver": solver != "em", "--sparsity": sparsity is not None, "--start": start is not None}
    if memory is not None:
        checked_memory(bytes_in(memory))
    counted = moments_files(inputs)
    alone = _pairs_alone(bool(counted), pairs_only, documents, [name for name, wanted in given.items() if wanted])
    settings: dict[str, Any] = {"seed": seed, "time_limit": time_limit, "n_threads": threads}
    settings |= {"engine": engine, "device": device}
    with _stoppable() as kept:
        say_device(engine, device)
        if alone is None and memory is not None:
            raise ValueError("--memory goes with moments or --pairs-only: passes over documents hold these in memory")
        if alone is None:
            settings |= {"weighting": weighting or DEFAULT_WEIGHTING}
            learned: Any = documents_in_memory(inputs, text, threads)
        else:
            if alone:
                say(alone)
            settings |= {"start": "auto" if start is None else Mixture.load(start)}
            settings |= {"solver": solver, "sparsity": shrinkage, "memory": memory}
            with within_memory(memory, out):
                learned = _moments(counted, inputs, text, threads, weighting, memory)
        say(in_a_sentence(learned))
        with steps() as bars, timed() as seconds:
            fitted, phases = (
                (fit_mixture, OF_PAIRS) if alone is not None else (fit_documents, OF_PAIRS + OF_DOCUMENTS)
            )
            solution = fitted(learned, topics, callback=fitting(bars, phases), **settings)
            took = seconds()
        if not is_leader():  # one of several processes with the same result
            return
        _, late = completed(lambda: with_sources(solution.mixture, learned).save(out))
        kept.append(out)
        deferred_ctrl_c.check()
        _show(solution, out, took, as_json)
        if not as_json:
            say(_next_step(out, inputs if alone is None else [], text))
    if late or solution.stop is Stop.INTERRUPTED:
        raise typer.Exit(130)


def _check_output(out: Path, force: bool) -> None:
    """Refuse to replace what is there. Other processes may begin when the first one has written already."""
    if is_leader():
        check_model_output(out, force)


def _check_sharing(engine: str, inputs: list[str]) -> None:
    """Refuse what several processes cannot do together."""
    if engine not in WITH_DEVICES:
        raise ValueError(
            f"{process_count()} processes were started, as by torchrun, but only --engine torch shares a fit among "
            "several"
        )
    if STDIN in inputs:
        raise ValueError(
            "standard input reaches only one of several processes: give a file that all of them can read"
        )


def _pairs_alone(counted: bool, pairs_only: bool, documents: bool, given: list[str]) -> str | None:
    """None if documents are used, too; otherwise what to say about their not being used, which may be nothing.

    counted : whether the inputs are moments; given : the options in use that go with word pairs only
    """
    if documents and pairs_only:
        raise ValueError("--documents and --pairs-only contradict each other: leave out one of them")
    if documents and counted:
        raise ValueError("--documents needs the text: moments do not keep documents")
    if documents and given:
        raise ValueError(f"--documents does not go with {' and '.join(given)}")
    if counted:
        return (
            f"Moments do not keep documents, so {PAIRS_ALONE}. "
            "A fit from the text itself takes longer and finds better topics in real text."
        )
    if given and not pairs_only:
        verb = "go" if len(given) > 1 else "goes"
        return f"{' and '.join(given)} {verb} with word pairs only, so {PAIRS_ALONE}."
    return "" if pairs_only else None


def _show(solution: Solution, out: Path, took: float, as_json: bool) -> None:
    if as_json:
        score = solution.log_likelihoods[-1]
        print_json(
            {"model": str(out), "topics": topic_facts(solution.mixture), "log_likelihood": score}
            | {"converged": solution.converged, "reason": solution.reason, "seconds": round(took, 3)}
        )
    else:
        topic_table(solution.mixture)
        hint_at_dominating_words(solution.mixture)
    early = f" ({solution.reason})" if solution.stop in (Stop.TIME_LIMIT, Stop.INTERRUPTED) else ""
    say(f"Fitted in {took:.1f} s{early}. Wrote {out}.")


def _next_step(out: Path, documents: list[str], text: TextOptions) -> str:
    """The command that shows what was found, with the options that read the same documents."""
    command = ["fdmix", "report", str(out)]
    if documents and STDIN not in documents:
        command += ["--documents", *documents]
        command += [] if text.layout.column is None else ["--column", text.layout.column]
        command += [] if text.layout.split is None else ["--split", text.layout.split]
    return f"To look at them in a browser: {shlex.join([*command, '-o', 'report.html'])}"


@contextmanager
def _stoppable() -> Iterator[list[Path]]:
    """Ends with a sentence when Ctrl-C is pressed; what was written by then goes into the list."""
    written: list[Path] = []
    try:
        with deferred_ctrl_c:
            yield written
    except KeyboardInterrupt:
        say(f"Stopped. Wrote {written[0]}." if written else "Stopped before there were topics to keep.")
        raise typer.Exit(130) from None


def documents_in_memory(inputs: list[str], text: TextOptions, threads: int | None) -> Corpus:
    """All documents in memory; what cannot fit is refused before it is read."""
    files = files_of(inputs, text.layout)
    refuse_repeated_paths(files)
    needed = BYTES_A_BYTE * (files.size or 0)
    if needed > available_bytes():
        raise MemoryError(
            f"the documents would need about {in_words(needed)} of memory but {in_words(available_bytes())} are "
            "free: use --pairs-only, which does not hold them, or fewer files"
        )
    if needed > LARGE:
        say(f"The documents are held in memory, about {in_words(needed)} (--pairs-only needs less).")
    with steps() as bars:
        corpus = read_corpus(files, preset=text.cleaning, n_threads=threads, report=bars.report)
    if not corpus.n_documents:
        few = text.cleaning.min_tokens
        left_out = f", or all have fewer than {few} tokens (--min-tokens)" if few > 1 else ""
        raise ValueError(f"there is no document in {files.paths[0]}: it is empty{left_out}")
    if not corpus.n_words:
        column = text.layout.column
        first = "" if column is None else f"does the column {column!r} hold text? If so, "
        raise ValueError(
            f"no word is left after cleaning: {first}lower --min-count, or see what the other options leave out"
        )
    return corpus


def _moments(
    counted: list[Path],
    inputs: list[str],
    text: TextOptions,
    threads: int | None,
    weighting: str | None,
    memory: str | None,
) -> Moments:
    if counted:
        if weighting is not None:
            raise ValueError("the inputs are moments, already counted: --weighting does not apply to them")
        if text.given or text.layout.column:
            raise ValueError("the inputs are moments, already counted: options of text do not apply to them")
        return added(counted)
    with tempfile.TemporaryDirectory(prefix="fdmix-") as folder:
        files = files_of(inputs, text.layout)
        refuse_repeated_paths(files)
        limit = None if memory is None else bytes_in(memory)
        job = CountInProgress(files, text.cleaning, Path(folder) / "moments", weighting=weighting, memory=limit)
        return counted_files(job, threads, "Nothing was written; `fdmix count` can be stopped and resumed.")
