"""Several streams of results side by side, each made by a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from fdmix.runtime.threads import one_thread

Item = TypeVar("Item")


def side_by_side(work: Callable[[int], Iterator[Item]], n: int, n_workers: int) -> Iterator[tuple[int, Item]]:
    """(k, item) for the items of work(0) to work(n - 1), as they are ready: those of one k in their order.

    At most n_workers of them run at a time, the first ones first. Work inside them starts no threads by itself. An
    error in one ends all of them after the items that they are at, and is raised here.
    """
    if min(n, n_workers) == 1:
        for k in range(n):
            for item in work(k):
                yield k, item
        return
    ready: SimpleQueue[tuple[int, Item] | BaseException | None] = SimpleQueue()
    stop = threading.Event()

    def run(k: int) -> None:
        try:
            with one_thread():
                for item in work(k):
                    if stop.is_set():
                        return
                    ready.put((k, item))
            ready.put(None)
        except BaseException as error:  # raised where the items are taken
            ready.put(error)

    with ThreadPoolExecutor(min(n, n_workers)) as pool:
        futures = [pool.submit(run, k) for k in range(n)]
        left = n
        try:
            while left:
                found = ready.get()
                if isinstance(found, BaseException):
                    raise found
                if found is None:
                    left -= 1
                else:
                    yield found
        finally:
            stop.set()
            for future in futures:
                future.cancel()
