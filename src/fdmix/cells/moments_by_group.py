"""The moments of each group of documents, such as a month or a party, kept apart exactly."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import product
from operator import add
from typing import Any

import numpy as np

from fdmix.cells import file
from fdmix.cells.calendar import BINS, COARSER, Bin, bin_of_label, first_day, last_day
from fdmix.cells.grouping import MISSING, Axis, Key, axes_of, keys_of, shown_key
from fdmix.corpus.corpus import Corpus
from fdmix.corpus.preparation import Preparation, joined
from fdmix.corpus.vocabulary import Vocabulary, united
from fdmix.moments.ledger import Ledger
from fdmix.moments.moments import Moments
from fdmix.moments.weighting import DEFAULT_WEIGHTING
from fdmix.storage.arrays import FileError
from fdmix.storage.facts import reason

DEFAULT_FOLDS = 10  # of each cell: error bars come from them


@dataclass(frozen=True, eq=False, repr=False)
class MomentsByGroup:
    """Moments of cells, such as (month, party): they add up to the whole, and any window or group is a sum.

    Attributes
    ----------
    axes : what the documents are grouped by
    cells : the moments of each cell that has a document, by its labels; None labels a missing value
    preparation : how text became the words, if known
    ledger : the sources that were read

    >>> dates = ["2021-01-05", "2021-03-01", "2021-03-09"]
    >>> corpus = Corpus([[2, 1], [1, 1], [1, 3]], ["ant", "bee"], {"date": dates})
    >>> cells = MomentsByGroup.of(corpus, "month(date)")
    >>> cells
    MomentsByGroup(month(date): 2 cells, 3 documents, 2 words)
    >>> cells.documents()
    {('2021-01',): 1, ('2021-02',): 0, ('2021-03',): 2}
    >>> cells.select(date=("2021-02", "2021-03")).whole == Moments.of(corpus[1:], folds=10)
    True
    """

    axes: tuple[Axis, ...]
    cells: Mapping[Key, Moments]
    preparation: Preparation | None = None
    ledger: Ledger = field(default_factory=Ledger)

    def __post_init__(self) -> None:
        if not self.cells:
            raise ValueError("there is no cell: no document was counted")
        first = next(iter(self.cells.values()))
        for key, cell in self.cells.items():
            if len(key) != len(self.axes):
                raise ValueError(f"the cell {shown_key(key)} does not have a label for each axis")
            alike = cell.vocabulary == first.vocabulary and cell.n_words == first.n_words
            if not alike or cell.weighting != first.weighting or len(cell.folds) != len(first.folds):
                raise ValueError("all cells must have the same words, weighting and number of folds")
        order = {key: place for place, key in enumerate(_grid(self.axes, self.cells, gaps=False))}
        object.__setattr__(self, "cells", dict(sorted(self.cells.items(), key=lambda item: order[item[0]])))

    @classmethod
    def of(
        cls,
        counts: Any,
        by: str | Iterable[str | Axis],
        columns: Mapping[str, Any] | None = None,
        *,
        folds: int = DEFAULT_FOLDS,
        weighting: str = DEFAULT_WEIGHTING,
        n_threads: int | None = None,
    ) -> MomentsByGroup:
        """Count the word pairs of each group of documents.

        Parameters
        ----------
        counts : a Corpus, or a table of whole counts
        by : columns and calendar bins, such as "month(date),party"; bins are day, week, month, quarter and year.
            A document without a value belongs to a cell of its own, labelled None. A date that cannot be read is
            refused with its row
        columns : values for each document, by the name of the column; default: those of the corpus
        folds : buckets of documents that each cell keeps apart, for error bars (0: none)
        weighting, n_threads : as in `Moments.of`
        """
        corpus = counts if isinstance(counts, Corpus) else Corpus(counts)
        axes = axes_of(by)
        keys = keys_of(axes, (corpus.documents or {}) if columns is None else columns, len(corpus))
        return cls.of_keys(corpus, axes, keys, folds=folds, weighting=weighting, n_threads=n_threads)

    @classmethod
    def of_keys(
        cls, corpus: Corpus, axes: tuple[Axis, ...], keys: list[Key], *, n_threads: int | None = None, **counting: Any
    ) -> MomentsByGroup:
        """Count the word pairs of documents whose cells are known."""
        if not len(corpus):
            raise ValueError("there are no documents to group")
        number = {key: n for n, key in enumerate(dict.fromkeys(keys))}
        codes = np.array([number[key] for key in keys], np.int64)
        order = np.argsort(codes, kind="stable")
        bare = Corpus.trusting(corpus.counts, corpus.vocabulary)
        cells = {}
        for key, rows in zip(number, np.split(order, np.cumsum(np.bincount(codes))[:-1]), strict=True):
            cells[key] = Moments.of(bare[rows], n_threads=n_threads, **counting)
        preparation = corpus.preparation
        return cls(axes, cells, None if preparation is None else preparation.weighted(corpus.lengths >= 2))

    @cached_property
    def whole(self) -> Moments:
        """The moments of all documents: what counting them together gives, to the last bit."""
        total = _total(list(self.cells.values()))
        return replace(total, preparation=self.preparation, ledger=replace(self.ledger, digest=total.ledger.digest))

    @property
    def n_words(self) -> int:
        """Number of words."""
        return self._first.n_words

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The words, or None if they are known by position only."""
        return self._first.vocabulary

    @property
    def n_documents(self) -> int:
        """Number of documents with two or more words."""
        return sum(cell.n_documents for cell in self.cells.values())

    @property
    def n_folds(self) -> int:
        """Number of folds that each cell keeps."""
        return len(self._first.folds)

    @property
    def is_open(self) -> bool:
        """Whether every word of the text was counted."""
        return self.preparation is not None and self.preparation.cleaning.open_vocabulary

    def documents(self) -> dict[Key, int]:
        """The number of documents of each cell in order; bins of the calendar without any are there, too, with 0."""
        grid = _grid(self.axes, self.cells)
        return {key: self.cells[key].n_documents if key in self.cells else 0 for key in grid}

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.cells)

    def __getitem__(self, key: str | Key) -> Moments:
        """The moments of one cell: `cells["2021-03", "D"]`."""
        labels = (key,) if isinstance(key, str) or key is None else tuple(key)
        if labels not in self.cells:
            raise KeyError(f"no document is in the cell {shown_key(labels)}")
        return self.cells[labels].prepared(self.preparation)

    def __repr__(self) -> str:
        axes = ", ".join(map(str, self.axes))
        return f"MomentsByGroup({axes}: {len(self):,} cells, {self.n_documents:,} documents, {self.n_words:,} words)"

    def __eq__(self, other: object) -> bool:
        """Whether axes, cells and all their numbers are the same, to the last bit."""
        if not isinstance(other, MomentsByGroup):
            return NotImplemented
        return self.axes == other.axes and dict(self.cells) == dict(other.cells)

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: MomentsByGroup) -> MomentsByGroup:
        """Both sets of documents together, cell by cell; different vocabularies are united by word."""
        if not isinstance(other, MomentsByGroup):
            return NotImplemented
        if self.axes != other.axes:
            mine, theirs = (", ".join(map(str, each.axes)) for each in (self, other))
            raise ValueError(
                f"one is grouped by {mine} and the other by {theirs}: bring both to the same groups with along()"
            )
        nothing = _nothing_like(self, other)
        keys = dict.fromkeys([*self.cells, *other.cells])
        cells = {key: _total([each.cells[key] for each in (self, other) if key in each.cells]) for key in keys}
        return MomentsByGroup(
            self.axes,
            {key: cell if cell.vocabulary == nothing.vocabulary else cell + nothing for key, cell in cells.items()},
            joined(self.preparation, other.preparation),
            self.ledger.joined(other.ledger),
        )

    def __radd__(self, other: object) -> MomentsByGroup:
        """So that `sum(parts)` works, which begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def select(self, **where: Any) -> MomentsByGroup:
        """Some of the cells: `select(party="D", date=("2021-01", "2021-06"))`.

        where : for a column, a label, a list of labels, None for missing values, or for dates a pair (first, last) of
            bins, both included; None in a pair leaves that end open. A larger bin, such as "2021" for months, stands
            for all of its parts
        """
        columns = [axis.column for axis in self.axes]
        for name in where:
            if name not in columns:
                raise ValueError(f"these cells are not grouped by {name!r}, but by {', '.join(columns)}")
        wanted = {columns.index(name): choice for name, choice in where.items()}
        chosen = {
            key: cell
            for key, cell in self.cells.items()
            if all(_is_chosen(self.axes[place], key[place], choice) for place, choice in wanted.items())
        }
        if not chosen:
            raise ValueError(f"no document is in these cells: {', '.join(f'{k}={v!r}' for k, v in where.items())}")
        return replace(self, cells=chosen, ledger=Ledger() if len(chosen) < len(self) else self.ledger)

    def along(self, by: str | Iterable[str | Axis]) -> MomentsByGroup:
        """The same documents in larger cells, which are sums: `along("year(date)")` of months and parties."""
        axes = axes_of(by)
        sources = []
        for axis in axes:
            finer = [place for place, own in enumerate(self.axes) if own.can_become(axis)]
            if not finer:
                raise ValueError(
                    f"cells by {', '.join(map(str, self.axes))} do not add up to {axis}: count by it instead"
                )
            sources.append(finer[0])
        groups: dict[Key, list[Moments]] = {}
        for key, cell in self.cells.items():
            pairs = zip(sources, axes, strict=True)
            coarse = tuple(self.axes[place].coarsened(key[place], axis) for place, axis in pairs)
            groups.setdefault(coarse, []).append(cell)
        return replace(self, axes=axes, cells={key: _total(cells) for key, cells in groups.items()})

    def without_unused_words(self) -> MomentsByGroup:
        """The same cells over the words that have a token in any of them."""
        counts = np.sum([cell.word_counts for cell in self.cells.values()], axis=0)
        if self.vocabulary is None or counts.all():
            return self
        used = tuple(word for word, n in zip(self.vocabulary, counts, strict=True) if n > 0)
        preparation = None if self.preparation is None else self.preparation.renamed({}, used)
        cells = {key: cell.restrict(used) for key, cell in self.cells.items()}
        return replace(self, cells=cells, preparation=preparation)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, complete or not at all."""
        fields = {"axes": self.axes, "cells": self.cells, "preparation": self.preparation, "ledger": self.ledger}
        file.write(path, fields)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MomentsByGroup:
        """Read a file of `save`: checked in full, then memory-mapped. A damaged file is refused."""
        try:
            return cls(**file.read(path))
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{path} is not a valid file of moments by group: {reason(error)}") from None

    @property
    def _first(self) -> Moments:
        return next(iter(self.cells.values()))


