"""All runs of a comparison: each in its own process; finished rows are kept in a folder and not run again."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fdmix.compare.documents import Documents
from fdmix.compare.methods import METHODS, method_names
from fdmix.runtime.ending import end_with_children
from fdmix.runtime.threads import thread_count
from fdmix.runtime.whole_numbers import whole_number
from fdmix.storage import replacing

Row = dict[str, Any]
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
KILLED = -9  # exit code of a process that the system killed (SIGKILL); Windows has no such signal
LAST_CHARACTERS = 300  # of a crashed process's errors, that its row keeps


@dataclass(frozen=True)
class Settings:
    """What is compared, and how.

    methods : names in `METHODS`; topics : numbers of topics; seeds : how many, from 0 upwards. Seed s chooses both
        the split into documents to learn from and documents held out, the same for all methods, and the random
        numbers of the fit
    held_out : the share of documents that are held out
    words : the top words of a topic that are scored
    sweeps : of methods that sample; mallet : the path of MALLET's command
    threads : for every method, all cores by default
    time_limit : seconds after which a run is stopped
    """

    methods: tuple[str, ...]
    topics: tuple[int, ...]
    seeds: int = 3
    held_out: float = 0.2
    words: int = 10
    sweeps: int = 1_000
    mallet: str | None = None
    threads: int | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "methods", tuple(method_names(list(self.methods))))
        topics = tuple(dict.fromkeys(whole_number("topics", n, least=2) for n in self.topics))
        object.__setattr__(self, "topics", topics)
        if not self.methods or not self.topics:
            raise ValueError("a comparison needs at least one method and one number of topics")
        for name, least in (("seeds", 1), ("words", 2), ("sweeps", 1)):
            whole_number(name, getattr(self, name), least=least)
        if not 0 < self.held_out < 1:
            raise ValueError(f"held_out is a share of the documents between 0 and 1, not {self.held_out!r}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"the time limit is a number of seconds above 0, not {self.time_limit!r}")
        if self.mallet is None and any(METHODS[name].needs_mallet for name in self.methods):
            raise ValueError("mallet needs the path of its command: --mallet path/to/bin/mallet")
        object.__setattr__(self, "threads", thread_count(self.threads))

    def runs(self) -> Iterator[Row]:
        """Each run: all methods for one number of topics and one seed, then the next, so that tables fill evenly."""
        shared = {name: getattr(self, name) for name in ("held_out", "words", "sweeps", "mallet", "threads")}
        for n_topics in self.topics:
            for seed in range(self.seeds):
                for method in self.methods:
                    yield {"method": method, "topics": n_topics, "seed": seed, **shared}

    def kept(self) -> Row:
        """What must be the same for rows of an earlier comparison to be taken over."""
        return {name: getattr(self, name) for name in ("held_out", "words", "sweeps")}


@dataclass(eq=False)
class Comparison:
    """Runs methods on documents and keeps a row of scores for each run.

    folder : where finished rows are kept and not run again; None keeps them in memory only
    """

    documents: Documents
    settings: Settings
    folder: Path | None = None
    rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.folder is None:
            return
        facts = {"fdmix": version("fdmix"), "documents": self._facts(), "settings": self.settings.kept()}
        record = self.folder / "comparison.json"
        if record.is_file():
            self._check(json.loads(record.read_text()), facts)
        (self.folder / "runs").mkdir(parents=True, exist_ok=True)
        _write(record, facts | {"last settings": asdict(self.settings)})

    def _facts(self) -> Row:
        corpus = self.documents.corpus
        sizes = {"documents": corpus.n_documents, "words": corpus.n_words, "tokens": corpus.n_tokens}
        forms = {"order of words": self.documents.sequences is not None, "labels": self.documents.labels is not None}
        return sizes | forms | {"digest": self.documents.digest()}

    def _check(self, before: Row, now: Row) -> None:
        """Refuse a folder with results of other documents or settings."""
        for part in ("documents", "settings"):
            old, new = before.get(part, {}), now[part]
            changed = [name for name in new if old.get(name) != new[name]]
            if changed:
                was = ", ".join(f"{name} {old.get(name)}" for name in changed if name != "digest") or "others"
                raise ValueError(
                    f"{self.folder} holds a comparison with other {part} ({was}): give another folder, or delete it"
                )

    def run(self, report: Callable[[int, int, Row, Row | None], Any] = lambda *_: None) -> list[Row]:
        """Run what is missing. All rows, in the order of the settings; those of earlier calls are taken over.

        report : called as `report(number, of, run, row)` before each run with row None, and after it with its row
        """
        runs = list(self.settings.runs())
        self.rows = []
        with tempfile.TemporaryDirectory(prefix="fdmix-compare-") as place:
            missing = [run for run in runs if self._finished(run) is None]
            if missing:
                with (Path(place) / "documents").open("wb") as file:
                    pickle.dump(self.documents, file)
            for number, run in enumerate(runs):
                row = self._finished(run)
                if row is None:
                    report(number, len(runs), run, None)
                    row = _identity(run) | _in_process(run, Path(place), self.settings.time_limit)
                    if self.folder is not None:
                        _write(self._path(run), row)
                self.rows.append(row)
                report(number, len(runs), run, row)
        return self.rows

    def known_rows(self) -> list[Row]:
        """All rows of the folder, by topics, method and seed, those of other methods included; or those in memory."""
        if self.folder is None:
            return self.rows
        order = {name: place for place, name in enumerate(METHODS)}
        rows = [json.loads(path.read_text()) for path in (self.folder / "runs").glob("*.json")]
        return sorted(rows, key=lambda row: (row["topics"], order.get(row["method"], len(order)), row["seed"]))

    def _path(self, run: Row) -> Path:
        assert self.folder is not None
        return self.folder / "runs" / f"{run['method']}-{run['topics']}-{run['seed']}.json"

    def _finished(self, run: Row) -> Row | None:
        """The row of a run that has succeeded; one that failed is tried again."""
        if self.folder is None or not self._path(run).is_file():
            return None
        row: Row = json.loads(self._path(run).read_text())
        return None if "failed" in row else row


def _identity(run: Row) -> Row:
    return {name: run[name] for name in ("method", "topics", "seed")}


def _in_process(run: Row, folder: Path, time_limit: float | None) -> Row:
    """The row of one run, or why there is none."""
    result = folder / "row.json"
    result.unlink(missing_ok=True)
    (folder / "run.json").write_text(json.dumps(run))
    threads = dict.fromkeys(THREAD_VARIABLES, str(run["threads"]))
    with (folder / "errors").open("w+b") as errors:
        worker = subprocess.Popen(
            [sys.executable, "-m", "fdmix.compare.worker", str(folder)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors, env=os.environ | threads, start_new_session=True,
        )  # fmt: skip
        try:
            code = worker.wait(time_limit)
        except subprocess.TimeoutExpired:
            _end(worker)
            return {"failed": f"stopped after the time limit of {time_limit:g} s"}
        except BaseException:  # Ctrl-C
            _end(worker)
            raise
        if code == 0 and result.is_file():
            row: Row = json.loads(result.read_text())
            return row
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip().splitlines()
    return {"failed": _why(code, said)}


def _why(code: int, said: list[str]) -> str:
    if code == KILLED:
        return "killed by the system, probably because memory ran out"
    how = f"crashed with signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"{how}: {said[-1][:LAST_CHARACTERS]}" if said else how


def _end(worker: subprocess.Popen[bytes]) -> None:
    """End the process and those that it started."""
    end_with_children(worker)
    worker.wait()


def _write(path: Path, facts: Row) -> None:
    with replacing(path) as file:
        file.write(json.dumps(facts, indent=1).encode())
