"""Read text into moments by group: each document belongs to a cell by its columns, such as a date and a party."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix.cells.grouping import Axis, axes_of, keys_of
from fdmix.cells.moments_by_group import DEFAULT_FOLDS, MomentsByGroup
from fdmix.corpus.corpus import Corpus
from fdmix.corpus.preparation import Cleaning
from fdmix.moments.ledger import SourceLog
from fdmix.moments.weighting import weighting_like
from fdmix.text.files import Layout
from fdmix.text.reading import corpus_of_batches
from fdmix.text.recipe import cleaning_and_recipe
from fdmix.text.sources import Files, Source, source_of
from fdmix.text.token_store import TokenStore
from fdmix.text.tokenising import Report, token_batches
from fdmix.text.vocabulary_choice import chosen_recipe

KEPT = "group by "  # before the names of columns, so that none is taken for the number or the file of the document


def read_moments_by(
    source: Any,
    by: str | Iterable[str | Axis],
    *,
    layout: Layout | None = None,
    preset: str | Cleaning | None = None,
    like: Any = None,
    folds: int = DEFAULT_FOLDS,
    weighting: str | None = None,
    n_threads: int | None = None,
    report: Report | None = None,
    **steps: Any,
) -> MomentsByGroup:
    """The moments of each group of documents in files or tables.

    The word counts of all documents are in memory while they are counted.

    by : columns and calendar bins, such as "month(date),party", as in `MomentsByGroup.of`
    layout : how the documents lie in files: `Layout(column="text")`
    folds : buckets of documents that each cell keeps apart, for error bars (0: none)
    preset, like, weighting, n_threads, report, steps : as in `read_moments`
    """
    axes = axes_of(by)
    where = layout or Layout()
    where = replace(where, kept=tuple((f"{KEPT}{axis.column}", axis.column) for axis in axes))
    given = _with_layout(source, where)
    cleaning, recipe = cleaning_and_recipe(like, preset, steps)
    log = SourceLog()
    if recipe is not None:
        corpus = corpus_of_batches(token_batches(given, cleaning, n_threads, report, log=log), recipe)
    else:
        store = TokenStore.in_memory(cleaning)
        store.fill(given, n_threads, report)
        corpus, log = corpus_of_batches(store, chosen_recipe(store)), store.log
    columns = {axis.column: (corpus.documents or {})[f"{KEPT}{axis.column}"] for axis in axes}
    keys = keys_of(axes, columns, len(corpus), _place(corpus, log, isinstance(given, Files)))
    cells = MomentsByGroup.of_keys(
        corpus, axes, keys, folds=folds, weighting=weighting_like(like, weighting), n_threads=n_threads
    )
    cells = replace(cells, ledger=log.ledger(None))
    return cells.without_unused_words() if cells.is_open else cells


def _with_layout(source: Any, layout: Layout) -> Source:
    """The source, read with the columns that the documents are grouped by."""
    if isinstance(source, Files):
        return replace(source, layouts=tuple(replace(each, kept=layout.kept) for each in source.layouts))
    return source_of(source, layout)


def _place(corpus: Corpus, log: SourceLog, are_files: bool) -> Callable[[int], str]:
    """The name of a document in an error message: its file and its number there, without the header."""
    documents = (corpus.documents or {})["document"]
    names = list(log.read)
    ends = np.cumsum([n for n, _, _ in log.read.values()])

    def place(position: int) -> str:
        number = int(documents[position])
        which = int(np.searchsorted(ends, number, side="right"))
        before = int(ends[which - 1]) if which else 0
        return f"{names[which]}, row {number - before + 1:,}" if are_files else f"row {number + 1:,}"

    return place
