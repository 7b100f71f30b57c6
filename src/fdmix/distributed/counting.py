"""Count the word pairs of documents on a cluster: the same moments as on one machine, to the last bit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from math import ceil
from typing import Any

from fdmix.cells.grouping import Axis, Key, axes_of
from fdmix.cells.moments_by_group import DEFAULT_FOLDS, MomentsByGroup
from fdmix.corpus.preparation import Cleaning, Preparation
from fdmix.distributed.engines import SPLIT_EVERY, opened
from fdmix.distributed.partial_moments import PartialMoments, row_edges, whole
from fdmix.distributed.partitions import Partitions, Report
from fdmix.distributed.statistics import ClusterText, joined_logs
from fdmix.distributed.tokens import CELL, PartitionTokens, Tokenise
from fdmix.moments.ledger import SourceLog
from fdmix.moments.moments import Moments
from fdmix.moments.weighting import weighting_like
from fdmix.runtime.whole_numbers import whole_number
from fdmix.text.layouts import Layout
from fdmix.text.reading import Chunk, counted_batch, moments_of_batches
from fdmix.text.recipe import Recipe, cleaning_and_recipe
from fdmix.text.sources import Files
from fdmix.text.vocabulary_choice import chosen_words

TOKENS_AT_A_TIME = 20_000_000  # that a task counts, 600,000 tweets: it takes seconds and less than 1 GB


@dataclass(frozen=True)
class Counting:
    """How to count: the options of `count_moments` that a worker needs."""

    layout: Layout
    axes: tuple[Axis, ...]
    folds: int
    weighting: str

    def count(self, documents: Partitions, cleaning: Cleaning, recipe: Recipe | None) -> Moments | MomentsByGroup:
        """The moments of all partitions; the words are chosen from the documents unless there is a recipe."""
        tokenise = Tokenise(cleaning, self.layout, self.axes)
        if recipe is not None:
            return self._total(documents, recipe, tokenise)
        with documents.kept(tokenise) as tokens:
            text = ClusterText(tokens, cleaning)
            text.log_notices()
            recipe = chosen_words(text)
            return self._total(tokens.together(ceil(text.n_tokens / TOKENS_AT_A_TIME)), recipe, None)

    def _total(self, documents: Partitions, recipe: Recipe, tokenise: Tokenise | None) -> Moments | MomentsByGroup:
        edges = row_edges(recipe.n_words)
        work = CountPartition(
            recipe.vocabulary, recipe.cleaning, self.axes, self.folds, self.weighting, tuple(edges), tokenise
        )
        blocks = documents.summed(work, "counting", len(edges) - 1) or work(None)
        return self._named(whole(blocks), recipe)

    def _named(self, total: PartialMoments, recipe: Recipe) -> Moments | MomentsByGroup:
        """The result with its words, its preparation and its sources."""
        preparation = Preparation(recipe.cleaning, total.forms)
        cells = {key: cell.named(recipe.vocabulary) for key, cell in total.cells.items()}
        if not self.axes:
            moments = cells[()].prepared(preparation).recorded(total.log)
            return moments.without_unused_words() if moments.is_open else moments
        if not cells:
            raise ValueError("there are no documents to group")
        grouped = MomentsByGroup(self.axes, cells, preparation, total.log.ledger(None))
        return grouped.without_unused_words() if grouped.is_open else grouped


@dataclass(frozen=True)
class CountPartition:
    """Count the word pairs of one partition, or of several that are read already, over a known vocabulary.

    edges : of the blocks of rows that the result is cut into
    tokenise : how to read the documents, or None if the partition is read already
    """

    vocabulary: tuple[str, ...]
    cleaning: Cleaning
    axes: tuple[Axis, ...]
    folds: int
    weighting: str
    edges: tuple[int, ...]
    tokenise: Tokenise | None

    def __call__(self, content: Any) -> list[PartialMoments]:
        """The partial moments of the partition, a block of rows each."""
        recipe = Recipe(self.vocabulary, self.cleaning)
        read = self._tokens(content)
        log = reduce(joined_logs, (tokens.log for tokens in read), SourceLog())
        if self.axes:
            return self._by_cell(read, recipe, log).blocks(self.edges)
        batches = (batch for tokens in read for batch in tokens.batches)
        counted = moments_of_batches(batches, recipe, folds=self.folds, weighting=self.weighting, n_threads=1)
        forms = counted.preparation.forms if counted.preparation else {}
        return PartialMoments({(): counted.named(None).prepared(None)}, forms, log).blocks(self.edges)

    def _tokens(self, content: Any) -> list[PartitionTokens]:
        if isinstance(content, list) and content and all(isinstance(each, PartitionTokens) for each in content):
            return content
        return [(self.tokenise or Tokenise(self.cleaning, Layout()))(content)]

    def _by_cell(self, read: list[PartitionTokens], recipe: Recipe, log: SourceLog) -> PartialMoments:
        chunk, keys = Chunk(recipe), list[Key]()
        for tokens in read:
            for batch in tokens.batches:
                counts, keep, form_totals = counted_batch(recipe, batch)
                chunk.add(counts, keep, form_totals)
                keys += [tokens.cells[cell] for cell in batch.kept[CELL][keep].tolist()]
        if not keys:
            return PartialMoments({}, {}, log)
        corpus = chunk.corpus()
        grouped = MomentsByGroup.of_keys(
            corpus, self.axes, keys, folds=self.folds, weighting=self.weighting, n_threads=1
        )
        cells = {key: cell.named(None) for key, cell in grouped.cells.items()}
        return PartialMoments(cells, corpus.preparation.forms if corpus.preparation else {}, log)


def count_moments(
    documents: Any,
    *,
    column: str | None = None,
    by: str | Iterable[str | Axis] | None = None,
    preset: str | Cleaning | None = None,
    like: Any = None,
    folds: int | None = None,
    weighting: str | None = None,
    engine: str | None = None,
    cluster: str | None = None,
    split_every: int = SPLIT_EVERY,
    report: Report | None = None,
    **steps: Any,
) -> Moments | MomentsByGroup:
    """The moments of documents on a cluster: those of `read_moments`, to the last bit, whatever the partitions.

    Text is read and cut into tokens once. The tokens stay on the workers while the words are chosen; then each
    worker counts its partitions, several at a time, and the partial moments are added up in a tree, in blocks of rows
    of words.

    documents : a Dask bag (of strings or of records), dataframe, or list of delayed partitions (each a list of
        strings, a pandas or an Arrow table); or a Spark DataFrame. With `engine`: files and folders, which all
        workers can read under the same name
    column : the column of the text, in tables and records; "text" by default, and for files as in `read_moments`
    by : columns and calendar bins, such as "month(date),party": the result is a `MomentsByGroup`
    preset, like, steps : the cleaning, as in `read_corpus`
    folds, weighting : as in `Moments.of`; with `by`, 10 folds are the default
    engine, cluster : for files: "dask" or "spark", and the address of its scheduler or master (default: processes of
        this machine)
    split_every : how many partial results one task adds up
    report : called as `report("counting", done, total)` with numbers of tasks
    """
    axes = () if by is None else axes_of(by)
    n_folds = (DEFAULT_FOLDS if axes else 0) if folds is None else whole_number("folds", folds)
    cleaning, recipe = cleaning_and_recipe(like, preset, steps)
    layout = documents.layouts[0] if isinstance(documents, Files) else Layout(column)
    layout = replace(layout, kept=tuple((axis.column, axis.column) for axis in axes))
    counting = Counting(layout, axes, n_folds, weighting_like(like, weighting))
    where: dict[str, Any] = {"engine": engine, "cluster": cluster, "split_every": split_every, "report": report}
    with opened(documents, layout, **where) as partitions:
        return counting.count(partitions, cleaning, recipe)
