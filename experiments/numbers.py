"""Numbers of README and docs, from the result files: `python -m experiments.numbers` puts them into the pages.

A number whose source is known is followed by a comment, which readers do not see:

    0.341<!-- paper/synthetic: FDM: l1 -->            the row "FDM" of results/paper/synthetic/result.json, its "l1"
    0.989<!-- paper/graphs: #2: NMI -->               the third row
    +0.13<!-- paper/papers: FDM - EP: NPMI -->        the difference of two rows; FDM / EP is their ratio
    31<!-- comparison/dblp: fdm-50: seconds -->       the mean of results/comparison/dblp/runs/fdm-50-*.json
    0.598<!-- adam/authors/paper: step 162000: l1 -->  a point of results/adam/authors/paper/curve.jsonl
    0.525<!-- adam/authors: settings: trace of the truth -->   what the experiment was run with
    0.02<!-- benchmarks/startup: import fdmix: seconds -->   a row of benchmarks/results/startup.json

The number is written with as many decimals as the page has. `unsourced_numbers.py` finds the numbers that have no
such comment and are not exempt by a rule; the tests check both.
"""

import json
import re
from functools import cache
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments" / "results"
BENCHMARKS = ROOT / "benchmarks" / "results"
NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?"
MARKED = re.compile(rf"({NUMBER})(\**)<!-- ([^:>]+): ([^:>]+): ([^>]+?) -->")


def pages():
    """The pages that may have numbers with a source."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text):
    """The page's text with the numbers of the result files.

    >>> filled("without numbers")
    'without numbers'
    """
    return MARKED.sub(_fill, text)


def value(source, row, key):
    """The number that a comment names; a sentence says what is missing."""
    for sign, result in ((" - ", lambda a, b: a - b), (" / ", lambda a, b: a / b)):
        if sign in row:
            return result(*(value(source, part, key) for part in row.split(sign)))
    if source.startswith("comparison/"):
        runs = sorted((RESULTS / source / "runs").glob(f"{row}-*.json"))
        if not runs:
            raise LookupError(f"{source} has no runs {row}")
        return mean(_loaded(path)[key] for path in runs)
    if row == "settings":
        return _loaded(RESULTS / source / "result.json")["settings"][key]
    rows = rows_of(source)
    chosen = [rows[int(row[1:])]] if row.startswith("#") else [one for one in rows if row in one.values()]
    if len(chosen) != 1 or key not in chosen[0]:
        raise LookupError(f"{source} has {len(chosen)} rows {row!r}, and {key!r} is wanted of one")
    return chosen[0][key]


def rows_of(source):
    """The rows of the result file of an experiment or a benchmark, or the points of a curve."""
    if source.startswith("benchmarks/"):
        return _loaded(BENCHMARKS / f"{source.removeprefix('benchmarks/')}.json")["rows"]
    curve = RESULTS / source / "curve.jsonl"
    if curve.exists():
        return [{"row": f"step {point['steps']}"} | point for point in _points(curve)]
    return _loaded(RESULTS / source / "result.json")["rows"]


def _fill(match):
    number, stars, *place = match.groups()
    sign, decimals = "+" if number[0] in "+-" else "", len(number.partition(".")[2])
    return f"{value(*place):{sign},.{decimals}f}{stars}<!-- {': '.join(place)} -->"


@cache
def _loaded(path):
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def _points(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main():
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = filled(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"changed {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
