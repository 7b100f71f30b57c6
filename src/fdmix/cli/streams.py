"""Set up standard output and standard error, so that every word can be printed on every system."""

from __future__ import annotations

import io
import os
import sys


def set_up_streams() -> None:
    """Let no character stop the program: what a stream's encoding does not have is written as an escape.

    What Windows sends to a file or to another program is UTF-8 with plain line ends, as on other systems. Its own
    default is a code page of the country, in which CSV and JSON would lose words and get doubled line ends.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
            if sys.platform == "win32" and not stream.isatty() and "PYTHONIOENCODING" not in os.environ:
                stream.reconfigure(encoding="utf-8", newline="")
