"""Thousands of damaged files of every format: reading them gives a clear error or a correct result.

The number of a case is the seed of all its random choices. Cases run in other processes, so that a crash of the
interpreter is noticed. FDMIX_FUZZ_CASES sets the number of cases per format, and FDMIX_FUZZ_FIRST the first case. To
repeat one case and see its traceback:

    python tests/storage/test_fuzzing.py moments 17 18
"""

from __future__ import annotations

import faulthandler
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import IO

import pytest
from fuzzing import FORMATS

CASES = int(os.environ.get("FDMIX_FUZZ_CASES", "4000"))
FIRST = int(os.environ.get("FDMIX_FUZZ_FIRST", "0"))
PROCESSES = 2
SECONDS_A_CASE = 60  # a case that takes longer hangs


@pytest.mark.slow
@pytest.mark.timeout(36_000)
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files(name, capsys, record_property):
    cuts = [FIRST + CASES * part // PROCESSES for part in range(PROCESSES + 1)]
    parts = [Cases(name, *ends) for ends in pairwise(cuts)]
    for part in parts:
        part.finish()
    failures = [failure for part in parts for failure in part.failures]
    outcomes = sum((part.outcomes for part in parts), Counter())
    shown = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(outcomes.items()))
    record_property("cases", outcomes.total())
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: {outcomes.total():,} damaged files, {shown} ")
    assert not failures, "\n\n".join(failures[:5])
    assert outcomes.total() == CASES
    assert outcomes["refused"] > CASES // 20, "the damage is real"


class Cases:
    """Some cases that run in a process; after a crash, a new process continues with the next case."""

    def __init__(self, name: str, first: int, last: int) -> None:
        self.name, self.last = name, last
        self.failures: list[str] = []
        self.outcomes: Counter[str] = Counter()
        self.start(first)

    def start(self, first: int) -> None:
        self.output, self.errors = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, __file__, self.name, str(first), str(self.last)], stdout=self.output, stderr=self.errors
        )

    def finish(self) -> None:
        """Wait until all are done."""
        while True:
            self.process.wait()
            lines, said = _content(self.output).splitlines(), _content(self.errors)
            begun = [int(line) for line in lines if line.isdigit()]
            self.outcomes.update(line for line in lines if not line.isdigit())
            if said:
                self.failures.append(said[:4000])
            if self.process.returncode == 0:
                return
            if not begun:
                self.failures.append(f"{self.name} could not begin")
                return
            self.outcomes["crashed"] += 1
            self.failures.append(f"{self.name} {begun[-1]} ended the interpreter ({self.process.returncode})")
            if begun[-1] + 1 == self.last:
                return
            self.start(begun[-1] + 1)


def _content(file: IO[str]) -> str:
    with file:
        file.seek(0)
        return file.read()


def run_cases(name: str, first: int, last: int) -> None:
    """Run cases in this process; print the number of each before it begins, and its outcome after."""
    memory = Path("/dev/shm")  # where nothing has to wait for a disk
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        damaged = FORMATS[name](Path(folder))
        for seed in range(first, last):
            say(f"{seed}")
            faulthandler.dump_traceback_later(SECONDS_A_CASE, exit=True)
            try:
                say(damaged.case(seed))
            except Exception:
                say("failed")
                sys.stderr.write(f"{name} {seed} failed:\n{traceback.format_exc()}\n")
            faulthandler.cancel_dump_traceback_later()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    faulthandler.enable()
    warnings.simplefilter("error")
    run_cases(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
