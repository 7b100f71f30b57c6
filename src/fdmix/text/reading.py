"""Read text into a `Corpus`, or into `Moments` without holding the corpus in memory."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
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
from fdmix.moments.spilling import SpilledSum, checked_memory
from fdmix.moments.weighting import weighting_like
from fdmix.runtime.memory import bytes_in
from fdmix.runtime.threads import streamed
from fdmix.text.files import Layout
from fdmix.text.notices import log_notices, with_notices
from fdmix.text.recipe import Recipe, cleaning_and_recipe, stacked
from fdmix.text.sources import source_of
from fdmix.text.token_store import TokenStore
from fdmix.text.tokenising import Report, TokenBatch, token_batches
from fdmix.text.vocabulary_choice import chosen_recipe

ENTRIES_AT_A_TIME = 2_000_000  # word counts and documents of a chunk, about 16 MB
MAX_STRING_LENGTH = 64  # a NumPy array of strings reserves the length of the longest one for each: use objects beyond


def read_corpus(
    source: Any,
    *,
    column: str | int | None = None,
    id: str | None = None,
    date: str | None = None,
    label: str | None = None,
    columns: Sequence[str] = (),
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
    source : strings; a file, folder or glob (.txt, .html, .csv, .tsv, .jsonl, .parquet, .xlsx, also .gz, .bz2, .xz,
        .zst; "-" is standard input); a list of Path objects; or a pandas, polars or Arrow table
    column : the column of a table that holds the text; by default the one called "text", or the only one with text
    id, date, label : columns to keep, as `corpus.documents["id"]` and so on
    columns : more columns to keep, under their own names
    split : a document is one of "lines" (default for a .txt file), "paragraphs" or "files" (default for web pages
        and a folder of text files)
    preset : "papers" and "tweets" suit such text, "paper-papers" and "paper-tweets" clean it as in the paper on FDM,
        "plain" only folds case; or a Cleaning
    like : a Corpus, Moments or Mixture: clean the text in the same way, and count the same words (all words, if its
        vocabulary is open)
    encoding : the encoding of text files, by default UTF-8
    delimiter : what separates the columns of CSV files, "tab" for tabs; by default detected: comma, semicolon, tab or
        vertical bar
    header : False if the first row of a CSV file or spreadsheet is data; its columns are then called 1, 2, ...
    n_threads : the number of threads, by default one per core
    report : called as `report("reading", done, total)` while the text is read; the total is None if unknown
    steps : fields of `Cleaning` that change the preset: `stem="english", min_count=10, stop_words=None`

    >>> corpus = read_corpus(["The cat sat on the mat.", "A cat and a dog."], stop_words="english")
    >>> corpus.vocabulary
    ('cat', 'dog', 'mat', 'sat')
    """
    named = {"id": id, "date": date, "label": label}
    kept = tuple((name, wanted) for name, wanted in named.items() if wanted is not None)
    kept += tuple((name, name) for name in _more_columns(columns, {name for name, _ in kept}))
    given = source_of(
        source, Layout(None if column is None else str(column), kept, split, encoding, delimiter, header)
    )
    cleaning, recipe = cleaning_and_recipe(like, preset, steps)
    if recipe is not None:
        return corpus_of_batches(token_batches(given, cleaning, n_threads, report), recipe)
    store = TokenStore.in_memory(cleaning)
    store.fill(given, n_threads, report)
    return corpus_of_batches(store, chosen_recipe(store))


def _more_columns(columns: Sequence[str], taken: set[str]) -> tuple[str, ...]:
    """Columns to keep under their own names, if these are free."""
    if isinstance(columns, str):
        raise TypeError(f"columns are a list of names, such as [{columns!r}]")
    for name in columns:
        if name in taken or name == "document":
            raise ValueError(
                f"corpus.documents[{name!r}] is another column already: keep {name!r} as id, date or label"
            )
    return tuple(dict.fromkeys(columns))


def read_moments(
    source: Any,
    *,
    column: str | int | None = None,
    split: str | None = None,
    preset: str | Cleaning | None = None,
    like: Any = None,
    folds: int = 0,
    weighting: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    n_threads: int | None = None,
    memory: float | str | None = None,
    report: Report | None = None,
    **steps: Any,
) -> Moments:
    """The same as `Moments.of(read_corpus(source, ...), folds=folds)`, for texts larger than the memory.

    The text is read once. Its tokens are stored as numbers in a temporary file until the vocabulary is known.

    weighting : of documents, as in `Moments.of`; default: that of `like`, or "tokens"
    memory : the bytes to keep within, about, or a size such as "2GB": pairs beyond that go to temporary files. The
        result is the same; its pairs are then mapped from a file without a name
    """
    limit = None if memory is None else checked_memory(bytes_in(memory) if isinstance(memory, str) else memory)
    counting: dict[str, Any] = {"folds": folds, "weighting": weighting_like(like, weighting), "n_threads": n_threads}
    given = source_of(source, Layout(None if column is None else str(column), (), split, encoding, delimiter, header))
    cleaning, recipe = cleaning_and_recipe(like, preset, steps)
    if recipe is not None:
        log = SourceLog()
        batches = token_batches(given, cleaning, n_threads, report, log=log)
        return moments_of_batches(batches, recipe, memory=limit, **counting).recorded(log)
    with TemporaryDirectory(prefix="fdmix-") as folder:
        store = TokenStore.in_folder(cleaning, Path(folder))
        store.fill(given, n_threads, report)
        total = moments_of_batches(store, chosen_recipe(store), report, limit, **counting).recorded(store.log)
        return total.without_unused_words() if total.is_open else total


