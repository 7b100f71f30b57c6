"""How large is fdmix with all that it needs, and how long do a newcomer's first steps take? In an empty environment.

`pip install`, the size of each package, then the commands of the first page on 4,000 tweets. Sizes are those of the
files that a package lists, without bytecode, which Python writes when it needs it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from benchmarks.data import data_file
from benchmarks.measure import machine
from benchmarks.recording import record

LISTED = """
import importlib.metadata, json
sizes = {}
for package in importlib.metadata.distributions():
    files = [file.locate() for file in package.files or () if not str(file).endswith(".pyc")]
    sizes[package.metadata["Name"].lower()] = sum(file.stat().st_size for file in files if file.exists())
print(json.dumps(sizes))
"""
GROUPS = {
    "llvmlite and numba": ("llvmlite", "numba"),
    "pyarrow": ("pyarrow",),
    "scipy": ("scipy",),
    "numpy": ("numpy",),
    "scikit-learn and joblib": ("scikit-learn", "joblib", "narwhals"),
    "fdmix": ("fdmix",),
}


def timed(*command, **options):
    """Seconds of a program that must not fail."""
    begin = time.perf_counter()
    subprocess.run([str(part) for part in command], check=True, capture_output=True, **options)
    return time.perf_counter() - begin


def first_steps(python, folder):
    """Fit and report of the first page, with all compilation, by the clock."""
    tweets = data_file("tweets.parquet")
    if tweets is None:
        return
    import pyarrow.csv
    import pyarrow.parquet as pq

    pyarrow.csv.write_csv(pq.read_table(tweets).slice(0, 4_000), folder / "tweets.csv")
    text = (folder / "tweets.csv", "--column", "text")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for name, command in (
        ("first fit", ("fit", *text, "--topics", 20, "-o", folder / "model")),
        ("first report", ("report", folder / "model", "--documents", *text, "-o", folder / "report.html")),
    ):
        seconds = timed(python, "-m", "fdmix", *command, cwd=folder, env=clean)
        record(name, seconds=seconds)
        print(f"{seconds:8.1f} s   {name}")


def main():
    print(f"# installed size and first steps\n{machine()}")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        root = Path(__file__).parents[1]
        took = timed(python, "-m", "pip", "install", "--no-compile", root)
        done = subprocess.run([python, "-c", LISTED], check=True, capture_output=True, text=True)
        first_steps(python, Path(folder))
    sizes = {name: size / 1e6 for name, size in json.loads(done.stdout).items() if name not in ("pip", "setuptools")}
    record("all", packages=len(sizes), megabytes=sum(sizes.values()), seconds=took)
    print(f"{len(sizes)} packages, {sum(sizes.values()):.0f} MB, installed in {took:.0f} s")
    grouped = set()
    for group, names in GROUPS.items():
        record(group, megabytes=sum(sizes.get(name, 0) for name in names))
        grouped |= set(names)
    record("others", megabytes=sum(size for name, size in sizes.items() if name not in grouped))
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{size:8.1f} MB  {name}")


if __name__ == "__main__":
    main()
