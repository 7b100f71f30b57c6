"""Time and peak memory of a call, and a description of the machine."""

import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

from fdmix.runtime.threads import thread_count


def seconds(work, repeats=3):
    """(seconds, result): the best wall time of several calls, and the last result."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - begin)
    return best, result


def peak_megabytes(code):
    """Megabytes that `measured()` takes at its peak, over the memory in use before it, in a separate process.

    `code` prepares the input and defines `measured`. Linux's high-water mark is reset in between.
    """
    script = (
        f"{code}\nfrom benchmarks.measure import reset_peak, peak, resident\n"
        "reset_peak(); before = resident(); result = measured(); print(peak() - before)"
    )
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root)
    return float(done.stdout.split()[-1])


def reset_peak():
    """Reset the peak of this process to its present memory; does nothing on other systems than Linux."""
    path = Path("/proc/self/clear_refs")
    if path.exists():
        path.write_text("5")


def peak():
    """Megabytes at the peak since `reset_peak`; on other systems than Linux, since the process began."""
    if Path("/proc/self/status").exists():
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def resident():
    return _status("VmRSS")


def machine():
    """One line that names the processor, cores, Python and system."""
    described = Path("/proc/cpuinfo")
    names = (
        [line for line in described.read_text().splitlines() if "model name" in line] if described.exists() else []
    )
    name = names[0].split(":")[1].strip() if names else platform.processor()
    return f"{name}, {thread_count()} cores, Python {platform.python_version()}, {platform.system()}"


def _status(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise LookupError(field)
