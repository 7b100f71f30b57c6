"""compare: fdmix and other topic models on the same documents, in one table."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from fdmix.cli.console import out as console
from fdmix.cli.console import print_json, say, show, steps
from fdmix.cli.inputs import check_place, moments_files, refuse_repeated_paths, require_local
from fdmix.cli.options import AsJson, Inputs, TextOptions, Threads, with_text_options
from fdmix.cli.tables import plain_table
from fdmix.compare import METHODS, Comparison, Documents, Settings
from fdmix.compare.figures import draw_figures
from fdmix.compare.scores import SCORES
from fdmix.compare.tables import Summary, best, cell, failures, shown_scores, summaries, write_tables
from fdmix.text.files import STDIN
from fdmix.text.reading import read_corpus
from fdmix.text.sequences import read_sequences
from fdmix.text.sources import Files, files_of

DEFAULT = "fdm,fdm-pairs,tomotopy,sklearn-lda,nmf"


@with_text_options
def compare(
    inputs: Inputs,
    text: TextOptions,
    methods: Annotated[
        str, typer.Option("--methods", "-m", metavar="NAMES", help="Methods, separated by commas.")
    ] = DEFAULT,
    topics: Annotated[
        str, typer.Option("--topics", "-t", metavar="NUMBERS", help="Numbers of topics, separated by commas.")
    ] = "20,50",
    seeds: Annotated[
        int, typer.Option(min=1, help="Runs of each method, each with another seed and other held-out documents.")
    ] = 3,
    labels: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of labels that people gave: agreement and accuracy."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder for tables, figures and finished runs; resumes there."
        ),
    ] = None,
    held_out: Annotated[float, typer.Option(metavar="SHARE", help="Share of documents that are held out.")] = 0.2,
    words: Annotated[int, typer.Option("--words", "-n", min=2, help="Top words of a topic that are scored.")] = 10,
    sweeps: Annotated[int, typer.Option(min=1, help="Sweeps of tomotopy and MALLET.")] = 1_000,
    mallet: Annotated[Path | None, typer.Option(help="MALLET's command (bin/mallet).")] = None,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop a run that takes longer, and go on.")
    ] = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Compare topic models on the same documents: scores, time and memory.

    Every run is a process of its own. A method that fails, or whose package is
    not installed, gets a line that says so, and the others go on. Ctrl-C keeps
    the finished runs; the same command with the same -o resumes there. Without
    -o, the table is shown and nothing is kept.

    Methods: fdm (as fdmix fit), fdm-pairs (word pairs alone), fdm-noise (passes
    over documents from a random start); tomotopy or lda (Gibbs sampling, priors
    optimised), tomotopy-fixed (alpha 0.1), tomotopy-averaged (over ten states),
    mallet, gensim and sklearn-lda (LDA, too); nmf (scikit-learn, KL loss);
    bertopic, keynmf and fastopic (sentence embeddings; these need turftopic or
    bertopic, and PyTorch).

    Scores: completion of held-out documents with the best symmetric prior and
    with the method's own, hold-out likelihood, coherence (NPMI, gensim's c_v and
    c_npmi), diversity, IRBO; with --labels also NMI, AMI, purity, FMI and the
    accuracy of a classifier. docs/how-to/comparison.md explains them.

    Examples:

      fdmix compare news.csv --column text --labels section -o results

      fdmix compare news.csv --methods fdm,lda,nmf --topics 20,50,100 --seeds 5

      fdmix compare papers/ --preset papers --methods fdm,bertopic,keynmf
    """
    settings = Settings(
        tuple(_listed(methods)), tuple(_numbers(topics)), seeds, held_out, words, sweeps,
        None if mallet is None else _program(mallet), threads, time_limit,
    )  # fmt: skip
    if out is not None:
        _check_folder(out)
    documents = _documents(inputs, text, labels, settings, threads)
    comparison = Comparison(documents, settings, out)
    stopped = _run(comparison)
    rows = comparison.known_rows()
    found = summaries(rows)
    if out is not None and rows:
        write_tables(out, rows)
        _draw(out, found)
    if as_json:
        print_json([{name: value for name, value in row.items() if name != "top_words"} for row in rows])
    else:
        _print(found)
    if out is not None:
        say(f"Wrote {out}: table.md, table.tex, table.csv (means), runs.csv (all runs), runs/ (with top words).")
    if stopped:
        raise typer.Exit(130)
    if all("failed" in row for row in comparison.rows):
        raise typer.Exit(1)


def _listed(given: str) -> list[str]:
    return [name.strip() for name in given.split(",") if name.strip()]


def _numbers(given: str) -> list[int]:
    try:
        return [int(number) for number in _listed(given)]
    except ValueError:
        raise ValueError(f"--topics is a list of whole numbers such as 20,50, not {given!r}") from None


