"""Which of several processes this one is, if `torchrun` or SLURM started several for one fit."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path


def process_count() -> int:
    """How many processes share the fit; 1 unless `torchrun` started this one."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "RANK" in os.environ and "MASTER_ADDR" in os.environ else 1


def is_leader() -> bool:
    """Whether this process prints and writes: the only one, or the first of several."""
    return process_count() == 1 or int(os.environ["RANK"]) == 0


def processes_here() -> int:
    """How many of the processes run on this computer and share its cores."""
    return max(1, int(os.environ.get("LOCAL_WORLD_SIZE", "1"))) if process_count() > 1 else 1


def local_rank() -> int:
    """The number of this process among those of this computer: the GPU that it uses."""
    return int(os.environ.get("LOCAL_RANK", "0")) if process_count() > 1 else 0


def tell_launcher(sentence: str) -> None:
    """Hand `torchrun` the sentence that says why this process failed; its own report then ends with it."""
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if path:
        facts = {"py_callstack": sentence, "timestamp": str(int(time.time()))}
        with suppress(OSError):  # the sentence is on standard error all the same
            Path(path).write_text(json.dumps({"message": {"message": sentence, "extraInfo": facts}}), "utf-8")
