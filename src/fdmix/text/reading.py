"""Read text: into a `Corpus`, or straight into `Moments` without holding the corpus."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.forms import FormCounts, FormsOfDocuments
from fdmix.corpus.preparation import Cleaning
from fdmix.moments.ledger import SourceLog
from fdmix.moments.moments import Moments
from fdmix.runtime.threads import streamed
from fdmix.text.cleaning import cleaning_of
from fdmix.text.files import Layout
from fdmix.text.notices import notice, watched
from fdmix.text.recipe import Recipe, chosen_recipe, stacked
from fdmix.text.sources import source_of
from fdmix.text.token_store import Spool, TokenBatch, token_batches

ENTRIES_AT_A_TIME = 2_000_000
LONGEST_NAME = 64  # of strings in a NumPy array of strings, which gives all of them the room of the longest
CHOICES = ("min_count", "max_words", "max_share")  # of the vocabulary
Report = Callable[[str, int, int | None], Any]  # of a step: its name, how far, of how much


def read_corpus(
    source: Any,
    *,
    column: str | int | None = None,
    id: str | None = None,
    date: str | None = None,
    label: str | None = None,
    split: str | None = None,
    preset: str | Cleaning | None = None,
    like: Any = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    n_threads: int | None = None,
    report: Report | None = None,
    **steps: Any,
) -> Corpus:
    """Read and clean text.

    Parameters
    ----------
    source : strings, a file, folder or glob (.txt, .csv, .tsv, .jsonl, .parquet, .xlsx, also .gz, .bz2, .xz, .zst;
        "-" is standard input), a list of paths, or a pandas, polars or Arrow table
    column : of a table, that holds the text; needed if there are several and none is called "text"
    id, date, label : columns that travel along, as `corpus.documents["id"]` and so on
    split : "lines" (default for a .txt file), "paragraphs" or "files" (default for a folder of text files)
    preset : "papers" and "tweets" are the paper's recipes, "plain" only folds case; or a Cleaning
    like : a Corpus, Moments or Mixture: clean alike, and keep its words (all words, if its vocabulary is open)
    encoding : of files, default UTF-8
    delimiter : between the columns of CSV files, "tab" for tabs; default: comma, semicolon, tab or bar, as it seems
    header : False if the first row of a CSV file or spreadsheet is data: then columns are called 1, 2, ...
    report : called as `report("reading", done, of)` while it goes on
    steps : of `Cleaning`, to change the preset's: `stem="english", min_count=10, stop_words=None`

    >>> corpus = read_corpus(["The cat sat on the mat.", "A cat and a dog."], stop_words="english")
    >>> corpus.vocabulary
    ('cat', 'dog', 'mat', 'sat')
    """
    kept = tuple(
        (name, wanted) for name, wanted in (("id", id), ("date", date), ("label", label)) if wanted is not None
    )
    given = source_of(
        source, Layout(None if column is None else str(column), kept, split, encoding, delimiter, header)
    )
    cleaning, recipe = treatment(like, preset, steps)
    if recipe is not None:
        return _corpus(token_batches(given, cleaning, n_threads, report), recipe)
    spool = Spool.in_memory(cleaning)
    spool.fill(given, n_threads, report)
    return _corpus(spool, chosen_recipe(spool))


def read_moments(
    source: Any,
    *,
    column: str | int | None = None,
    split: str | None = None,
    preset: str | Cleaning | None = None,
    like: Any = None,
    folds: int = 0,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    n_threads: int | None = None,
    report: Report | None = None,
    **steps: Any,
) -> Moments:
    """Like `Moments.of(read_corpus(source, ...), folds=folds)`, without ever holding text or counts as a whole.

    The text is read once; its tokens wait as numbers in a temporary file until the vocabulary is known.
    """
    given = source_of(source, Layout(None if column is None else str(column), (), split, encoding, delimiter, header))
    cleaning, recipe = treatment(like, preset, steps)
    if recipe is not None:
        log = SourceLog()
        batches = token_batches(given, cleaning, n_threads, report, log=log)
        return counted(batches, recipe, folds, n_threads).recorded(log)
    with TemporaryDirectory(prefix="fdmix-") as folder:
        spool = Spool.in_file(cleaning, Path(folder))
        spool.fill(given, n_threads, report)
        return counted(spool, chosen_recipe(spool), folds, n_threads, report).recorded(spool.log)


def counted(
    batches: Any, recipe: Recipe, folds: int = 0, n_threads: int | None = None, report: Report | None = None
) -> Moments:
    """The moments of all batches."""
    chunks = (corpus for _, corpus in corpora(batches, recipe, report))
    return Moments.of(chain([recipe.corpus([])], chunks), folds=folds, n_threads=n_threads)


def corpora(
    batches: Any, recipe: Recipe, report: Report | None = None, done: int = 0
) -> Iterator[tuple[int, Corpus]]:
    """Chunks of the corpus after `done` batches, each with the number of batches that are in it or before it."""
    waiting: list[Any] = []
    entries, forms = 0, np.empty(0, np.int64)
    of = None
    workers: int | None = 1  # while new tokens appear, one thread learns what they are
    if isinstance(batches, Spool):
        of, workers = len(batches), None
        recipe.learn(batches.lexicons)
        notice(batches.lexicons)
        batches = batches.after(done)
    else:
        batches = watched(batches)

    def work(batch: TokenBatch) -> tuple[Any, Any, Any]:
        counts, keep = recipe.counts(batch)
        return counts, keep, recipe.form_totals(batch, keep)

    def chunk() -> Corpus:
        return recipe.corpus(waiting, forms=FormCounts(recipe.words.forms, forms))

    for counts, keep, written in streamed(work, batches, workers):
        done += 1
        waiting.append(counts[keep] if not keep.all() else counts)
        forms = _added(forms, written)
        entries += counts.nnz + counts.shape[0]
        if report is not None:
            report("counting", done, of)
        if entries >= ENTRIES_AT_A_TIME:
            yield done, chunk()
            waiting, entries, forms = [], 0, np.empty(0, np.int64)
    if waiting:
        yield done, chunk()


def _added(a: Any, b: Any) -> Any:
    """a + b, where the shorter one goes on with zeros."""
    longer, shorter = (a, b) if a.size >= b.size else (b, a)
    total = longer.copy()
    total[: shorter.size] += shorter
    return total


def treatment(like: Any, preset: Any = None, steps: dict[str, Any] | None = None) -> tuple[Cleaning, Recipe | None]:
    """The cleaning and, where the words are given by `like`, the recipe: new text then has no say in them.

    Moments and corpora with an open vocabulary give their cleaning only.
    """
    if like is None:
        return cleaning_of(preset, steps or {}), None
    if isinstance(like, Moments | Corpus) and like.preparation is not None:
        own = like.preparation.cleaning
        if own.open_vocabulary:
            return cleaning_of(preset or own, steps or {}), None
    recipe = recipe_of(like, preset, steps)
    return recipe.cleaning, recipe


def recipe_of(like: Any, preset: Any = None, steps: dict[str, Any] | None = None) -> Recipe:
    """The words and cleaning of a Corpus, Moments or Mixture."""
    preparation, vocabulary = getattr(like, "preparation", None), getattr(like, "vocabulary", None)
    if chosen := [name for name in CHOICES if name in (steps or {})]:
        raise ValueError(f"with like= the words are given: {', '.join(chosen)} cannot choose them")
    if vocabulary is None:
        raise ValueError(f"this {type(like).__name__} has no vocabulary, so new text cannot be matched to it")
    if preparation is None:
        if preset is None and not steps:
            raise ValueError(
                f"this {type(like).__name__} does not know how its text was cleaned: say so, by preset= or by steps"
            )
        return Recipe(vocabulary, cleaning_of(preset, steps or {}))
    return Recipe(vocabulary, cleaning_of(preset or preparation.cleaning, steps or {}))


def _corpus(batches: Any, recipe: Recipe) -> Corpus:
    """All documents at once, with what travels along."""
    counts: list[Any] = []
    forms: list[Any] = []
    kept: dict[str, list[Any]] = {}
    places: list[Any] = []
    position = 0
    for batch in watched(batches):
        rows, keep = recipe.counts(batch)
        counts.append(rows[keep] if not keep.all() else rows)
        if (written := recipe.forms(batch)) is not None:
            forms.append(written[keep] if not keep.all() else written)
        places.append(position + np.flatnonzero(keep))
        position += rows.shape[0]
        for name, values in batch.kept.items():
            kept.setdefault(name, []).extend(v for v, wanted in zip(values, keep.tolist(), strict=True) if wanted)
    documents: dict[str, Any] = {"document": np.concatenate([np.empty(0, np.int64), *places])}
    documents |= {name: as_column(values) for name, values in kept.items()}
    names = recipe.words.forms
    written = FormsOfDocuments(names, stacked(forms, len(names))) if recipe.cleaning.stem else None
    return recipe.corpus(counts, documents, written)


def as_column(values: list[Any]) -> Any:
    """A NumPy array of the values; of objects if they are of several kinds."""
    kinds = {type(value) for value in values}
    if kinds == {str} and max(len(value) for value in values) < LONGEST_NAME:
        return np.array(values)
    if len(kinds) == 1 and kinds <= {int, float, bool, datetime.date, datetime.datetime}:
        with suppress(OverflowError):
            column = np.array(values, "datetime64" if kinds & {datetime.date, datetime.datetime} else None)
            if column.dtype != object:
                return column
    column = np.empty(len(values), object)
    column[:] = values
    return column
