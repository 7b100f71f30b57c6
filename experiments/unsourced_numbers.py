"""Numbers of README and docs without a source or a reason: `python -m experiments.unsourced_numbers` lists them.

What counts as a number: one with decimals, one with a unit of time, memory or share, and a cell of a table that holds
nothing else. Code, addresses and the versions of packages do not count. A number is accounted for in one of four
ways:

- a comment behind it names its result file (`numbers.py`);
- `<!-- given -->` behind it says that it is no measurement of ours: a setting, a definition, a number of the paper.
  `<!-- no result file -->` says that it is one, and that nothing was kept but the number. Alone on a line, either
  comment stands for the paragraph, list or table below it, and may end with a reason: `<!-- given: options -->`;
- a section begins with a sentence in italics, `*History: ...*`, which tells readers when and with what its numbers
  were measured. It stands for all of the section, or, below the title, for all of the page;
- the page is one of GENERATED: a script writes all of it, and a test compares.
"""

import re

from experiments.numbers import ROOT, pages

GENERATED = {"docs/evidence/comparison_results.md": "tests/compare/test_comparison_page.py"}
UNITS = "%|s|ms|us|ns|seconds?|minutes?|hours?|days?|[kMGT]B|bytes|GFlop/s|times|CPU"
PACKAGES = (
    "Python|NumPy|SciPy|numba|scikit-learn|tomotopy|gensim|MALLET|BERTopic|Spark|PySpark|Dask|torch|PyTorch|CUDA|typer|Sphinx|"
    "pyLDAvis|Chromium|Firefox|version|fdmix|Java|pandas|polars|pip|Arrow|pyarrow"
)
FIGURE = r"[+-]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
SOURCED = re.compile(rf"{FIGURE}\**<!-- [^>]* -->")  # a number with a comment of any kind
COUNTED = re.compile(
    rf"(?<![\w.,^/-])(?:[+-]?\d[\d,]*\.\d+(?:e-?\d+)?|{FIGURE}(?=[ -](?:CPU )?(?:{UNITS})(?!\w)| %))(?!\.?\w)"
)
# What the head of a column says if its whole numbers are measurements.
MEASURED = re.compile(r"\b(seconds|time|s|ms|us|MB|GB|missed|passes|CPU|ratio|bytes|steps|peak)\b")
VERSION = re.compile(rf"\b(?:{PACKAGES})(?:'s)? (?:from )?\d+(?:\.\d+)+(?: (?:to|and|or) \d+(?:\.\d+)+)*")
SETTING = re.compile(
    r"\barXiv[ :][\d.]+|\bDir\([^)]*\)|\b(?:beta|eta|lambda|rate|tolerance|sparsity)(?: =| of)? [\d.]+(?:e-?\d+)?"
)
NOT_PROSE = re.compile(r"`[^`]*`|\]\([^)]*\)|https?://\S+|<!--.*?-->")
BLOCK_COMMENT = re.compile(r"^<!-- (?:given|no result file)(?::[^>]*)? -->$")
HISTORY = re.compile(r"^\*History: .*")


def unsourced(text):
    """The numbers of a page that have neither a source nor a reason, each with its line.

    >>> unsourced("It takes 3.2 s, or 5<!-- benchmarks/text: all: seconds --> s, on Python 3.11; `--share 0.5`.")
    [(1, '3.2')]
    """
    found, heads = [], []
    for number, line in _counted_lines(text):
        plain = SETTING.sub("", VERSION.sub("", NOT_PROSE.sub("", SOURCED.sub("", line))))
        found += [(number, match.group()) for match in COUNTED.finditer(plain)]
        cells = [cell.strip(" *") for cell in plain.strip("| ").split("|")] if plain.startswith("|") else []
        heads = (heads or cells) if cells else []  # the first row of a table
        found += [
            (number, cell)
            for head, cell in zip(heads, cells, strict=False)
            if MEASURED.search(head) and re.fullmatch(r"\d[\d,]*", cell)
        ]
    return found


def _counted_lines(text):
    """(number, line) of the lines that are not code and not exempt."""
    exempt_below, in_fence, exempt_block, after_heading, level = None, False, False, False, 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_fence = not in_fence
            continue
        if in_fence:
            continue
        if heading := re.match(r"^(#+) ", line):
            level = len(heading.group(1))
            if exempt_below is not None and level <= exempt_below:
                exempt_below = None
            after_heading = True
        elif line.strip():
            if after_heading and HISTORY.match(line) and exempt_below is None:
                exempt_below = level
            after_heading = False
        if not line.strip():
            exempt_block = False
        elif BLOCK_COMMENT.match(line.strip()):
            exempt_block = True
        elif exempt_below is None and not exempt_block and not line.startswith("    "):
            yield number, line


def is_checked(page):
    """Whether every number of a page needs a source or a reason."""
    name = page.relative_to(ROOT).as_posix()
    return name not in GENERATED


def main():
    total = 0
    for page in pages():
        found = [] if not is_checked(page) else unsourced(page.read_text(encoding="utf-8"))
        total += len(found)
        for number, figure in found:
            print(f"{page.relative_to(ROOT)}:{number}: {figure}")
    print(f"{total} numbers have neither a source nor a reason")


if __name__ == "__main__":
    main()