def _program(mallet: Path) -> str:
    found = shutil.which(mallet)
    if found is None:
        raise FileNotFoundError(f"there is no MALLET at {mallet}: give the path of its bin/mallet")
    return str(Path(found).absolute())


def _check_folder(folder: Path) -> None:
    """Refuse, before any work, a folder that cannot be written or that holds something else."""
    require_local(folder)
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file: give a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "comparison.json").is_file():
        raise FileExistsError(f"{folder} holds other files and no comparison: give another folder")
    check_place(folder / "comparison.json" if folder.is_dir() else folder)


def _documents(
    inputs: list[str], text: TextOptions, labels: str | None, settings: Settings, threads: int | None
) -> Documents:
    """Read the text: as counts, as words in their order and, if a method needs it, as it is."""
    if moments_files(inputs):
        raise ValueError("moments do not keep documents, which a comparison needs: give the text")
    layout = replace(text.layout, kept=(("label", labels),) if labels else ())
    files = files_of(inputs, layout)
    if STDIN in files.paths:
        raise ValueError("a comparison reads the text more than once: give a file, not standard input")
    refuse_repeated_paths(files)
    with steps() as bars:
        corpus = read_corpus(files, preset=text.cleaning, n_threads=threads, report=bars.report)
        sequences = read_sequences(files, corpus, n_threads=threads)
    given = (corpus.documents or {})["label"].tolist() if labels else None
    if labels and given is not None and all(label in (None, "") for label in given):
        raise ValueError(f"no document has a label: column {labels!r} is empty")
    texts = None
    if any(METHODS[name].needs_texts for name in settings.methods):
        texts = _texts(files, (corpus.documents or {})["document"])
    say(f"{corpus!r}")
    return Documents.of(corpus, sequences, texts, given)


def _texts(files: Files, places: Any) -> list[str]:
    """The raw texts of the documents at these places."""
    everything = [document for batch in files.batches() for document in batch.texts()]
    return [everything[place] for place in places.tolist()]


def _run(comparison: Comparison) -> bool:
    """Run what is missing; whether Ctrl-C stopped it."""
    begun: set[int] = set()

    def report(number: int, of: int, run: dict[str, Any], row: dict[str, Any] | None) -> None:
        name = f"{number + 1}/{of} {run['method']}, {run['topics']} topics, seed {run['seed']}"
        if row is None:
            begun.add(number)
            bars.report(name, 0, None)
        elif number in begun:
            bars.report(name, 1, 1)
            say(f"{name}: {_remark(row)}")
        else:
            say(f"{name}: kept from before")

    with steps() as bars:
        try:
            comparison.run(report)
        except KeyboardInterrupt:
            say(f"Stopped after {len(comparison.rows)} runs" + (", which are kept." if comparison.folder else "."))
            return True
    return False


def _remark(row: dict[str, Any]) -> str:
    if "failed" in row:
        return str(row["failed"])
    parts = [f"{row['seconds']:.1f} s"]
    parts += [f"{SCORES[name].title} {row[name]:.3f}" for name in ("completion", "npmi") if name in row]
    return ", ".join(parts)


def _draw(folder: Path, found: Sequence[Summary]) -> None:
    try:
        draw_figures(folder, found)
    except ImportError as missing:
        say(f"No figures were drawn: {missing}")


def _print(found: Sequence[Summary]) -> None:
    """Tables for each number of topics: a row for each score, as many methods beside each other as fit."""
    for topics in dict.fromkeys(one.topics for one in found):
        group = [one for one in found if one.topics == topics and one.means]
        names = shown_scores(group)
        widths = [2 + max(len(text) for text in [one.method, *(cell(one, name) for name in names)]) for one in group]
        room = console.width - 2 - max([len(SCORES[name].title) for name in names], default=0)
        for part in _fitting(group, widths, room):
            table = plain_table()
            table.add_column(f"{topics} topics", no_wrap=True)
            for one in part:
                table.add_column(one.method, justify="right", no_wrap=True)
            for name in names:
                winners = best(group, name, topics)
                table.add_row(
                    SCORES[name].title,
                    *(Text(cell(one, name), "bold" if one.method in winners else "") for one in part),
                )
            show(table)
            show("")
    for note in failures(found):
        say(note)


def _fitting(group: list[Summary], widths: list[int], room: int) -> list[list[Summary]]:
    """The methods in parts that are no wider than the room, at least one in each."""
    parts: list[list[Summary]] = []
    left = 0
    for one, width in zip(group, widths, strict=True):
        if not parts or width > left:
            parts.append([])
            left = room
        parts[-1].append(one)
        left -= width
    return parts
