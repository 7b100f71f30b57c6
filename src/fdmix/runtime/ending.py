"""End a process together with the processes that it started."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import Any


def end_with_children(process: subprocess.Popen[Any], *, gently: bool = False) -> None:
    """End a process that was started with `start_new_session=True`, and all of its session.

    Windows has no such sessions: there, only the process itself is ended.

    gently : ask it to end, so that it can clean up, instead of killing it
    """
    group = getattr(os, "killpg", None)
    with suppress(OSError):  # it may have ended meanwhile
        if group is None:
            process.terminate()
        else:
            group(process.pid, signal.SIGTERM if gently else signal.SIGKILL)