def _grid(axes: tuple[Axis, ...], cells: Iterable[Key], *, gaps: bool = True) -> list[Key]:
    """All cells in order; with `gaps`, also the empty bins of the calendar between the first and the last one."""
    keys = set(cells)
    labels = [axis.in_order(key[place] for key in keys) for place, axis in enumerate(axes)]
    ranks = [{label: rank for rank, label in enumerate(some)} for some in labels]
    if gaps:
        calendars = [label if axis.is_ordered else [None] for axis, label in zip(axes, labels, strict=True)]
        for key in list(keys):
            for bins in product(*calendars):
                keys.add(tuple(_bin_or_own(*each) for each in zip(axes, bins, key, strict=True)))
    return sorted(keys, key=lambda key: [rank[label] for rank, label in zip(ranks, key, strict=True)])


def _bin_or_own(axis: Axis, label: str | None, own: str | None) -> str | None:
    """A bin of the calendar for dates that are known, the cell's own label otherwise."""
    return label if axis.is_ordered and label is not None and own is not None else own


def _is_chosen(axis: Axis, label: str | None, choice: Any) -> bool:
    if isinstance(choice, tuple) and axis.bin is not None and len(choice) == 2:
        return label is not None and _is_within(BINS[axis.bin], label, *choice)
    choices = choice if isinstance(choice, list | tuple | set) else [choice]
    wanted = [None if one is None or one == MISSING else str(one) for one in choices]
    if label in wanted or axis.bin is None or label is None:
        return label in wanted
    return any(_is_part(axis.bin, label, one) for one in wanted if one is not None)


