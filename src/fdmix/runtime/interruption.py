"""Let Ctrl-C end the work only between two steps, so that the results so far are kept."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Result = TypeVar("Result")
SECOND_PRESS_SECONDS = 2.0  # after this time, a second Ctrl-C takes effect at once


class _DeferredCtrlC:
    """A context in which Ctrl-C raises KeyboardInterrupt only at the next `check()`.

    Python can raise KeyboardInterrupt between any two instructions of the main thread, even while that thread holds a
    lock of its thread pool. The threads of the pool then wait forever, and the program never ends. So the main thread
    checks for Ctrl-C before it gives work to threads and between passes. The user waits for one pass at most.

    Contexts can be nested. They change nothing outside the main thread, or if the program has its own handler for
    Ctrl-C.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._pressed_at: float | None = None
        self._held = False

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
        if not self._held:
            self.check_together(bool)

    def check_together(self, in_any: Callable[[bool], bool]) -> None:
        """The same for processes that work together; in_any(pressed here) tells whether it was pressed in any."""
        if _in_main_thread() and in_any(self._pressed_at is not None):
            self._pressed_at = None
            raise KeyboardInterrupt

    @contextmanager
    def held(self, wanted: bool) -> Iterator[None]:
        """Within the block, `check` does nothing if `wanted`: only `check_together` ends the work."""
        before, self._held = self._held, wanted or self._held
        try:
            yield
        finally:
            self._held = before

    def _note(self, _: int, __: FrameType | None) -> None:
        now = time.monotonic()
        if self._pressed_at is None:
            self._pressed_at = now
        elif now - self._pressed_at > SECOND_PRESS_SECONDS:
            self._pressed_at = None
            raise KeyboardInterrupt


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


deferred_ctrl_c = _DeferredCtrlC()


def completed(work: Callable[[], Result]) -> tuple[Result, bool]:
    """(result of the work, whether Ctrl-C was pressed meanwhile); the first Ctrl-C does not stop the work.

    If Ctrl-C interrupts the work, it starts again from its beginning. So it must be short and must not change what it
    reads. A second Ctrl-C stops it.

    >>> completed(lambda: 1 + 1)
    (2, False)
    """
    try:
        return work(), False
    except KeyboardInterrupt:
        return work(), True
