"""Run independent work in threads. The compiled kernels release the interpreter lock, so threads run in parallel."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from fdmix.runtime.interruption import deferred_ctrl_c
from fdmix.runtime.processes import processes_here
from fdmix.runtime.whole_numbers import whole_number

Item = TypeVar("Item")
Result = TypeVar("Result")


_default = threading.local()  # the default number of threads for work that this thread starts, if it is set


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which work starts no other threads by itself: a task of a cluster has one core."""
    before = getattr(_default, "threads", None)
    _default.threads = 1
    try:
        yield
    finally:
        _default.threads = before


def thread_count(n_threads: int | None = None) -> int:
    """The number of threads to use: `n_threads`, or by default one per core that this process may run on.

    Processes of this computer that share a fit share its cores, too.
    """
    if n_threads is None and getattr(_default, "threads", None):
        return int(_default.threads)
    if n_threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        cores = len(affinity(0)) if affinity else (os.cpu_count() or 1)
        return max(1, cores // processes_here())
    return whole_number("n_threads", n_threads, least=1)


def in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], n_threads: int | None = None
) -> Iterator[Result]:
    """Like `map(work, items)`, in threads. Results keep the order of the items; all items are submitted at once."""
    workers = thread_count(n_threads)
    deferred_ctrl_c.check()
    if workers == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, items)


def streamed(work: Callable[[Item], Result], items: Iterable[Item], n_threads: int | None = None) -> Iterator[Result]:
    """Like `in_threads`, for a stream too large for memory: reads only a few items ahead of the results."""
    workers = thread_count(n_threads)
    if workers == 1:
        for item in items:
            deferred_ctrl_c.check()
            yield work(item)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for item in items:
                deferred_ctrl_c.check()
                waiting.append(pool.submit(work, item))
                if len(waiting) > workers + 1:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


class _OneBlasThread:
    """A context in which BLAS uses one thread per matrix product, so that our own threads can run in parallel.

    BLAS has one setting for the whole process. If several threads enter the context, the first one changes the
    setting and the last one to leave restores it.
    """

    def __init__(self) -> None:
        self._lock, self._entered, self._limit = threading.Lock(), 0, None

    def __enter__(self) -> None:
        with self._lock:
            if self._entered == 0:
                self._limit = _blas().limit(limits=1, user_api="blas")
            self._entered += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entered -= 1
            if self._entered == 0 and self._limit is not None:
                self._limit.restore_original_limits()
                self._limit = None


one_blas_thread = _OneBlasThread()


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


class Workers:
    """Threads that are reused for many rounds of work; each has its own scratch memory."""

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = thread_count(n_threads)
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None
        self._local = threading.local()

    def map(self, work: Callable[[Item], Result], items: Sequence[Item], small: bool = False) -> list[Result]:
        """[work(item) for item in items], in threads unless `small` says that they would cost more than they save."""
        deferred_ctrl_c.check()
        if self._pool is None or small or len(items) == 1:
            return [work(item) for item in items]
        futures = [self._pool.submit(work, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:  # includes Ctrl-C: a thread must not write into memory that the caller reuses
            for future in futures:
                future.cancel()
            wait(futures)
            raise

    def map_pairs(self, work: Callable[[int, int], Result], n: int, small: bool = False) -> list[Result]:
        """work(i, j) for all i <= j < n. Calls that share a number run one by one, always in the same order."""
        order = _rounds_of_pairs(n)
        queue = _PairQueue(order)
        results: dict[tuple[int, int], Result] = {}

        def work_until_empty(_: int) -> None:
            while (pair := queue.take()) is not None:
                try:
                    results[pair] = work(*pair)
                except BaseException:
                    queue.clear()
                    raise
                finally:
                    queue.release(pair)

        self.map(work_until_empty, range(self.n_threads), small)
        return [results[pair] for pair in order]

    def scratch(self, *shape: int) -> Any:
        """An uninitialised float32 array, aligned to 64 bytes; each thread reuses its own between calls."""
        size = int(np.prod(shape))
        buffer = getattr(self._local, "buffer", None)
        if buffer is None or buffer.size < size + 16:
            buffer = self._local.buffer = np.empty(size + 16, np.float32)
        offset = (-buffer.ctypes.data % 64) // 4
        return buffer[offset : offset + size].reshape(shape)


class _PairQueue:
    """Pairs of numbers to work on. Threads that hold pairs at the same time never share a number."""

    def __init__(self, pairs: Iterable[tuple[int, int]]) -> None:
        self._waiting = dict.fromkeys(pairs)  # a set that keeps its order
        self._busy: set[int] = set()
        self._changed = threading.Condition()

    def take(self) -> tuple[int, int] | None:
        """The next pair to work on, once there is one; None if no pairs are left."""
        with self._changed:
            while self._waiting:
                pair = self._first_free()
                if pair is not None:
                    del self._waiting[pair]
                    self._busy.update(pair)
                    return pair
                self._changed.wait()
            return None

    def release(self, pair: tuple[int, int]) -> None:
        """The work on this pair is done."""
        with self._changed:
            self._busy.difference_update(pair)
            self._changed.notify_all()

    def clear(self) -> None:
        """Drop all pairs that no thread has taken."""
        with self._changed:
            self._waiting.clear()

    def _first_free(self) -> tuple[int, int] | None:
        """The first pair that shares no number with a busy pair or with a pair before it in the queue."""
        taken = set(self._busy)
        for pair in self._waiting:
            if taken.isdisjoint(pair):
                return pair
            taken.update(pair)
        return None


def _rounds_of_pairs(n: int) -> list[tuple[int, int]]:
    """All pairs i <= j < n in n rounds. The pairs (i, j) of round k have i + j = k (mod n), so they are disjoint.

    >>> _rounds_of_pairs(3)
    [(0, 0), (1, 2), (0, 1), (2, 2), (0, 2), (1, 1)]
    """
    return [(i, (k - i) % n) for k in range(n) for i in range(n) if i <= (k - i) % n]