def moments_of_batches(
    batches: TokenStore | Iterator[TokenBatch],
    recipe: Recipe,
    report: Report | None = None,
    memory: float | None = None,
    **counting: Any,
) -> Moments:
    """The moments of all batches together, within `memory` bytes if given; `counting` goes to `Moments.of`."""
    chunks = chain([recipe.corpus([])], (corpus for _, corpus in corpus_chunks(batches, recipe, report)))
    if memory is None:
        return Moments.of(chunks, **counting)
    with TemporaryDirectory(prefix="fdmix-", ignore_cleanup_errors=True) as folder:  # Windows keeps mapped files
        spilled = SpilledSum(Path(folder), memory)
        with spilled.limited():
            for corpus in chunks:
                spilled.add(Moments.of(corpus, memory_limit=math.inf, **counting))
            return spilled.total(report)


def corpus_chunks(
    batches: TokenStore | Iterator[TokenBatch], recipe: Recipe, report: Report | None = None, done: int = 0
) -> Iterator[tuple[int, Corpus]]:
    """The documents as corpora of bounded size, each with the number of batches that are counted so far.

    done : the number of batches at the beginning to leave out
    """
    total: int | None = None
    workers: int | None = 1  # while new tokens appear, only one thread may look them up
    if isinstance(batches, TokenStore):
        total, workers = len(batches), None
        recipe.learn(batches.lexicons)
        log_notices(batches.lexicons)
        stream = batches.after(done)
    else:
        stream = with_notices(batches)

    chunk = Chunk(recipe)
    for counts, keep, form_totals in streamed(partial(counted_batch, recipe), stream, workers):
        done += 1
        chunk.add(counts, keep, form_totals)
        if report is not None:
            report("counting", done, total)
        if chunk.n_entries >= ENTRIES_AT_A_TIME:
            yield done, chunk.corpus()
            chunk = Chunk(recipe)
    if chunk.rows:
        yield done, chunk.corpus()


def counted_batch(recipe: Recipe, batch: TokenBatch) -> tuple[Any, Any, Any]:
    """(word counts of all documents, which of them to keep, how often these write words in each form)."""
    counts, keep = recipe.counts(batch)
    has_pair = np.asarray(counts.sum(axis=1)).ravel() >= 2  # others are skipped, and so are their forms
    return counts, keep, recipe.form_totals(batch, keep & has_pair)


class Chunk:
    """The counts of some batches, to be joined into one corpus."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.rows: list[Any] = []
        self.form_totals = np.empty(0, np.int64)
        self.n_entries = 0

    def add(self, counts: Any, keep: Any, form_totals: Any) -> None:
        """Add the documents to keep of a batch."""
        self.rows.append(counts[keep] if not keep.all() else counts)
        self.form_totals = _padded_sum(self.form_totals, form_totals)
        self.n_entries += counts.nnz + counts.shape[0]

    def corpus(self) -> Corpus:
        """The corpus of all batches that were added."""
        return self.recipe.corpus(self.rows, forms=FormCounts(self.recipe.words.forms, self.form_totals))


def _padded_sum(a: Any, b: Any) -> Any:
    """a + b, where zeros fill up the shorter array."""
    longer, shorter = (a, b) if a.size >= b.size else (b, a)
    total = longer.copy()
    total[: shorter.size] += shorter
    return total


def corpus_of_batches(batches: TokenStore | Iterator[TokenBatch], recipe: Recipe) -> Corpus:
    """All documents as one corpus, with the kept columns."""
    counts: list[Any] = []
    forms: list[Any] = []
    kept: dict[str, list[Any]] = {}
    places: list[Any] = []  # positions in the source of the documents that are not too short
    position = 0
    for batch in with_notices(batches):
        rows, keep = recipe.counts(batch)
        counts.append(rows[keep] if not keep.all() else rows)
        if (written := recipe.forms(batch)) is not None:
            forms.append(written[keep] if not keep.all() else written)
        places.append(position + np.flatnonzero(keep))
        position += rows.shape[0]
        for name, values in batch.kept.items():
            kept.setdefault(name, []).extend(v for v, wanted in zip(values, keep.tolist(), strict=True) if wanted)
    documents: dict[str, Any] = {"document": np.concatenate([np.empty(0, np.int64), *places])}
    documents |= {name: _as_array(values) for name, values in kept.items()}
    names = recipe.words.forms
    written = FormsOfDocuments(names, stacked(forms, len(names))) if recipe.cleaning.stem else None
    return recipe.corpus(counts, documents, written)


def _as_array(values: list[Any]) -> Any:
    """The values of a kept column as a NumPy array: of objects if their types differ or strings are long."""
    types = {type(value) for value in values}
    if types == {str} and max(len(value) for value in values) < MAX_STRING_LENGTH:
        return np.array(values)
    if len(types) == 1 and types <= {int, float, bool, datetime.date, datetime.datetime}:
        with suppress(OverflowError):
            column = np.array(values, "datetime64" if types & {datetime.date, datetime.datetime} else None)
            if column.dtype != object:
                return column
    column = np.empty(len(values), object)
    column[:] = values
    return column
