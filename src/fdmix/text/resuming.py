"""Count the word pairs of many files, with checkpoints: a count that is interrupted resumes, with the same result.

A count into the file `name` keeps its checkpoints in the folder `name.partial`: see `PartialFolder`. A count into a
file at a URL keeps them on this machine.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from fdmix.corpus.preparation import Cleaning
from fdmix.moments.moments import Moments
from fdmix.moments.spilling import SpilledSum, checked_memory
from fdmix.moments.weighting import weighting_like
from fdmix.storage.places import is_remote, place_of
from fdmix.storage.urls import split_query
from fdmix.text.batches import Batch
from fdmix.text.files import STDIN
from fdmix.text.partial_folder import PartialFolder, checkpoint_folder
from fdmix.text.reading import corpus_chunks
from fdmix.text.recipe import cleaning_and_recipe
from fdmix.text.sources import Files, Source
from fdmix.text.token_store import TokenStore
from fdmix.text.tokenising import Report
from fdmix.text.vocabulary_choice import chosen_recipe

CHECKPOINT_SECONDS = 20.0  # between checkpoints: an interruption loses about this much work


class CountInProgress:
    """A count of files into the file `target`, which may have been interrupted before.

    like : moments or a model whose words and cleaning to use
    weighting : of documents, as in `Moments.of`; default: that of `like`, or "tokens"
    every : seconds between checkpoints
    memory : bytes to keep within, about; pairs beyond that go to files beside the checkpoints. Without it, all pairs
        are kept in memory. The result is the same, and a count may resume with another limit
    """

    def __init__(
        self,
        files: Files,
        cleaning: Cleaning,
        target: str | os.PathLike[str],
        *,
        like: Any = None,
        folds: int = 0,
        weighting: str | None = None,
        every: float = CHECKPOINT_SECONDS,
        memory: float | None = None,
    ) -> None:
        self.like, self.memory = like, None if memory is None else checked_memory(memory)
        cleaning, self.recipe = cleaning_and_recipe(like, cleaning if like is None else None)
        self.files, self.cleaning, self.folds, self.every = files, cleaning, folds, every
        self.weighting = weighting_like(like, weighting)
        self.target = place_of(target)
        self.folder = checkpoint_folder(self.target)
        self.partial = PartialFolder(self.folder)
        self.saved_at = time.monotonic()

    def run(self, n_threads: int | None = None, report: Report | None = None) -> Moments:
        """Count the files, or resume counting them; removes the partial folder when the result is saved."""
        if not is_remote(self.target) and not self.target.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.target.parent} to write {self.target.name} into")
        if self.target.is_dir():
            raise IsADirectoryError(f"{self.target} is a folder; give a file name")
        plan = self._plan()
        with self.partial.locked():
            self.partial.begin(plan)
            try:
                store, complete = self.partial.token_store(self.cleaning, plan)
                if not complete:
                    self._read(store, plan, n_threads, report)
                total = self._count(store, n_threads, report)
                total.save(self.target)
            except Exception as error:
                self.partial.end(error)
                raise
            self.partial.remove()
        return total

    @property
    def resumes(self) -> bool:
        """Whether there is a checkpoint of the same count to resume from; standard input has none."""
        return STDIN not in self.files.paths and self.partial.has(self._plan())

    @property
    def replaces_a_failed_count(self) -> bool:
        """Whether this count will remove the checkpoints of another count that ended with an error."""
        return STDIN not in self.files.paths and self.partial.has_failed() and not self.resumes

    def _plan(self) -> Any:
        """What a count depends on: only a count with an equal plan may resume."""
        places = [place_of(path) for path in self.files.paths]
        plan = {
            "fdmix": version("fdmix"),
            "files": [[str(place.resolve()), place.stat().st_size, _state(place)] for place in places],
            "layouts": [asdict(layout) for layout in self.files.layouts],
            "cleaning": self.cleaning.facts(),
            "folds": self.folds,
            "weighting": self.weighting,
            "words": None if self.recipe is None else self.recipe.vocabulary,
        }
        as_json = json.dumps(plan, ensure_ascii=False).encode("utf-8", "replace")  # file names may not be valid UTF-8
        return json.loads(as_json)

    def _checkpoint_is_due(self) -> bool:
        return time.monotonic() - self.saved_at >= self.every

    def _read(self, store: TokenStore, plan: Any, n_threads: int | None, report: Report | None) -> None:
        """Read the rest of the files. A checkpoint is saved while no thread is running."""
        batches = self.files.batches(store.n_documents, store.log.finished())
        while True:
            part = _UntilCheckpoint(batches, self.files.size, self._checkpoint_is_due)
            store.fill(part, n_threads, report)
            self.partial.save_reading(store, plan, part.exhausted)
            self.saved_at = time.monotonic()
            if part.exhausted:
                return

    def _count(self, store: TokenStore, n_threads: int | None, report: Report | None) -> Moments:
        """The moments of all tokens, starting from the last checkpoint."""
        recipe = self.recipe or chosen_recipe(store)
        done, begun, runs = self.partial.counted(recipe.vocabulary, self.folds, len(store))
        how: dict[str, Any] = {"folds": self.folds, "weighting": self.weighting}
        nothing = Moments.of(recipe.corpus([]), **how)
        if self.memory is not None:
            how["memory_limit"] = math.inf  # pairs beyond the limit go to files
        spilled = SpilledSum(self.folder, math.inf if self.memory is None else self.memory, runs)
        with spilled.limited():
            spilled.add(nothing if begun is None else begun)
            for batches_done, corpus in corpus_chunks(store, recipe, report, done):
                spilled.add(Moments.of(corpus, **how, n_threads=n_threads))
                if self._checkpoint_is_due():
                    pending = spilled.pending() if spilled.has_pending else nothing
                    self.partial.save_counting(batches_done, pending, spilled.runs)
                    self.saved_at = time.monotonic()
            total = spilled.total(report).recorded(store.log)
            return total.without_unused_words() if total.is_open else total


def _state(place: Any) -> int | str:
    """A mark that changes when the file changes: its time, or what a server says of its state.

    Where the server says nothing, it is a hash of the query, which may be all that tells two files apart. Otherwise
    the query does not matter: the same file may be signed again.
    """
    if not is_remote(place):
        return int(place.stat().st_mtime_ns)
    query = split_query(place.url, place.scheme)[1]
    return place.stat().version or hashlib.sha256(query.encode()).hexdigest()


class _UntilCheckpoint(Source):
    """The next batches until a checkpoint is due; `exhausted` says whether there are no more."""

    def __init__(self, batches: Iterator[Batch], size: int | None, is_due: Callable[[], bool]) -> None:
        self._batches, self.size, self._is_due = batches, size, is_due
        self.exhausted = False

    def batches(self) -> Iterator[Batch]:
        """At least one batch, unless there are none left."""
        for batch in self._batches:
            yield batch
            if self._is_due():
                return
        self.exhausted = True
