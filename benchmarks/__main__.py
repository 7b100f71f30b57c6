"""Run all benchmarks, or those named: `python -m benchmarks moments`."""

import argparse
import importlib
import os

from benchmarks.recording import begin, save

NAMES = [
    "text", "moments", "memory", "passes", "recovery", "realistic", "family", "solvers", "assignment",
    "estimator", "cells", "torch", "torch_adam", "torch_parts", "torch_documents", "edits", "cluster", "large",
    "startup", "installed", "tree", "choosing", "coverage", "graphs", "vocabularies", "anchors",
    "slack", "weights", "shares", "pair_check", "regressions", "partials", "coverage_warm", "weaknesses", "support",
]  # fmt: skip

PARTS = ("FDMIX_PROBLEMS", "FDMIX_SIZES")  # variables that choose parts of a benchmark


def chosen_parts():
    """The variables of the command, such as `FDMIX_PROBLEMS=authors `."""
    return "".join(f"{name}={os.environ[name]} " for name in PARTS if name in os.environ)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--data", metavar="DIR", help="folder of the corpora (default: FDMIX_DATA)")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/NAME.json, for the pages")
    given = parser.parse_args()
    chosen = given.names or NAMES
    if unknown := set(chosen) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}")
    if given.data:
        os.environ["FDMIX_DATA"] = given.data  # also for the processes that measure memory
    for name in chosen:
        begin()
        importlib.import_module(f"benchmarks.{name}").main()
        if given.save:
            print(f"wrote {save(name, f'{chosen_parts()}python -m benchmarks {name} --save')}")
