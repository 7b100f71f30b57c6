"""Runs of rows of pair sums, as tasks make them, and the arrays that they are joined into: in memory or in files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from fdmix.moments.inverted_index import Integers
from fdmix.storage.scratch import ArrayFile, folder_for

Entries = tuple[Integers, Any, Integers]  # a run of rows: entries per row, their columns, their sums

BYTES_PER_PAIR = 12
PANEL_ENTRIES = 1 << 20  # entries of a panel, the rows that a task works on
UNTOUCHED_ENTRIES = 1 << 28  # room asked for at first; the operating system gives memory when it is written


def joined(panels: Iterable[Entries], room: int) -> Entries:
    """(entries of each row, columns, sums) of runs of rows, one after the other; `room` bounds their entries.

    Within `on_disk`, a large result goes to files.
    """
    lengths, n_entries = [np.empty(0, np.int64)], 0
    store: _InMemory | _InFiles = _InMemory(room)
    for entries, columns, sums in panels:
        n = int(entries.sum())
        n_entries += n
        folder = folder_for(BYTES_PER_PAIR * n_entries)
        if folder is not None and isinstance(store, _InMemory):
            store = _InFiles(folder, *store.arrays())
        lengths.append(entries)
        store.append(columns[:n], sums[:n])
    return np.concatenate(lengths), *store.arrays()


class _InMemory:
    """Columns and sums that grow in memory.

    Memory that is not written to is not used, so the arrays are made as large as they may become and shrunk in place,
    instead of joining pieces at twice the memory.
    """

    def __init__(self, room: int) -> None:
        try:
            self.columns, self.sums = room_for(min(room, UNTOUCHED_ENTRIES))
        except MemoryError:  # where address space is limited, too
            self.columns, self.sums = room_for(min(room, PANEL_ENTRIES))
        self.end = 0

    def append(self, columns: Any, sums: Any) -> None:
        begin, self.end = self.end, self.end + columns.size
        if self.end > self.columns.size:
            self.columns = _enlarged(self.columns, begin, self.end)
            self.sums = _enlarged(self.sums, begin, self.end)
        self.columns[begin : self.end] = columns
        self.sums[begin : self.end] = sums

    def arrays(self) -> tuple[Any, Any]:
        self.columns.resize(self.end, refcheck=False)
        self.sums.resize(self.end, refcheck=False)
        return self.columns, self.sums


class _InFiles:
    """Columns and sums that grow in files of a folder."""

    def __init__(self, folder: Path, columns: Any, sums: Any) -> None:
        self.columns, self.sums = ArrayFile(folder, np.int32), ArrayFile(folder, np.int64)
        self.append(columns, sums)

    def append(self, columns: Any, sums: Any) -> None:
        self.columns.append(columns)
        self.sums.append(sums)

    def arrays(self) -> tuple[Any, Any]:
        return self.columns.mapped(), self.sums.mapped()


def room_for(room: int) -> tuple[Any, Any]:
    """Columns and sums of this many entries, with arbitrary contents."""
    return np.empty(room, np.int32), np.empty(room, np.int64)


def _enlarged(array: Any, used: int, needed: int) -> Any:
    larger = np.empty(max(needed, 2 * array.size), array.dtype)
    larger[:used] = array[:used]
    return larger
