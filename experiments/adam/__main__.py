"""The paper's Adam, run until it settles: `python -m experiments.adam --minutes 4 --out results/adam`.

Each call goes on where the last one ended: the folder keeps a checkpoint and the curve of every run.
"""

import argparse
from pathlib import Path

from experiments.adam.problems import PROBLEMS, problem_of
from experiments.adam.run import RUNS, VARIANTS, continued
from experiments.adam.tables import write


def main():
    parser = argparse.ArgumentParser(prog="python -m experiments.adam", description=__doc__)
    parser.add_argument("--problem", choices=PROBLEMS, default="middle")
    parser.add_argument(
        "--runs",
        default=",".join(RUNS),
        help=f"any of {', '.join(RUNS)} (default: these) or of {', '.join(VARIANTS)}",
    )
    parser.add_argument("--minutes", type=float, default=1.0, help="for each run, in this call (default: 1)")
    parser.add_argument("--synthetic", type=Path, help="folder of `fdmix reproduce synthetic`, for --problem paper")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps")
    parser.add_argument("--threads", type=int, help="on the CPU (default: all cores)")
    parser.add_argument("--out", type=Path, default=Path("results/adam"))
    given = parser.parse_args()
    chosen = given.runs.split(",")
    if unknown := set(chosen) - set(RUNS | VARIANTS):
        parser.error(f"there is no run {', '.join(sorted(unknown))}; there are {', '.join(RUNS | VARIANTS)}")
    problem = problem_of(given.problem, given.synthetic)
    folder = given.out / given.problem
    for name in chosen:
        continued(name, problem, folder / name, 60 * given.minutes, given.device, given.threads)
        write(folder, problem)
    print(f"Wrote {folder / 'result.json'}")


if __name__ == "__main__":
    main()
