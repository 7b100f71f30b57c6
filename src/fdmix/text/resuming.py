"""A count of many files that can be killed at any moment and goes on where it was, to the same bits.

Beside the result `name` a folder `name.partial` holds what is done so far: see `PartialFolder`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fdmix.corpus.preparation import Cleaning
from fdmix.moments.moments import Moments
from fdmix.text.batches import Batch
from fdmix.text.partial_folder import PartialFolder
from fdmix.text.reading import Report, corpora, treatment
from fdmix.text.recipe import chosen_recipe
from fdmix.text.sources import Files, Source
from fdmix.text.token_store import Spool

EVERY = 20.0  # seconds between checkpoints


class CountInProgress:
    """One count of files into the file `target`."""

    def __init__(
        self,
        files: Files,
        cleaning: Cleaning,
        target: str | os.PathLike[str],
        *,
        like: Any = None,
        folds: int = 0,
        every: float = EVERY,
    ) -> None:
        self.like = like
        cleaning, self.recipe = treatment(like, cleaning if like is None else None)
        self.files, self.cleaning, self.folds, self.every = files, cleaning, folds, every
        self.target = Path(target)
        self.folder = self.target.with_name(f"{self.target.name}.partial")
        self.partial = PartialFolder(self.folder)
        self.saved_at = time.monotonic()

    def run(self, n_threads: int | None = None, report: Report | None = None) -> Moments:
        """Count, or go on counting; the partial folder goes when the result is there."""
        if not self.target.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.target.parent} to write {self.target.name} into")
        if self.target.is_dir():
            raise IsADirectoryError(f"{self.target} is a folder; give a file name")
        plan = self._plan()
        with self.partial.alone():
            self.partial.begin(plan)
            try:
                spool, complete = self.partial.spool(self.cleaning, plan)
                if not complete:
                    self._read(spool, plan, n_threads, report)
                total = self._count(spool, n_threads, report)
                total.save(self.target)
            except Exception as error:
                self.partial.end(error)
                raise
            self.partial.remove()
        return total

    @property
    def resumes(self) -> bool:
        """Whether there is something to go on from."""
        return self.partial.has(self._plan())

    @property
    def replaces_a_failed_count(self) -> bool:
        """Whether what is left from another count, which ended with an error, will be removed."""
        return self.partial.has_failed() and not self.resumes

    def _plan(self) -> Any:
        """What must be the same for a count to go on."""
        stats = [(path, Path(path).stat()) for path in self.files.paths]
        plan = {
            "fdmix": version("fdmix"),
            "files": [[str(Path(path).resolve()), stat.st_size, stat.st_mtime_ns] for path, stat in stats],
            "layouts": [asdict(layout) for layout in self.files.layouts],
            "cleaning": self.cleaning.facts(),
            "folds": self.folds,
            "words": None if self.recipe is None else self.recipe.vocabulary,
        }
        return json.loads(
            json.dumps(plan, ensure_ascii=False).encode("utf-8", "replace")
        )  # of names that are no UTF-8

    def _due(self) -> bool:
        return time.monotonic() - self.saved_at >= self.every

    def _read(self, spool: Spool, plan: Any, n_threads: int | None, report: Report | None) -> None:
        """In stretches; at the end of each, all threads are at rest and the state is saved."""
        batches = self.files.batches(spool.n_documents)
        while True:
            stretch = _Stretch(batches, self.files.size, self._due)
            spool.fill(stretch, n_threads, report)
            self.partial.save_reading(spool, plan, stretch.ended)
            self.saved_at = time.monotonic()
            if stretch.ended:
                return

    def _count(self, spool: Spool, n_threads: int | None, report: Report | None) -> Moments:
        recipe = self.recipe or chosen_recipe(spool)
        done, total = self.partial.counted(recipe.vocabulary, self.folds, len(spool))
        if total is None:
            total = Moments.of(recipe.corpus([]), folds=self.folds)
        for batches_done, corpus in corpora(spool, recipe, report, done):
            total = total + Moments.of(corpus, folds=self.folds, n_threads=n_threads)
            if self._due():
                self.partial.save_counting(batches_done, total)
                self.saved_at = time.monotonic()
        return total.recorded(spool.log)


class _Stretch(Source):
    """Batches until it is time for a checkpoint; `ended` tells whether the source has no more."""

    def __init__(self, batches: Iterator[Batch], size: int | None, due: Any) -> None:
        self._batches, self.size, self._due = batches, size, due
        self.ended = False

    def batches(self) -> Iterator[Batch]:
        """At least one batch, if there is any."""
        for batch in self._batches:
            yield batch
            if self._due():
                return
        self.ended = True
