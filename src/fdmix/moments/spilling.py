"""Sums of moments within a memory limit: sorted runs go to files, and are added up in one round at the end.

A run is a file of moments. Its pairs are sorted by row and column, as all pair sums are, so that any number of runs
can be added row by row. Whole numbers add up to the same bits in any order, so the result is that of counting in
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fdmix.moments.arithmetic import summed
from fdmix.moments.moments import Moments
from fdmix.runtime.memory import in_words
from fdmix.storage.scratch import on_disk

FIXED_BYTES = 450_000_000  # the program, and the tokens and counts that are worked on
SHARES = 4  # of the rest: the parts of a run, their sum, and the pairs that are being counted (some twice)
LEAST_MEMORY = 700_000_000
MIN_ADDED = 1 << 25  # bytes of parts that are kept before they are added to the sum so far,
ADDED_SHARE = 0.25  # or this share of its bytes: adding reads all of it


def checked_memory(memory: float) -> float:
    """The limit in bytes, or a ValueError if counting cannot keep it."""
    if not memory >= LEAST_MEMORY:
        raise ValueError(f"counting needs at least {in_words(LEAST_MEMORY)} of memory, not {in_words(memory)}")
    return memory


class SpilledSum:
    """Adds moments up in about `memory` bytes; what does not fit goes to files in the folder.

    runs : the files written so far; they are the caller's to remove, with the folder
    """

    def __init__(self, folder: Path, memory: float, runs: Iterable[Path] = ()) -> None:
        self.folder, self.runs = folder, list(runs)
        self.run_bytes = (checked_memory(memory) - FIXED_BYTES) / SHARES
        self._parts: list[Moments] = []

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Within the block, results that are larger than a run go to files without a name."""
        with on_disk(self.folder, self.run_bytes):
            yield

    def add(self, moments: Moments) -> None:
        """Add one part. Parts are summed up a few at a time, and become a run if they are too large."""
        self._parts.append(moments)
        summed_up, others = self._parts[0].nbytes, sum(part.nbytes for part in self._parts[1:])
        if others <= max(MIN_ADDED, ADDED_SHARE * summed_up) and summed_up + others <= self.run_bytes:
            return
        if self.pending().nbytes > self.run_bytes / 2:
            run = self.folder / f"run-{len(self.runs)}"
            self.pending().save(run)
            self.runs.append(run)
            self._parts = []

    def pending(self) -> Moments:
        """The sum of the parts that are not in a run; at least one must have been added since the last run."""
        with self.limited():
            self._parts = [summed(self._parts)]
        return self._parts[0]

    @property
    def has_pending(self) -> bool:
        """Whether parts were added since the last run."""
        return bool(self._parts)

    def total(self, report: Callable[[str, int, int | None], Any] | None = None) -> Moments:
        """The sum of everything. Its pairs are mapped from a file without a name if they do not fit.

        report : called as report("merging", entries done, entries)
        """

        def tell(done: int, of: int) -> None:
            if report is not None:
                report("merging", done, of)

        with self.limited():
            return summed([*map(Moments.load, self.runs), *self._parts], tell)
