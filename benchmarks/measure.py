"""Time and peak memory of a call, and a description of the machine."""

import os
import platform
import subprocess
import sys
import time
from pathlib import Path


def seconds(work, repeats=3):
    """The best wall time of several calls, and the last result."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - begin)
    return best, result


def peak_megabytes(code):
    """Peak memory of `measured()` over what was there before it, in a process of its own.

    `code` prepares the input and defines `measured`; Linux's high-water mark is reset in between.
    """
    script = (
        f"{code}\nfrom benchmarks.measure import reset_peak, peak, resident\n"
        "reset_peak(); before = resident(); result = measured(); print(peak() - before)"
    )
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root)
    return float(done.stdout.split()[-1])


def reset_peak():
    Path("/proc/self/clear_refs").write_text("5")


def peak():
    return _status("VmHWM")


def resident():
    return _status("VmRSS")


def machine():
    """One line that says where the numbers come from."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    name = names[0].split(":")[1].strip() if names else platform.processor()
    return f"{name}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, {platform.system()}"


def _status(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise LookupError(field)
