"""The numbers of a benchmark as rows of a file that the pages cite: `python -m benchmarks NAME --save`."""

import importlib.metadata
import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "tomotopy", "torch")
_rows = []
_load = 0.0


def record(row, **numbers):
    """Remember a row: what was measured, and its numbers by name."""
    _rows.append({"row": row} | {name: _plain(value) for name, value in numbers.items()})


def begin():
    """Forget all rows, and look at what else the machine does: a benchmark begins."""
    global _load  # noqa: PLW0603
    _rows.clear()
    _load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def save(name, command):
    """Write the rows since `begin`; the path of the file, or None if there are none."""
    from benchmarks.measure import machine

    if not _rows:
        return None
    facts = {
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "load": round(_load, 1),  # of the minute before; above 0, other work shared the machine
        "versions": {"python": platform.python_version()} | _versions(),
        "rows": list(_rows),
    }
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return path


def _plain(value):
    """A number as JSON has it, with six digits: more are noise, and would fill the history of the file."""
    if isinstance(value, str) or value is None:
        return value
    return int(value) if float(value).is_integer() else float(f"{float(value):.6g}")


def _versions():
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