def _is_within(bins: Bin, label: str, first: Any, last: Any) -> bool:
    """Whether a bin of the calendar is in a window; a year as its last end means December."""
    here = bins.number_of_label(label)
    return (first is None or bins.number(first_day(str(first))) <= here) and (
        last is None or here <= bins.number(last_day(str(last)))
    )


def _is_part(kind: str, label: str, larger: str) -> bool:
    """Whether a bin is part of a larger one, such as a month of a year."""
    whole = bin_of_label(larger)
    return whole.name in COARSER[kind] and whole.number_of_label(label) == whole.number_of_label(larger)


def _total(cells: list[Moments]) -> Moments:
    """The sum, pairwise: adding one by one would copy the growing sum for every cell."""
    while len(cells) > 1:
        pairs = [cells[n : n + 2] for n in range(0, len(cells), 2)]
        cells = [reduce(add, pair) for pair in pairs]
    return cells[0]


def _nothing_like(a: MomentsByGroup, b: MomentsByGroup) -> Moments:
    """The moments of no document, over the words of both."""
    first = a._first
    words = None if a.vocabulary is None or b.vocabulary is None else united(a.vocabulary, b.vocabulary)
    n_words = a.n_words if words is None else len(words)
    return Moments.of(
        Corpus(np.zeros((0, n_words), np.int32), words),
        folds=len(first.folds), held_out=first.held_out is not None, weighting=first.weighting,
    )  # fmt: skip
