"""What people see: messages, tables and progress. Results go to standard output, all else to standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from fdmix.refinement import Refinement

WIDTH = 140  # of tables that go to a file or another program
out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDTH)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """A remark on what is going on."""
    err.print(text, markup=False)


def print_json(found: Any) -> None:
    """A result for machines."""
    sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=2) + "\n")


class Steps:
    """Bars for the steps of a job: `report(name, done, of)`."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.tasks: dict[str, TaskID] = {}

    def report(self, name: str, done: int, of: int | None) -> None:
        """Show how far a step is."""
        if name not in self.tasks:
            for task in self.tasks.values():
                self.progress.stop_task(task)
            self.tasks[name] = self.progress.add_task(name, total=of, note="")
        self.progress.update(self.tasks[name], completed=done, total=of)

    def note(self, name: str, note: str) -> None:
        """Show a remark beside a step whose end is not known."""
        if name not in self.tasks:
            self.tasks[name] = self.progress.add_task(name, total=None, note=note)
        self.progress.update(self.tasks[name], note=note)


@contextmanager
def steps() -> Iterator[Steps]:
    """Bars with rate and time left on a terminal; nothing elsewhere."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(show_speed=True),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        yield Steps(progress)


def fitting(bars: Steps) -> Callable[[Any], None]:
    """A callback of fits and refinements that shows passes, likelihood and rate, or completion."""

    def show(now: Any) -> None:
        if isinstance(now, Refinement):
            bars.note("refining", f"{now.phase}, {now.passes}: completion {now.score:.4f} a token")
        else:
            bars.note(
                "fitting",
                f"pass {now.passes}, {now.phase}: likelihood {now.log_likelihood:.4f}, "
                f"{now.active_topics_per_word:.1f} topics a word, {now.passes / max(now.seconds, 1e-9):.1f} passes/s",
            )

    return show


@contextmanager
def timed() -> Iterator[Callable[[], float]]:
    """Seconds since the beginning."""
    begin = time.perf_counter()
    yield lambda: time.perf_counter() - begin
