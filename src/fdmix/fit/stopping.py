"""Why and when a fit stops: one mechanism for fits to pairs and to documents."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from typing import Any

from fdmix.runtime.interruption import deferred_ctrl_c


class Stop(Enum):
    """What ended a fit; the value says it in a sentence."""

    CONVERGED = "the fit converged"
    CALLBACK = "the callback asked to stop"
    TIME_LIMIT = "the time limit was reached"
    PASS_LIMIT = "the limit of passes was reached"
    INTERRUPTED = "interrupted by the user"


class Stopping:
    """Asks, between passes, whether to go on: Ctrl-C, the callback, the time limit.

    stop : what asked first, or None

    >>> stopping = Stopping(callback=lambda passes: passes >= 3)
    >>> stopping.tell(lambda: 2), stopping.tell(lambda: 3), stopping.stop
    (False, True, <Stop.CALLBACK: 'the callback asked to stop'>)
    """

    def __init__(self, callback: Callable[[Any], Any] | None = None, time_limit: float | None = None) -> None:
        if time_limit is not None and not time_limit > 0:
            raise ValueError(f"time_limit must be positive, but is {time_limit}")
        self.callback, self.time_limit, self.begin = callback, time_limit, time.monotonic()
        self.stop: Stop | None = None

    @property
    def seconds(self) -> float:
        """Since the fit began."""
        return time.monotonic() - self.begin

    def tell(self, progress: Callable[[], Any]) -> bool:
        """Tell the callback of a pass; whether it asks to stop. Ctrl-C since the last time raises KeyboardInterrupt.

        progress : makes what the callback is told
        """
        deferred_ctrl_c.check()
        if self.callback is not None and self.callback(progress()):
            self.stop = Stop.CALLBACK
            return True
        return False

    def is_late(self) -> bool:
        """Whether the time limit has passed."""
        if self.time_limit is not None and self.seconds >= self.time_limit:
            self.stop = Stop.TIME_LIMIT
            return True
        return False

    def asked(self, progress: Callable[[], Any]) -> bool:
        """Tell the callback of a pass; whether it asks to stop, or time is up."""
        return self.tell(progress) or self.is_late()
