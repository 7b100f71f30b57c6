"""Run independent pieces of work in threads; the kernels they call release the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from fdmix.runtime.interruption import deferred_ctrl_c
from fdmix.runtime.whole_numbers import whole_number

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count(n_threads: int | None = None) -> int:
    """The number of threads to use: all cores this process may run on, unless told otherwise."""
    if n_threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else (os.cpu_count() or 1)
    return whole_number("n_threads", n_threads, least=1)


def in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], n_threads: int | None = None
) -> Iterator[Result]:
    """Like `map(work, items)`, results in the items' order, several items at a time."""
    workers = thread_count(n_threads)
    deferred_ctrl_c.check()
    if workers == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, items)


def streamed(work: Callable[[Item], Result], items: Iterable[Item], n_threads: int | None = None) -> Iterator[Result]:
    """Like `in_threads`, for a stream that must not be held: it is read only a few items ahead."""
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
    """A context in which matrix products use one thread each, so that threads of ours can make them side by side.

    The setting belongs to the whole process. So contexts that overlap, of several threads, are counted: the first one
    sets it and the last one restores it.
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
    """Threads that stay for many rounds of work, each with scratch memory of its own."""

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = thread_count(n_threads)
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None
        self._local = threading.local()

    def map(self, work: Callable[[Item], Result], items: Sequence[Item], small: bool = False) -> list[Result]:
        """[work(item) for item in items]; in threads unless the whole job is small."""
        deferred_ctrl_c.check()
        if self._pool is None or small or len(items) == 1:
            return [work(item) for item in items]
        futures = [self._pool.submit(work, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:  # Ctrl-C, too: nothing may go on writing into memory that is used again
            for future in futures:
                future.cancel()
            wait(futures)
            raise

    def map_pairs(self, work: Callable[[int, int], Result], n: int, small: bool = False) -> list[Result]:
        """work(i, j) for all i <= j < n; those that share a number run one after the other, always in the same order.

        They come in rounds: in round k, every i with k - i (mod n), so that pairs of a round share nothing. A thread
        takes the first pair that does not have to wait for one before it.
        """
        order = [(i, (k - i) % n) for k in range(n) for i in range(n) if i <= (k - i) % n]
        waiting, busy, changed = dict.fromkeys(order), set[int](), threading.Condition()
        results: dict[tuple[int, int], Result] = {}

        def free() -> tuple[int, int] | None:
            taken = set(busy)
            for pair in waiting:
                if taken.isdisjoint(pair):
                    return pair
                taken.update(pair)
            return None

        def some(_: int) -> None:
            while waiting:
                with changed:
                    pair = free()
                    if pair is None:
                        changed.wait_for(lambda: not waiting or free())
                        continue
                    del waiting[pair]
                    busy.update(pair)
                try:
                    results[pair] = work(*pair)
                except BaseException:
                    with changed:  # another thread may be looking through them
                        waiting.clear()
                    raise
                finally:
                    with changed:
                        busy.difference_update(pair)
                        changed.notify_all()

        self.map(some, range(self.n_threads), small)
        return [results[pair] for pair in order]

    def scratch(self, *shape: int) -> Any:
        """A float32 array of this thread, 64-byte aligned, reused between calls; contents arbitrary."""
        size = int(np.prod(shape))
        buffer = getattr(self._local, "buffer", None)
        if buffer is None or buffer.size < size + 16:
            buffer = self._local.buffer = np.empty(size + 16, np.float32)
        offset = (-buffer.ctypes.data % 64) // 4
        return buffer[offset : offset + size].reshape(shape)
