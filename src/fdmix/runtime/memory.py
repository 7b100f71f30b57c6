"""How much memory is free, and how to print sizes."""

from __future__ import annotations

import os
from pathlib import Path


def available_bytes() -> int:
    """Bytes of memory that new data can use without swapping, within the limit of the container if there is one."""
    free = _free_on_linux() or _physical_memory()
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


def _free_on_linux() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


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
