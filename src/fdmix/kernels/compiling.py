"""How the loops are compiled, where the result is kept, and the message that says so.

numba keeps compiled functions in a folder: NUMBA_CACHE_DIR, else `__pycache__` beside the source, else the user's
cache folder. Where none of them can be written, as in a read-only container, numba refuses to compile with a cache;
then the loops are compiled without one, in every process again.

A trap: numba compiles a function again when the function's own file changes, and does not notice a change of the
options below. After such a change, delete `__pycache__`.
"""

from __future__ import annotations

import logging
from typing import Any

import numba
from numba.core.event import Listener, register

log = logging.getLogger("fdmix")
KEPT = "compiling fdmix's loops: once on this machine, up to half a minute in all (kept in {folder})"
NOT_KEPT = (
    "compiling fdmix's loops: up to half a minute in all, and again in every new process, because they cannot be "
    "kept: set NUMBA_CACHE_DIR to a folder that can be written"
)


def _can_keep() -> bool:
    """Whether numba finds a folder that it can write for functions of this package."""
    try:
        numba.njit(cache=True)(lambda: None)
    except RuntimeError:  # cannot cache function: no locator available
        return False
    return True


CAN_KEEP = _can_keep()


def compiled(**options: Any) -> Any:
    """A decorator like `numba.njit`: without the interpreter lock, and kept on disk where that is possible."""
    return numba.njit(cache=CAN_KEEP, nogil=True, **options)


njit = compiled()  # arithmetic in the order in which it is written
njit_reordering = compiled(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})  # NaN is respected
njit_fast = compiled(error_model="numpy", fastmath=True)  # for loops that never meet NaN or infinity


class _Announcement(Listener):
    """Says that loops are being compiled, before the first one: once in a process, and not if all come from disk."""

    made = False

    def on_start(self, event: Any) -> None:
        """numba is about to compile a function."""
        function = event.data["dispatcher"]
        if self.made or not function.py_func.__module__.startswith("fdmix."):
            return
        self.made = True
        if CAN_KEEP:
            log.info(KEPT.format(folder=function.stats.cache_path))
        else:
            log.warning(NOT_KEPT)

    def on_end(self, event: Any) -> None:
        """A function is compiled."""


register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]
