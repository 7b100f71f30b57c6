"""How much memory is free, how to return it, and how to print sizes."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar


def available_bytes() -> int:
    """Bytes of memory that new data can use without swapping, within the limit of the container if there is one."""
    free = _free_on_linux() or _free_on_windows() or _physical_memory()
    limit = _free_in_container()
    return free if limit is None else min(free, limit)


def in_words(n_bytes: float) -> str:
    """A number of bytes as people write it.

    >>> in_words(123_456_789)
    '123 MB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 999.5:
            return f"{n_bytes:.0f} {unit}" if n_bytes >= 10 or unit == "bytes" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.1f} TB"


def bytes_in(size: str) -> int:
    """The number of bytes that people write as 2GB, 500 MB or 1.5 GB.

    >>> bytes_in("1.5 GB")
    1500000000
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kMGT]?)(i?)B?\s*", size, re.IGNORECASE)
    if match is None:
        raise ValueError(f"{size!r} is not a size of memory: write 2GB or 500MB")
    number, unit, binary = match.groups()
    return round(float(number) * (1024 if binary else 1000) ** " kmgt".index(unit.lower() or " "))


def _free_on_linux() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in ("total", "available", "total_page", "available_page")),
        *((name, ctypes.c_uint64) for name in ("total_virtual", "available_virtual", "extended")),
    ]


def _free_on_windows() -> int | None:
    system = getattr(ctypes, "windll", None)
    if system is None:
        return None
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    return int(status.available) if system.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _free_in_container() -> int | None:
    """Bytes left below the container's limit (cgroup v2), or None without a limit."""
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        if limit == "max":
            return None
        used = int((group / "memory.current").read_text())
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        reclaimable = int(statistics.get("inactive_file", 0))  # the system drops cached files when memory is needed
        return max(0, int(limit) - used + reclaimable)
    except (OSError, ValueError):
        return None


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 1 << 62


def reset_peak() -> None:
    """Let `peak_bytes` begin anew with the present memory; does nothing on other systems than Linux."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    """The most memory that this process held since `reset_peak`, and the most that a process it started held."""
    try:
        import resource  # noqa: PLC0415  (not on Windows)
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    own, children = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                own = int(line.split()[1])
    return unit * (own + children)


def give_back_freed() -> None:
    """Return freed memory to the operating system. glibc keeps arrays of up to 32 MB otherwise, and they add up."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """glibc's `malloc_trim`; None with other C libraries."""
    if sys.platform != "linux":
        return None
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
