"""What people see: messages, tables and progress. Results go to standard output, all else to standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from fdmix.display import for_json, for_terminal
from fdmix.runtime.devices import device_in_words
from fdmix.runtime.processes import is_leader

WIDTH = 140  # of tables that go to a file or another program, unless COLUMNS says otherwise
PLAIN: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False, "soft_wrap": True}  # text is text
out = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH, **PLAIN)
err = Console(stderr=True, **PLAIN)


def say(text: str, everywhere: bool = False) -> None:
    """Print a remark on what is going on; hidden characters of file names and words are written out.

    everywhere : in each of several processes that share a fit, not only in the first
    """
    if everywhere or is_leader():
        err.print(for_terminal(text, lines=True))


def say_device(engine: str, device: str) -> None:
    """Say where PyTorch computes, if the engine is one of PyTorch's."""
    if engine.partition("-")[0] == "torch":  # such as torch-tf32
        say(device_in_words(device))


def show(content: RenderableType) -> None:
    """Print a table, without blanks at the ends of its lines if it goes to a file or another program."""
    if out.is_terminal:
        out.print(content, soft_wrap=False)
        return
    with out.capture() as captured:
        out.print(content, soft_wrap=False)
    sys.stdout.write("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))


def print_json(found: Any) -> None:
    """Print a result for programs."""
    sys.stdout.write(for_json(found, indent=2) + "\n")


class Steps:
    """Bars for the steps of a job: `report(name, done, of)`."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.tasks: dict[str, TaskID] = {}

    def report(self, name: str, done: int, of: int | None, note: str = "") -> None:
        """Show how far a step is, and a remark beside it; the steps before it have ended, perhaps early."""
        name, note = for_terminal(name), for_terminal(note)
        if name not in self.tasks:
            for task in self.tasks.values():
                self.progress.update(task, total=self.progress.tasks[task].completed)
                self.progress.stop_task(task)
            self.tasks[name] = self.progress.add_task(name, total=of, note=note)
        self.progress.update(self.tasks[name], completed=done, total=of, note=note)


class Note(ProgressColumn):
    """A remark beside a bar, cut where the terminal ends."""

    def render(self, task: Task) -> Text:
        """The remark."""
        return Text(task.fields["note"], no_wrap=True, overflow="ellipsis")


@contextmanager
def steps(hidden: bool = False) -> Iterator[Steps]:
    """Bars with rate and time left on a terminal; nothing elsewhere, or if rows are printed there."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=16),
        TaskProgressColumn(show_speed=True),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        Note(),
    )
    # FORCE_COLOR, which Jupyter sets, makes `err.is_terminal` true where no cursor can be moved.
    unseen = hidden or not (err.is_terminal and sys.stderr.isatty())
    with Progress(*columns, console=err, transient=True, disable=unseen) as progress:
        yield Steps(progress)


OF_PAIRS, OF_DOCUMENTS = ("likelihood", "sparse", "smooth"), ("passes", "sampling", "correlations")


def fitting(bars: Steps, phases: tuple[str, ...] = OF_PAIRS) -> Callable[[Any], None]:
    """A callback of fits and refinements: a bar for each phase, with its score.

    How many passes over the pairs it takes is not known before they settle. Passes over documents, sweeps of sampling
    and passes for the correlations have an upper bound, and the time left is the time to reach it.

    phases : those that are to come, in this order
    """

    def show(now: Any) -> None:
        number = f"{phases.index(now.phase) + 1}/{len(phases)} " if now.phase in phases else ""
        if now.phase in OF_DOCUMENTS:
            what = "sweeps" if now.phase == "sampling" else "passes"
            note = f"completion {now.score:.4f} a token, {now.passes} of {now.of} {what}"
            bars.report(number + now.phase, now.passes, now.of, note)
        else:
            note = f"likelihood {now.log_likelihood:.4f}, pass {now.phase_passes}, "
            speed = now.steps_per_second
            note += (
                f"{now.active_topics_per_word:.1f} topics a word" if speed is None else f"{speed:,.1f} steps a second"
            )
            bars.report(number + now.phase, now.phase_passes, None, note)

    return show


@contextmanager
def timed() -> Iterator[Callable[[], float]]:
    """Seconds since the beginning."""
    begin = time.perf_counter()
    yield lambda: time.perf_counter() - begin
