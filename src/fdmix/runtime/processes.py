"""Which of several processes this one is, if `torchrun` or SLURM started several for one fit."""

from __future__ import annotations

import os


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
