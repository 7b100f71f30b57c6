"""The file of moments by group: the arrays of every cell and of its parts, the words once, and the keys of the cells.

A part holds few of the words, so its arrays are kept for those only: `used` (their positions), `first` (where the
rows of these words begin, and the end), `word_counts`, `document_frequencies`, and `columns` and `sums` of the pairs.

Parts are numbered through: the first cell, its folds or its part held out, the second cell, and so on. Facts: `axes`
(column and bin), `cells` (the labels of each cell, null where a value is missing), `parts` (the number of parts of a
cell), `documents` and `digests` (of each part), `held_out`, `vocabulary`, `weighting`, `preparation`, `ledger`.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from fdmix.cells.grouping import Axis, Key, axes_of
from fdmix.corpus.preparation import Preparation
from fdmix.corpus.vocabulary import as_vocabulary
from fdmix.moments import parts
from fdmix.moments.file import document_numbers
from fdmix.moments.ledger import Digest, Ledger
from fdmix.moments.moments import Moments
from fdmix.moments.pair_sums import PairSums
from fdmix.moments.weighting import known_weighting
from fdmix.storage.arrays import read_arrays, write_arrays
from fdmix.storage.facts import stated_number, string, strings

KIND, FORMAT = "moments by group", 1
PART_ARRAYS = ("used", "first", "columns", "sums", "word_counts", "document_frequencies")


def write(path: str | os.PathLike[str], fields: dict[str, Any]) -> None:
    """Write the fields of `MomentsByGroup`, complete or not at all."""
    cells: dict[Key, Moments] = fields["cells"]
    per_cell = [(cell, *parts.of(cell)) for cell in cells.values()]
    everything = [part for some in per_cell for part in some]
    first = everything[0]
    facts = {
        "axes": [str(axis) for axis in fields["axes"]],
        "cells": [list(key) for key in cells],
        "parts": len(per_cell[0]),
        "held_out": first.held_out is not None,
        "documents": [[part.n_documents, part.n_skipped] for part in everything],
        "digests": [None if part.ledger.digest is None else str(part.ledger.digest) for part in everything],
        "words": first.n_words,
        "vocabulary": first.vocabulary,
        "edits": first.edits,
        "weighting": first.weighting,
        "preparation": None if fields["preparation"] is None else fields["preparation"].facts(),
        "ledger": fields["ledger"].facts(),
    }
    arrays: dict[str, Any] = {}
    for number, part in enumerate(everything):
        arrays |= {f"{number}.{name}": array for name, array in part_arrays(part).items()}
    write_arrays(path, KIND, FORMAT, facts, arrays)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The fields of `MomentsByGroup`; KeyError or ValueError if the file contradicts itself."""
    facts, arrays = read_arrays(path, KIND, FORMAT)
    axes = axes_of(strings(facts["axes"], "the axes"))
    keys = _keys(facts["cells"], axes)
    n_parts = stated_number(facts["parts"], "the number of parts", least=1)
    numbers, digests = document_numbers(facts["documents"]), facts["digests"]
    if not isinstance(digests, list) or not len(numbers) == len(digests) == n_parts * len(keys):
        raise ValueError("the numbers of documents do not match the cells")
    known = facts["vocabulary"]
    n_words = stated_number(facts["words"], "the number of words")
    common: dict[str, Any] = {
        "vocabulary": None if known is None else as_vocabulary(strings(known, "the vocabulary")),
        "edits": string(facts["edits"], "the fingerprint of edits"),
        "weighting": known_weighting(string(facts["weighting"], "the weighting of documents")),
    }

    def part(number: int, **more: Any) -> Moments:
        digest = None if digests[number] is None else Digest.from_text(digests[number])
        n_documents, n_skipped = numbers[number]
        counted: dict[str, Any] = {"n_documents": n_documents, "n_skipped": n_skipped, "ledger": Ledger(digest)}
        own = {name: arrays[f"{number}.{name}"] for name in PART_ARRAYS}
        return Moments(**common, **part_fields(own, n_words), **counted, **more)

    cells = {}
    for number, key in enumerate(keys):
        own = range(number * n_parts, (number + 1) * n_parts)
        kept = [part(k) for k in own[1:]]
        held_out = kept.pop() if facts["held_out"] and kept else None
        cells[key] = part(own[0], folds=tuple(kept), held_out=held_out)
    return {
        "axes": axes,
        "cells": cells,
        "preparation": Preparation.from_facts(facts["preparation"]),
        "ledger": Ledger.from_facts(facts["ledger"]),
    }


def part_arrays(part: Moments) -> dict[str, Any]:
    """The arrays of one part, over the words that it has."""
    used = np.flatnonzero(part.word_counts + part.document_frequencies + np.diff(part.pairs.first))
    first = part.pairs.first
    return {
        "used": used.astype(np.int32),
        "first": np.append(first[used], first[-1]),
        "columns": part.pairs.columns,
        "sums": part.pairs.sums,
        "word_counts": part.word_counts[used],
        "document_frequencies": part.document_frequencies[used],
    }


def part_fields(arrays: dict[str, Any], n_words: int) -> dict[str, Any]:
    """The fields of `Moments` that `part_arrays` gave, over all words."""
    used, first = arrays["used"], arrays["first"]
    if used.ndim != 1 or first.shape != (used.size + 1,) or (np.diff(used) <= 0).any():
        raise ValueError("the words of a part are not in order")
    if used.size and not 0 <= used[0] <= used[-1] < n_words:
        raise ValueError("a part has words that there are not")
    lengths = np.zeros(n_words, np.int64)
    lengths[used] = np.diff(first)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])

    def everywhere(name: str) -> Any:
        values = np.zeros(n_words, np.int64)
        values[used] = arrays[name]
        return values

    return {
        "pairs": PairSums(starts, arrays["columns"], arrays["sums"]),
        "word_counts": everywhere("word_counts"),
        "document_frequencies": everywhere("document_frequencies"),
    }


def _keys(value: Any, axes: tuple[Axis, ...]) -> list[Key]:
    listed = value if isinstance(value, list) else []
    for key in listed:
        if not isinstance(key, list) or len(key) != len(axes):
            raise ValueError("a cell must have a label for each axis")
        if not all(label is None or isinstance(label, str) for label in key):
            raise ValueError("the labels of a cell must be strings or null")
    keys = [tuple(key) for key in listed]
    if not keys or len(set(keys)) < len(keys):
        raise ValueError("there must be a cell, and none may occur twice")
    return keys
