"""Run independent pieces of work in threads; the kernels they call release the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count(n_threads: int | None = None) -> int:
    """The number of threads to use: all cores this process may run on, unless told otherwise."""
    if n_threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else (os.cpu_count() or 1)
    if n_threads < 1:
        raise ValueError(f"n_threads must be at least 1, not {n_threads}")
    return n_threads


def in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], n_threads: int | None = None
) -> Iterator[Result]:
    """Like `map(work, items)`, results in the items' order, several items at a time."""
    workers = thread_count(n_threads)
    if workers == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, items)
