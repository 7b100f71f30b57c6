"""Rows of runs become one table: means and standard deviations over seeds, as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from fdmix.compare.scores import SCORES
from fdmix.storage import replacing

Row = dict[str, Any]
COMPARED = ("completion", "completion_own_prior", "npmi", "c_v", "c_npmi", "diversity", "nmi", "accuracy")
SPECIAL = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}"}


@dataclass(frozen=True)
class Summary:
    """A method with a number of topics: mean and standard deviation of each score over the seeds that succeeded.

    failed : why there is no score; spread : 0 for scores with a single value
    """

    method: str
    topics: int
    n_runs: int
    means: dict[str, float]
    spread: dict[str, float]
    failed: str | None


def summaries(rows: Iterable[Row]) -> list[Summary]:
    """One for each number of topics and method, in the order of the rows."""
    groups: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["topics"], row["method"]), []).append(row)
    return [_summary(method, topics, group) for (topics, method), group in groups.items()]


def _summary(method: str, topics: int, group: list[Row]) -> Summary:
    done = [row for row in group if "failed" not in row]
    failed = next((row["failed"] for row in group if "failed" in row), None)
    values = {name: [row[name] for row in done if _is_number(row.get(name))] for name in SCORES}
    means = {name: float(mean(found)) for name, found in values.items() if found}
    spread = {name: float(stdev(values[name])) if len(values[name]) > 1 else 0.0 for name in means}
    return Summary(method, topics, len(done), means, spread, failed)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def shown_scores(found: Sequence[Summary]) -> list[str]:
    """The scores that a table for people has: those that at least one method has a value of."""
    return [name for name, score in SCORES.items() if score.in_tables and any(name in one.means for one in found)]


def cell(one: Summary, name: str) -> str:
    """A mean, and its standard deviation if there are several runs."""
    if name not in one.means:
        return ""
    digits = SCORES[name].digits
    text = f"{one.means[name]:,.{digits}f}"
    return f"{text} ± {one.spread[name]:.{digits}f}" if one.n_runs > 1 else text


def best(found: Sequence[Summary], name: str, topics: int) -> set[str]:
    """The methods with the best mean of a score for this number of topics, as far as the digits shown tell."""
    score = SCORES[name]
    values = {
        one.method: round(one.means[name], score.digits)
        for one in found
        if one.topics == topics and name in one.means
    }
    if len(values) < 2:
        return set()
    top = min(values.values()) if score.less_is_better else max(values.values())
    return {method for method, value in values.items() if value == top}


def markdown(found: Sequence[Summary], names: Sequence[str] | None = None) -> str:
    """A Markdown table, the best of each number of topics in bold type; what failed is said below it.

    names : the scores to show, by default all that a method has
    """
    names = shown_scores(found) if names is None else [name for name in shown_scores(found) if name in names]
    lines = ["| topics | method | " + " | ".join(SCORES[name].title for name in names) + " |"]
    lines.append("|---:|---|" + "---:|" * len(names))
    for one in found:
        cells = [
            f"**{cell(one, name)}**" if one.method in best(found, name, one.topics) else cell(one, name)
            for name in names
        ]
        method = one.method if one.means else f"{one.method}: failed"
        lines.append(f"| {one.topics} | {method} | " + " | ".join(cells) + " |")
    notes = [f"- {note}" for note in failures(found)]
    return "\n".join([*lines, "", *notes, ""] if notes else [*lines, ""])


def paired_markdown(rows: Sequence[Row]) -> str:
    """A Markdown table of differences from the first method, mean and standard deviation over seeds.

    Both methods of a difference had the same documents to learn from and the same ones held out, so that differences
    vary less than the scores themselves. Empty without a second seed or a second method.
    """
    names = [name for name in COMPARED if any(name in row for row in rows)]
    lines: list[str] = []
    for topics in dict.fromkeys(row["topics"] for row in rows):
        group = [row for row in rows if row["topics"] == topics and "failed" not in row]
        methods = list(dict.fromkeys(row["method"] for row in group))
        for method in methods[1:]:
            differences = {name: _differences(group, methods[0], method, name) for name in names}
            cells = [_paired_cell(differences[name], SCORES[name].digits) for name in names]
            lines += [f"| {topics} | {method} - {methods[0]} | " + " | ".join(cells) + " |"] if any(cells) else []
    head = ["| topics | difference | " + " | ".join(SCORES[name].title for name in names) + " |"]
    return "\n".join([*head, "|---:|---|" + "---:|" * len(names), *lines, ""]) if lines else ""


def _differences(group: list[Row], first: str, other: str, name: str) -> list[float]:
    """Other method minus first, for each seed that both have."""
    by_seed = {(row["method"], row["seed"]): row[name] for row in group if _is_number(row.get(name))}
    seeds = sorted(seed for method, seed in by_seed if method == other and (first, seed) in by_seed)
    return [by_seed[other, seed] - by_seed[first, seed] for seed in seeds]


def _paired_cell(values: list[float], digits: int) -> str:
    return f"{mean(values):+.{digits}f} ± {stdev(values):.{digits}f}" if len(values) > 1 else ""


def latex(found: Sequence[Summary]) -> str:
    """A LaTeX tabular with the rules of booktabs; what failed is said in comments below it."""
    names = shown_scores(found)
    head = " & ".join(["topics", "method", *(_escaped(SCORES[name].title) for name in names)])
    lines = [r"\begin{tabular}{rl" + "r" * len(names) + "}", r"\toprule", head + r" \\"]
    topics = None
    for one in found:
        lines += [r"\midrule"] if one.topics != topics else []
        cells = [_latex_cell(one, name, one.method in best(found, name, one.topics)) for name in names]
        lines.append(
            " & ".join([str(one.topics) if one.topics != topics else "", _escaped(one.method), *cells]) + r" \\"
        )
        topics = one.topics
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {note}" for note in failures(found)), ""])


def _latex_cell(one: Summary, name: str, is_best: bool) -> str:
    if name not in one.means:
        return "--"
    digits = SCORES[name].digits
    text = f"{one.means[name]:.{digits}f}"
    text = rf"\mathbf{{{text}}}" if is_best else text
    return rf"${text} \pm {one.spread[name]:.{digits}f}$" if one.n_runs > 1 else f"${text}$"


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(character, character) for character in text)


def failures(found: Sequence[Summary]) -> list[str]:
    """A sentence for each method that failed, with the numbers of topics."""
    topics: dict[tuple[str, str], list[str]] = {}
    for one in found:
        if one.failed is not None:
            topics.setdefault((one.method, one.failed), []).append(str(one.topics))
    return [f"{method}, {' and '.join(numbers)} topics: {why}" for (method, why), numbers in topics.items()]


def runs_csv(rows: Sequence[Row]) -> str:
    """All runs, with all scores."""
    names = [name for name in SCORES if any(name in row for row in rows)]
    table = [{name: row.get(name, "") for name in ("topics", "method", "seed", *names, "failed")} for row in rows]
    return _csv(table)


def summary_csv(found: Sequence[Summary]) -> str:
    """Means and standard deviations."""
    names = [name for name in SCORES if any(name in one.means for one in found)]
    table = []
    for one in found:
        row: Row = {"topics": one.topics, "method": one.method, "runs": one.n_runs}
        for name in names:
            row |= {name: one.means.get(name, ""), f"{name}_sd": one.spread.get(name, "")}
        table.append(row | {"failed": one.failed or ""})
    return _csv(table)


def _csv(table: list[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]) if table else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def write_tables(folder: Path, rows: Sequence[Row]) -> list[Path]:
    """Write runs.csv, table.csv, table.md (with differences paired by seed) and table.tex."""
    found = summaries(rows)
    texts = {
        "runs.csv": runs_csv(rows),
        "table.csv": summary_csv(found),
        "table.md": "\n".join(part for part in (markdown(found), paired_markdown(rows)) if part),
        "table.tex": latex(found),
    }
    for name, text in texts.items():
        with replacing(folder / name) as file:
            file.write(text.encode())
    return [folder / name for name in texts]
