"""A count of many files that can be killed at any moment and goes on where it was, to the same bits.

Beside the result `name` a folder `name.partial` holds what is done so far: the tokens read (`tokens`, `lengths`),
the state of reading at the last checkpoint (`read`), and the moments counted then (`counted-<batches>`).
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fdmix.ledger import SourceLog
from fdmix.moments import Moments
from fdmix.preparation import Cleaning
from fdmix.storage import FileError, read_arrays, replacing, write_arrays
from fdmix.text.batches import Batch
from fdmix.text.lexicon import Lexicon
from fdmix.text.reading import Report, corpora, treatment
from fdmix.text.sources import Files, Source
from fdmix.text.spool import LENGTHS, TOKENS, Spool
from fdmix.text.vocabularies import chosen_recipe

KIND, FORMAT = "tokens read so far", 1
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
        self.saved_at = time.monotonic()

    def run(self, n_threads: int | None = None, report: Report | None = None) -> Moments:
        """Count, or go on counting; the partial folder goes when the result is there."""
        self._begin()
        with _alone_in(self.folder):
            try:
                spool, complete = self._read_so_far()
                if not complete:
                    self._read(spool, n_threads, report)
                total = self._count(spool, n_threads, report)
                total.save(self.target)
            except Exception:
                if not (self.folder / "read").is_file():  # nothing worth keeping, and the input may be corrected
                    _remove(self.folder)
                raise
            _remove(self.folder)
        return total

    @property
    def resumes(self) -> bool:
        """Whether there is something to go on from."""
        return (self.folder / "read").is_file() and self._planned() == self._plan()

    def _begin(self) -> None:
        if not self.target.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.target.parent} to write {self.target.name} into")
        if self.target.is_dir():
            raise IsADirectoryError(f"{self.target} is a folder; give a file name")
        if self._planned() == self._plan():
            return
        if (self.folder / "read").is_file():
            raise ValueError(
                f"{self.folder} is left from another count (other files, or other settings): delete it to begin "
                "anew, or repeat that count to finish it"
            )
        self.folder.mkdir(exist_ok=True)
        with _alone_in(self.folder):
            for name in (TOKENS, LENGTHS):
                (self.folder / name).unlink(missing_ok=True)
            with replacing(self.folder / "plan.json") as file:
                file.write(json.dumps(self._plan(), indent=1).encode())

    def _planned(self) -> Any:
        """The plan that was left here, if any."""
        path = self.folder / "plan.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

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
        return json.loads(json.dumps(plan))

    def _due(self) -> bool:
        return time.monotonic() - self.saved_at >= self.every

    def _read_so_far(self) -> tuple[Spool, bool]:
        spool = Spool.in_file(self.cleaning, self.folder)
        sizes = {TOKENS: 0, LENGTHS: 0}
        complete = False
        if (self.folder / "read").is_file():
            facts, arrays = read_arrays(self.folder / "read", KIND, FORMAT)
            complete, spool.n_documents = bool(facts["complete"]), int(facts["documents"])
            spool.log = SourceLog.from_facts(facts["sources"])
            spool.index = [tuple(row) for row in arrays["index"].tolist()]
            names = ("pool", "starts", "hashes", "counts")
            for number in range(facts["lexicons"]):
                parts = {name: arrays[f"{number}.{name}"] for name in names}
                spool.lexicons.append(Lexicon.restored(self.cleaning, parts))
            sizes = {TOKENS: 4 * sum(row[1] for row in spool.index), LENGTHS: 4 * sum(row[2] for row in spool.index)}
        for name, size in sizes.items():  # what was written after the checkpoint is read again
            with (self.folder / name).open("ab") as file:
                if file.tell() < size:
                    raise FileError(f"{self.folder} is damaged: delete it to begin anew")
                file.truncate(size)
        return spool, complete

    def _read(self, spool: Spool, n_threads: int | None, report: Report | None) -> None:
        """In stretches; at the end of each, all threads are at rest and the state is saved."""
        batches = self.files.batches(spool.n_documents)
        while True:
            stretch = _Stretch(batches, self.files.size, self._due)
            spool.fill(stretch, n_threads, report)
            self._save_reading(spool, stretch.ended)
            if stretch.ended:
                return

    def _save_reading(self, spool: Spool, complete: bool) -> None:
        for name in (TOKENS, LENGTHS):
            with (self.folder / name).open("ab") as file:
                os.fsync(file.fileno())
        arrays: dict[str, Any] = {"index": np.array(spool.index, np.int64).reshape(-1, 3)}
        for number, lexicon in enumerate(spool.lexicons):
            arrays |= {f"{number}.{name}": array for name, array in lexicon.arrays().items()}
        facts = {
            "complete": complete,
            "documents": spool.n_documents,
            "lexicons": len(spool.lexicons),
            "sources": spool.log.facts(),
        }
        write_arrays(self.folder / "read", KIND, FORMAT, facts, arrays)
        self.saved_at = time.monotonic()

    def _count(self, spool: Spool, n_threads: int | None, report: Report | None) -> Moments:
        recipe = self.recipe or chosen_recipe(spool)
        done, total = self._counted_so_far()
        if total is None:
            total = Moments.of(recipe.corpus([]), folds=self.folds)
        for batches_done, corpus in corpora(spool, recipe, report, done):
            total = total + Moments.of(corpus, folds=self.folds, n_threads=n_threads)
            if self._due():
                total.save(self.folder / f"counted-{batches_done}")
                for path in self.folder.glob("counted-*"):
                    if path.name != f"counted-{batches_done}":
                        path.unlink()
                self.saved_at = time.monotonic()
        return total.recorded(spool.log)

    def _counted_so_far(self) -> tuple[int, Moments | None]:
        found = sorted((int(path.name.split("-")[1]), path) for path in self.folder.glob("counted-*"))
        for done, path in reversed(found):
            try:
                return done, Moments.load(path)
            except FileError:
                continue
        return 0, None


def _remove(folder: Path) -> None:
    """At once, under another name first: half a folder must never be taken for a whole one."""
    gone = folder.with_name(f".{secrets.token_hex(8)}.fdmix-tmp")
    folder.replace(gone)
    shutil.rmtree(gone, ignore_errors=True)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other counts out of the folder; where files cannot be locked (Windows), trust the user."""
    try:
        import fcntl  # noqa: PLC0415
    except ImportError:
        yield
        return
    with (folder / "lock").open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(f"another count is at work in {folder}: wait for it, or write to another file") from None
        yield


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
