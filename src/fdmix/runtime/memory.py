"""How much memory there is, in words a person understands."""

from __future__ import annotations

import os
from pathlib import Path


def available_bytes() -> int:
    """Memory that new data may take without swapping; a container's limit counts."""
    free = _linux_available() or _physical()
    limit = _container_room()
    return free if limit is None else min(free, limit)


def in_words(n_bytes: float) -> str:
    """A size for people.

    >>> in_words(123_456_789)
    '123 MB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 999.5:
            return f"{n_bytes:.0f} {unit}" if n_bytes >= 10 or unit == "bytes" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.1f} TB"


def _linux_available() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def _container_room() -> int | None:
    """What a container's limit leaves (cgroup v2)."""
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        if limit == "max":
            return None
        used = int((group / "memory.current").read_text())
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        reclaimable = int(statistics.get("inactive_file", 0))  # cached files give way
        return max(0, int(limit) - used + reclaimable)
    except (OSError, ValueError):
        return None


def _physical() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 1 << 62
