"""Ctrl-C: it ends the work where nothing is half done, and what was found by then is kept."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

Result = TypeVar("Result")
PATIENCE = 2.0  # seconds; whoever presses Ctrl-C again later than that is not made to wait any longer


class _DeferredCtrlC:
    """A context in which Ctrl-C does not strike at once: it raises KeyboardInterrupt at the next `check()`.

    Python raises KeyboardInterrupt between any two instructions of the main thread, also while that thread holds a
    lock of its thread pool; then the pool's threads wait for ever, and so does the end of the program. The checks are
    made before each piece of work is given to threads and between passes, so one waits for a pass at most. Contexts
    can be nested. Outside the main thread, and where the program has a handler of its own, nothing changes.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._pressed_at: float | None = None

    def __enter__(self) -> None:
        if not _in_main_thread():
            return
        if self._depth == 0 and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._pressed_at = None
            signal.signal(signal.SIGINT, self._note)
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        if not _in_main_thread():
            return
        self._depth -= 1
        if self._depth == 0 and signal.getsignal(signal.SIGINT) == self._note:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._pressed_at = None

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed since the last check."""
        if self._pressed_at is not None and _in_main_thread():
            self._pressed_at = None
            raise KeyboardInterrupt

    def _note(self, _: int, __: FrameType | None) -> None:
        now = time.monotonic()
        if self._pressed_at is None:
            self._pressed_at = now
        elif now - self._pressed_at > PATIENCE:
            self._pressed_at = None
            raise KeyboardInterrupt


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


deferred_ctrl_c = _DeferredCtrlC()


def completed(work: Callable[[], Result]) -> tuple[Result, bool]:
    """The result of work that Ctrl-C must not lose, and whether Ctrl-C was pressed while it was done.

    Interrupted work is done again from its beginning, so it must be short and must not change what it reads. Pressing
    Ctrl-C once more ends it.

    >>> completed(lambda: 1 + 1)
    (2, False)
    """
    try:
        return work(), False
    except KeyboardInterrupt:
        return work(), True
