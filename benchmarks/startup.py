"""How long `import fdmix`, the program's help and the import of each command take, in CPU seconds of a new process.

python -m benchmarks.startup             # start-up
python -m benchmarks.startup --compile   # and the first run of the commands, with an empty cache of compiled loops
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from fdmix.cli.commands import COMMANDS

REPEATS = 5
TOPICS = ["cat dog mouse bird fish", "stock bond market price share", "tree leaf forest wood root"]


def cpu_seconds(code, environment=None):
    """CPU seconds of a new Python process that runs some code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best(code):
    cpu_seconds(code)  # writes bytecode, and fills the cache of files
    return min(cpu_seconds(code) for _ in range(REPEATS))


def program(*arguments):
    """Code that runs the program."""
    shown = [str(argument) for argument in arguments]
    return f"import sys; sys.argv = ['fdmix', *{shown!r}]; from fdmix.cli import main; main()"


def startup():
    nothing = best("pass")
    rows = [
        ("python itself", nothing),
        ("import fdmix", best("import fdmix")),
        ("fdmix --help", best(program("--help"))),
    ]
    rows += [("import numpy", best("import numpy")), ("import numba", best("import numba"))]
    rows += [(f"fdmix {name} --help", best(program(name, "--help"))) for name in COMMANDS if name != "reproduce"]
    for name, seconds in rows:
        print(f"{seconds:6.2f} s  {name}")


def compilation():
    """First and second run of the commands on a small text; the difference is compilation."""
    print("\n first  again  command (CPU seconds; each begins with an empty cache)")
    with tempfile.TemporaryDirectory() as folder:
        text, moments, model = (Path(folder) / name for name in ("text.txt", "m", "model"))
        words = [topic.split() for topic in TOPICS]
        text.write_text("\n".join(" ".join(words[n % 3][(n * k) % 5] for k in range(1, 9)) for n in range(600)))
        commands = [
            ("count", text, "-o", moments, "--force"),
            ("fit", moments, "--topics", 3, "-o", model, "--force"),
            ("fit", text, "--topics", 3, "-o", model, "--force"),
            ("topics", model),
            ("assign", model, text, "-o", Path(folder) / "t.csv", "--force"),
            ("evaluate", model, text),
            ("report", model, "--documents", text, "-o", Path(folder) / "r.html", "--force"),
        ]
        for command in commands:
            with tempfile.TemporaryDirectory() as cache:
                environment = os.environ | {"NUMBA_CACHE_DIR": cache}
                first, again = (cpu_seconds(program(*command), environment) for _ in range(2))
            print(f"{first:6.1f} {again:6.1f}  {' '.join(Path(str(part)).name for part in command)}")


if __name__ == "__main__":
    startup()
    if "--compile" in sys.argv[1:]:
        compilation()
