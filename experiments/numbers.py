"""Numbers of README and docs, from the result files: `python -m experiments.numbers` puts them into the pages.

A number whose source is known is followed by a comment, which readers do not see:

    0.341<!-- paper/synthetic: FDM: l1 -->        the row "FDM" of results/paper/synthetic/result.json, its "l1"
    0.989<!-- paper/graphs: #2: NMI -->           the third row
    +0.13<!-- paper/papers: FDM - EP: NPMI -->    the difference of two rows
    31<!-- comparison/dblp: fdm-50: seconds -->   the mean of results/comparison/dblp/runs/fdm-50-*.json

The number is written with as many decimals as the page has. On the pages of COVERED, every number with three decimals
has such a comment, or `<!-- no result file -->`; the tests check both.
"""

import json
import re
from functools import cache
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments" / "results"
COVERED = (
    "README.md",
    "docs/evidence/reproduction.md",
    *(f"docs/evidence/experiments/{name}.md" for name in ("consistency", "graphs", "heldout", "matrix", "synthetic")),
)
NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?"
MARKED = re.compile(rf"({NUMBER})(\**)<!-- ([^:>]+): ([^:>]+): ([^>]+?) -->")
BARE = re.compile(r"-?\d+\.\d{3,}(?!\d*\**<!-- )(?![\d%])")


def pages():
    """The pages that may have numbers with a source."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text):
    """The page's text with the numbers of the result files.

    >>> filled("without numbers")
    'without numbers'
    """
    return MARKED.sub(_fill, text)


def without_source(text):
    """The numbers with three decimals or more that have no source.

    >>> without_source("0.123 and 4.567<!-- paper/graphs: #0: NMI -->, 0.66")
    ['0.123']
    """
    return BARE.findall(text)


def value(source, row, key):
    """The number that a comment names; a sentence says what is missing."""
    if " - " in row:
        ours, theirs = row.split(" - ")
        return value(source, ours, key) - value(source, theirs, key)
    if source.startswith("comparison/"):
        runs = sorted((RESULTS / source / "runs").glob(f"{row}-*.json"))
        if not runs:
            raise LookupError(f"{source} has no runs {row}")
        return mean(_loaded(path)[key] for path in runs)
    rows = _loaded(RESULTS / source / "result.json")["rows"]
    chosen = [rows[int(row[1:])]] if row.startswith("#") else [one for one in rows if row in one.values()]
    if len(chosen) != 1 or key not in chosen[0]:
        raise LookupError(f"{source} has {len(chosen)} rows {row!r}, and {key!r} is wanted of one")
    return chosen[0][key]


def _fill(match):
    number, stars, *place = match.groups()
    sign, decimals = "+" if number[0] in "+-" else "", len(number.partition(".")[2])
    return f"{value(*place):{sign},.{decimals}f}{stars}<!-- {': '.join(place)} -->"


@cache
def _loaded(path):
    return json.loads(path.read_text(encoding="utf-8"))


def main():
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = filled(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"changed {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
