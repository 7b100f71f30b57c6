"""How long does it take to start: `import fdmix`, help, commands, and the first run of each, which compiles?

Start-up: the best of several processes, by the clock and in CPU seconds. First runs: each begins with an empty
cache of compiled loops; what it takes longer than the second run is compilation.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.recording import record

REPEATS = 7
COMMANDS = ("count", "fit", "topics", "report", "assign")  # those of the first steps
TOPICS = ["cat dog mouse bird fish", "stock bond market price share", "tree leaf forest wood root"]


def timed(code, environment=None):
    """(seconds, CPU seconds) of a new Python process that runs some code."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=environment)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best(code):
    timed(code)  # writes bytecode, and fills the cache of files
    walls, cpus = zip(*(timed(code) for _ in range(REPEATS)), strict=True)
    return min(walls), min(cpus)


def program(*arguments):
    """Code that runs the program."""
    shown = [str(argument) for argument in arguments]
    return f"import sys; sys.argv = ['fdmix', *{shown!r}]; from fdmix.cli import main; main()"


def startup():
    codes = {"python": "pass", "import fdmix": "import fdmix", "fdmix --help": program("--help")}
    codes |= {
        "import numpy": "import numpy",
        "import numba": "import numba",
        "import scipy.sparse": "import scipy.sparse",
    }
    codes |= {f"fdmix {name} --help": program(name, "--help") for name in COMMANDS}
    print("seconds   CPU  (best of several processes)")
    for name, code in codes.items():
        wall, cpu = best(code)
        record(name, seconds=wall, cpu_seconds=cpu)
        print(f"{wall:7.3f} {cpu:5.2f}  {name}", flush=True)


def commands(folder):
    """Commands on a small text, by name."""
    text, moments, model = (Path(folder) / name for name in ("text.txt", "m", "model"))
    words = [topic.split() for topic in TOPICS]
    text.write_text("\n".join(" ".join(words[n % 3][(n * k) % 5] for k in range(1, 9)) for n in range(600)))
    return {
        "count": ("count", text, "-o", moments, "--force"),
        "fit of moments": ("fit", moments, "--topics", 3, "-o", model, "--force"),
        "fit of text": ("fit", text, "--topics", 3, "-o", model, "--force"),
        "topics": ("topics", model),
        "assign": ("assign", model, text, "-o", Path(folder) / "t.csv", "--force"),
        "evaluate": ("evaluate", model, text),
        "report": ("report", model, "--documents", text, "-o", Path(folder) / "r.html", "--force"),
    }


def compilation():
    """First and second run of the commands; the difference is compilation."""
    print("\n first   CPU   again   CPU  command (seconds; each first run begins with an empty cache)")
    with tempfile.TemporaryDirectory() as folder:
        for name, command in commands(folder).items():
            with tempfile.TemporaryDirectory() as cache:
                environment = os.environ | {"NUMBA_CACHE_DIR": cache}
                (first, first_cpu), (again, again_cpu) = (timed(program(*command), environment) for _ in range(2))
            record(f"first {name}", seconds=first, cpu_seconds=first_cpu)
            record(f"second {name}", seconds=again, cpu_seconds=again_cpu)
            print(f"{first:6.1f} {first_cpu:5.1f} {again:7.1f} {again_cpu:5.1f}  {name}", flush=True)


def main():
    print(f"# startup\n{machine()}")
    startup()
    compilation()


if __name__ == "__main__":
    main()
