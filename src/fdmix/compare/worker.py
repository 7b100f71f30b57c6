"""One fit and its scores, in a process of its own: `python -m fdmix.compare.worker FOLDER`.

The folder holds `documents` (a pickle of `Documents`, written by the process that started this one) and `run.json`;
the row of the result is written to `row.json`. A process of its own makes time and memory those of one method, and
what crashes one method does not stop the others.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fdmix.compare.documents import Documents
from fdmix.compare.evaluation import scores_of, shown_words
from fdmix.compare.found import Found, Task
from fdmix.compare.methods import METHODS
from fdmix.runtime.memory import peak_bytes, reset_peak

MEGABYTE = 1e6


@dataclass(frozen=True, eq=False)
class Clock:
    """Wall and CPU seconds, those of processes that this one started and ended included."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> Clock:
        """The present."""
        times = os.times()
        return cls(time.perf_counter(), times.user + times.system + times.children_user + times.children_system)


def row_of(run: dict[str, Any], whole: Documents) -> dict[str, Any]:
    """The scores of one run, with its time and memory.

    run : method, topics, seed, and settings of `Task`
    """
    method = METHODS[run["method"]]
    missing = method.missing()
    if missing:
        raise ImportError(missing)
    if method.needs_texts and whole.texts is None:
        raise ValueError("needs the texts of documents, and these are counts")
    train, test = (whole[part] for part in whole.split(run["held_out"], run["seed"]))
    task = Task(
        train, test, run["topics"], run["seed"], run["threads"], run["sweeps"], run["words"], run["mallet"]
    )  # fmt: skip
    fit = method.prepare()
    reset_peak()
    begin = Clock.now()
    found: Found = fit(task)
    end, peak = Clock.now(), peak_bytes()
    cost = {"seconds": end.wall - begin.wall, "cpu_seconds": end.cpu - begin.cpu, "peak_megabytes": peak / MEGABYTE}
    scores = scores_of(found, whole, train, test, task.n_words)
    top = found.words or shown_words(found.mixture(train.corpus.vocabulary), train, task.n_words)  # type: ignore[arg-type]
    return (
        scores | cost | {"train_documents": len(train.corpus), "test_documents": len(test.corpus), "top_words": top}
    )


def main(folder: Path) -> None:
    """Read the run, write the row; an error becomes a sentence in the row."""
    with (folder / "documents").open("rb") as file:
        whole = pickle.load(file)  # written by the process that started this one
    run = json.loads((folder / "run.json").read_text())
    try:
        row = row_of(run, whole)
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        expected = isinstance(error, ImportError | ValueError | MemoryError | OSError)
        row = {"failed": said if expected else f"{type(error).__name__}: {said}"}
    partial = folder / "row.json.part"
    partial.write_text(json.dumps(row, default=float))
    partial.replace(folder / "row.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
