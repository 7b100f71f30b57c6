"""Several processes share one fit: each has some of the pairs, all have all topics.

`torchrun --nproc-per-node 2 -m fdmix fit ... --engine torch` starts them. After a pass, H and the likelihood are
added up over all processes, so that every one of them takes the same step. The sums are the same bits everywhere.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

from fdmix.engines.torch_pairs import Part, shards_of
from fdmix.runtime.processes import process_count, processes_here

ROUNDING = 1e-9  # relative difference of sums that processors may round differently
TIMEOUT = 600.0  # seconds that a process waits for the others; FDMIX_TIMEOUT changes it
PARTS_PER_SHARD = 8  # parts of all pairs for each process and thread, at least, so that shards are about equal


class OneProcess:
    """A fit in this process alone."""

    rank, size = 0, 1

    def mine(self, parts: Iterable[Part]) -> list[Part]:
        """The parts of the pairs that this process works on."""
        return list(parts)

    def add_up(self, *tensors: Any) -> None:
        """Replace each tensor by its sum over all processes."""

    def gather(self, *tensors: Any) -> list[Any]:
        """Of each tensor, those of all processes one after the other, in the same order everywhere."""
        return list(tensors)

    def agree(self, *tensors: Any) -> None:
        """Replace each tensor by that of the first process."""

    def any(self, flag: bool) -> bool:
        """Whether the flag is set in any process."""
        return flag

    def check_same(self, *numbers: float) -> None:
        """ValueError if another process has other numbers, which describe what all of them fit."""


class SeveralProcesses(OneProcess):
    """A fit shared by all processes of `torch.distributed`."""

    def __init__(self, torch: Any, device: Any) -> None:
        self.torch, self.group = torch, torch.distributed
        self.rank, self.size = self.group.get_rank(), self.group.get_world_size()
        self.device = device if self.group.get_backend() == "nccl" else torch.device("cpu")

    def mine(self, parts: Iterable[Part]) -> list[Part]:
        """A shard of about the same work as those of the others, as all processes work it out alike."""
        return shards_of(parts, self.size)[self.rank]

    def add_up(self, *tensors: Any) -> None:
        """Replace each tensor by its sum over all processes."""
        for tensor in tensors:
            self._together(partial(self.group.all_reduce, tensor))

    def gather(self, *tensors: Any) -> list[Any]:
        """Of each tensor, those of all processes one after the other, in the same order everywhere."""
        found = []
        for tensor in tensors:
            every = [self.torch.empty_like(tensor) for _ in range(self.size)]
            self._together(partial(self.group.all_gather, every, tensor))
            found.append(self.torch.cat(every))
        return found

    def agree(self, *tensors: Any) -> None:
        """Replace each tensor by that of the first process."""
        for tensor in tensors:
            self._together(partial(self.group.broadcast, tensor, src=0))

    def any(self, flag: bool) -> bool:
        """Whether the flag is set in any process."""
        flags = self.torch.tensor([float(flag)], device=self.device)
        self.add_up(flags)
        return bool(flags.item() > 0)

    def check_same(self, *numbers: float) -> None:
        """ValueError if another process has other numbers, which describe what all of them fit."""
        mine = self.torch.tensor(numbers, dtype=self.torch.float64, device=self.device)
        found = self.gather(mine)[0].view(self.size, -1)
        if not self.torch.allclose(found, mine.expand_as(found), rtol=ROUNDING, atol=0):
            raise ValueError(
                f"the {self.size} processes do not fit the same: words, pairs, topics and weights are "
                + " and ".join(", ".join(f"{value:.10g}" for value in row) for row in found.tolist())
                + ". Give all of them the same input and the same options"
            )

    def _together(self, work: Callable[[], Any]) -> None:
        try:
            work()
        except RuntimeError as error:
            raise ConnectionError(
                f"process {self.rank} of {self.size} lost touch with the others: one of them ended with an error, "
                f"was killed, or did not answer for {_timeout():g} s (FDMIX_TIMEOUT). Nothing was written; start the "
                f"fit again. PyTorch says: {str(error).strip().splitlines()[0]}"
            ) from error


def check_gpus_for_processes(torch: Any) -> None:
    """ValueError if this computer has more processes than GPUs."""
    here, found = processes_here(), torch.cuda.device_count()
    if here > found:
        raise ValueError(
            f"{here} processes of this computer need a GPU each, but there are {found}: start torchrun with "
            f"--nproc-per-node {found}"
        )


def processes(torch: Any, device: Any) -> OneProcess:
    """The processes that share the fit; joins them when called for the first time."""
    if process_count() == 1:
        return OneProcess()
    if not torch.distributed.is_available():
        raise ValueError("this PyTorch has no torch.distributed, so that several processes cannot share a fit")
    if not torch.distributed.is_initialized():
        backend = "nccl" if device.type == "cuda" else "gloo"
        if device.type == "mps":
            raise ValueError("several processes cannot share a fit on MPS: use device='cpu', or one process")
        _join(torch, backend)
    return SeveralProcesses(torch, device)


def _join(torch: Any, backend: str) -> None:
    seconds = _timeout()
    try:
        torch.distributed.init_process_group(backend, timeout=timedelta(seconds=seconds))
    except RuntimeError as error:
        raise ConnectionError(
            f"not all of the {process_count()} processes that should share the fit came within {seconds:g} s "
            f"(FDMIX_TIMEOUT): start them with torchrun, see docs/how-to/gpu.md. "
            f"PyTorch says: {str(error).splitlines()[0]}"
        ) from error
    atexit.register(_leave, torch)


def _leave(torch: Any) -> None:
    """Close the connections before Python ends: their threads would abort the process."""
    if torch.distributed.is_initialized():
        with suppress(RuntimeError):  # the others may be gone
            torch.distributed.destroy_process_group()


def _timeout() -> float:
    given = os.environ.get("FDMIX_TIMEOUT", str(TIMEOUT))
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise ValueError(f"FDMIX_TIMEOUT is a number of seconds above 0, not {given!r}")
    return seconds
