"""Where the parts of Mhat are during passes: on the device, or on the host and streamed to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix.engines.torch_pairs import Part, arrays_of, shards_of
from fdmix.storage.scratch import forget, is_mapped


def on_device(torch: Any, device: Any, array: Any) -> Any:
    """A NumPy array as a tensor on the device."""
    return torch.from_numpy(suited(array, device)).to(device)


def suited(array: Any, device: Any) -> Any:
    """The array in a type that the device has: float64 becomes float32 on MPS."""
    return array.astype(np.float32) if device.type == "mps" and array.dtype == np.float64 else array


class ResidentPairs:
    """All parts on the device, uploaded once.

    On the CPU, they share the memory of the host's arrays. Those that are mapped from files leave memory after use.
    """

    streamed = False

    def __init__(self, torch: Any, device: Any, parts: Sequence[Part]) -> None:
        self.host, self.shared = list(parts), device.type == "cpu"
        self.parts = [self._uploaded(torch, device, part) for part in self.host]

    def shards(self, n_shards: int) -> Sequence[Iterable[Part]]:
        """The parts in shards of about equal work, for threads."""
        if not self.shared or not any(map(in_files, self.host)):
            return shards_of(self.parts, n_shards)
        host = {id(part): mapped for part, mapped in zip(self.parts, self.host, strict=True)}
        return [self._then_forgotten(shard, host) for shard in shards_of(self.parts, n_shards)]

    def _uploaded(self, torch: Any, device: Any, part: Part) -> Part:
        found = replace(part, **{name: on_device(torch, device, array) for name, array in arrays_of(part).items()})
        _forget(part)
        return found

    @staticmethod
    def _then_forgotten(parts: Iterable[Part], host: dict[int, Part]) -> Iterator[Part]:
        for part in parts:
            yield part
            _forget(host[id(part)])


class StreamedPairs:
    """Parts on the host, copied to the device one after the other.

    Two buffers on the device take turns: while a pass works on one, the next part is copied into the other. On CUDA
    the host's memory is pinned and copies run on a stream of their own. Parts that are mapped from files go through
    two pinned stages, so that a pass reads a file while the device works on the part before.
    """

    streamed = True

    def __init__(self, torch: Any, device: Any, parts: Sequence[Part]) -> None:
        self.torch, self.device, self.parts = torch, device, list(parts)
        pin = device.type == "cuda" and torch.cuda.is_available()
        self.lane = _CudaLane(torch, device) if pin else _Lane()
        staged = pin and any(map(in_files, self.parts))
        self.host = [
            {
                name: tensor.pin_memory() if pin and not staged else tensor
                for name, tensor in _flat(torch, part).items()
            }
            for part in self.parts
        ]
        room: dict[tuple[str, Any], int] = {}  # most elements of each array of a part
        for part in self.host:
            for name, tensor in part.items():
                room[name, tensor.dtype] = max(room.get((name, tensor.dtype), 0), tensor.numel())
        turns = range(min(2, len(self.host)))
        self.buffers = [{key: torch.empty(n, dtype=key[1], device=device) for key, n in room.items()} for _ in turns]
        self.stages = [
            {key: torch.empty(n, dtype=key[1], pin_memory=True) for key, n in room.items()} for _ in turns if staged
        ]

    def shards(self, n_shards: int) -> Sequence[Iterable[Part]]:
        """All parts in one shard, because their buffers take turns."""
        return [self]

    def __iter__(self) -> Iterator[Part]:
        if not self.parts:
            return
        upcoming = self._copy(0)
        for number in range(len(self.parts)):
            part = upcoming
            if number + 1 < len(self.parts):
                upcoming = self._copy(number + 1)
            self.lane.arrived(number)
            yield part
            self.lane.done(number)

    def _copy(self, number: int) -> Part:
        """Begin to copy a part into the buffer whose turn it is."""
        part, buffer = self.parts[number], self.buffers[number % len(self.buffers)]
        sources, tensors = self._sources(number), {}
        with self.lane.copying(number):
            for name, host in sources.items():
                there = buffer[name, host.dtype].narrow(0, 0, host.numel())
                there.copy_(host, non_blocking=True)
                tensors[name] = there.view(getattr(part, name).shape)
        _forget(part)
        return replace(part, **tensors)

    def _sources(self, number: int) -> dict[str, Any]:
        """The arrays of a part on the host, read from their files into pinned memory if there are stages."""
        if not self.stages:
            return self.host[number]
        stage = self.stages[number % len(self.stages)]
        self.lane.wait_for_copy(number)
        return {
            name: stage[name, host.dtype].narrow(0, 0, host.numel()).copy_(host)
            for name, host in self.host[number].items()
        }


class _Lane:
    """Copies on devices without streams: each is complete before the pass goes on."""

    def copying(self, number: int) -> Any:
        return self

    def wait_for_copy(self, number: int) -> None: ...

    def arrived(self, number: int) -> None: ...

    def done(self, number: int) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class _CudaLane(_Lane):
    """A stream for copies. Events keep a copy from overwriting a part that is in use, and a pass from running ahead.

    The host never waits, except for the copy from a stage that it is about to fill again.
    """

    def __init__(self, torch: Any, device: Any) -> None:
        self.torch, self.device = torch, device
        self.stream = torch.cuda.Stream(device)
        self.copied = [torch.cuda.Event() for _ in range(2)]
        self.used = [torch.cuda.Event() for _ in range(2)]
        for event in self.used:
            event.record(torch.cuda.current_stream(device))

    def copying(self, number: int) -> Any:
        self.number = number
        self.stream.wait_event(self.used[number % 2])
        self.context = self.torch.cuda.stream(self.stream)
        return self

    def __enter__(self) -> None:
        self.context.__enter__()

    def __exit__(self, *error: object) -> None:
        self.copied[self.number % 2].record(self.stream)
        self.context.__exit__(*error)

    def wait_for_copy(self, number: int) -> None:
        self.copied[number % 2].synchronize()

    def arrived(self, number: int) -> None:
        self.torch.cuda.current_stream(self.device).wait_event(self.copied[number % 2])

    def done(self, number: int) -> None:
        self.used[number % 2].record(self.torch.cuda.current_stream(self.device))


def in_files(part: Part) -> bool:
    """Whether arrays of the part are mapped from files."""
    return any(map(is_mapped, arrays_of(part).values()))


def _forget(part: Part) -> None:
    """Drop the arrays of a part from memory, if they are mapped from files."""
    for array in arrays_of(part).values():
        forget(array)


def _flat(torch: Any, part: Part) -> dict[str, Any]:
    """The arrays of a part as flat tensors on the host."""
    return {name: torch.from_numpy(np.ascontiguousarray(array).ravel()) for name, array in arrays_of(part).items()}
