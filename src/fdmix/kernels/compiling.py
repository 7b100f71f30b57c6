"""How kernels are compiled and cached, and the log message about it.

numba caches compiled functions in a folder: NUMBA_CACHE_DIR, else `__pycache__` beside the source, else the user's
cache folder. Where it can write to none of them, as in a read-only container, it refuses to compile with a cache.
Then every process compiles the kernels again.

A trap: numba compiles a function again when the function's own file changes, but does not notice a change of the
options below. After such a change, delete `__pycache__`.
"""

from __future__ import annotations

import gc
import logging
from typing import Any

import numba
from numba.core.event import Listener, register

log = logging.getLogger("fdmix")
KEPT = "compiling the loops that this step needs, once: up to half a minute in all (kept in {folder})"
NOT_KEPT = (
    "compiling fdmix's loops: up to half a minute in all, and again in every new process, because they cannot be "
    "kept: set NUMBA_CACHE_DIR to a folder that can be written"
)


def _can_cache() -> bool:
    """Whether numba finds a writable cache folder for functions of this package."""
    try:
        numba.njit(cache=True)(lambda: None)
    except RuntimeError:  # cannot cache function: no locator available
        return False
    return True


CAN_CACHE = _can_cache()


def compiled(**options: Any) -> Any:
    """A decorator like `numba.njit` that releases the interpreter lock and caches on disk where that is possible."""
    return numba.njit(cache=CAN_CACHE, nogil=True, **options)


njit = compiled()  # arithmetic in the written order
njit_reordering = compiled(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})  # respects NaN
njit_fast = compiled(error_model="numpy", fastmath=True)  # only for loops without NaN or infinity


class _WithoutGarbageCollection(Listener):
    """Switches Python's garbage collection off while one of our kernels is compiled: this saves a sixth of the time.

    A compiler makes many objects that live until its end; looking through them again and again finds nothing. numba
    compiles one function at a time, and may compile others that it calls within.
    """

    def __init__(self) -> None:
        self.depth, self.was_on = 0, False

    def on_start(self, event: Any) -> None:
        """numba is about to compile a function, perhaps one that another one calls."""
        if self.depth == 0:
            if not _is_ours(event):
                return
            self.was_on = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """A function is compiled, or failed to be."""
        if self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0 and self.was_on:
            gc.enable()


def _is_ours(event: Any) -> bool:
    return bool(event.data["dispatcher"].py_func.__module__.startswith("fdmix."))


class _Announcement(Listener):
    """Logs once in a process, before the first kernel is compiled; says nothing if all come from the cache."""

    made = False

    def on_start(self, event: Any) -> None:
        """numba is about to compile a function."""
        if self.made or not _is_ours(event):
            return
        function = event.data["dispatcher"]
        self.made = True
        if CAN_CACHE:
            log.info(KEPT.format(folder=function.stats.cache_path))
        else:
            log.warning(NOT_KEPT)

    def on_end(self, event: Any) -> None:
        """A function is compiled."""


for listener in (_Announcement(), _WithoutGarbageCollection()):
    register("numba:compile", listener)  # type: ignore[no-untyped-call]
