"""The files that every experiment writes: result.json, table.csv, figures, and the page of all results."""

from __future__ import annotations

import csv
import io
import json
import platform
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.measure import machine

from fdmix.storage import replacing

PACKAGES = ("fdmix", "numpy", "scipy", "numba", "tomotopy", "scikit-learn")


@dataclass
class Results:
    """The results of one experiment in its folder.

    rows : the table, one dictionary a row; verdict : how the result agrees with the paper, in one or two sentences
    complete : False while methods are missing; the next run continues
    """

    folder: Path
    title: str
    scale: str
    settings: dict
    rows: list = field(default_factory=list)
    verdict: str = ""
    figures: list = field(default_factory=list)
    complete: bool = True

    def write(self):
        """Write result.json and table.csv; `add_figure` writes the figures."""
        self.folder.mkdir(parents=True, exist_ok=True)
        facts = {
            "title": self.title,
            "scale": self.scale,
            "complete": self.complete,
            "machine": machine(),
            "python": platform.python_version(),
            "versions": {name: _version(name) for name in PACKAGES},
            "settings": self.settings,
            "rows": self.rows,
            "verdict": self.verdict,
            "figures": [name for name, _ in self.figures],
            "captions": dict(self.figures),
        }
        _write(self.folder / "result.json", json.dumps(facts, indent=1, default=float))
        table = io.StringIO()
        writer = csv.DictWriter(table, _columns(self.rows), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        _write(self.folder / "table.csv", table.getvalue())

    def add_figure(self, name, caption, figure):
        """Write a figure as name.png and name.svg."""
        from fdmix.plots import save_figure

        self.folder.mkdir(parents=True, exist_ok=True)
        for suffix in ("png", "svg"):
            save_figure(figure, self.folder / f"{name}.{suffix}")
        self.figures = [*[f for f in self.figures if f[0] != name], (name, caption)]

    def draw(self, name, caption, plot):
        """Write the figure that plot(axes) draws, in the style of all figures."""
        from fdmix.plots.style import COLUMN, drawing

        with drawing(None, 1.4 * COLUMN, COLUMN) as axes:
            plot(axes)
            self.add_figure(name, caption, axes.figure)


def finished(folder, scale, peers=()):
    """Whether the experiment was completed at this scale, with these peers if it has peers."""
    path = Path(folder) / "result.json"
    if not path.is_file():
        return False
    facts = json.loads(path.read_text())
    methods = {row.get("method") for row in facts["rows"]}
    names = {str(name).split(",")[0] for name in methods}  # "MALLET, 10 alpha" is MALLET
    missing = set(peers) - names if names & {"tomotopy", "SparseLDA"} else ()
    return facts.get("scale") == scale and facts.get("complete", True) and not missing


def write_page(out):
    """Write results.md and results.html from all result.json below `out`."""
    out.mkdir(parents=True, exist_ok=True)
    parts = [json.loads(path.read_text()) | {"name": path.parent.name} for path in sorted(out.glob("*/result.json"))]
    lines = ["# The paper's experiments, and ours", ""]
    for part in parts:
        lines += [f"## {part['title']}", "", _circumstances(part), ""]
        lines += [*_table(part["rows"]), "", part["verdict"], ""]
        for name in part["figures"]:
            lines += [f"![{part['captions'][name]}]({part['name']}/{name}.png)", ""]
    text = "\n".join(lines)
    _write(out / "results.md", text)
    _write(out / "results.html", _html(parts))
    return out / "results.md"


def _circumstances(part):
    unfinished = "" if part.get("complete", True) else " Not finished: some methods are missing."
    return f"Scale: {part['scale']}. {part['machine']}.{unfinished}"


def shown(value):
    """A number as a table shows it."""
    if value is None or value == "":
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else str(value)


def _table(rows):
    columns = _columns(rows)
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(shown(row.get(column)) for column in columns) + " |"


def _html(parts):
    from html import escape

    body = ["<h1>The paper's experiments, and ours</h1>"]
    for part in parts:
        columns = _columns(part["rows"])
        head = "".join(f"<th>{escape(column)}</th>" for column in columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(shown(row.get(column)))}</td>" for column in columns) + "</tr>"
            for row in part["rows"]
        )
        body.append(f"<h2>{escape(part['title'])}</h2><p>{escape(_circumstances(part))}</p>")
        body.append(f"<table><tr>{head}</tr>{rows}</table><p>{escape(part['verdict'])}</p>")
        for name in part["figures"]:
            caption = escape(part["captions"][name])
            body.append(
                f'<figure><img src="{part["name"]}/{name}.svg" alt="{caption}"><figcaption>{caption}</figcaption>'
            )
            body.append("</figure>")
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
        "table{border-collapse:collapse}td,th{padding:.2em .8em;border-bottom:1px solid #ccc;text-align:left}"
        "img{max-width:100%}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>fdmix: results</title><style>{style}</style>'
        f"{''.join(body)}</html>"
    )


def _columns(rows):
    return list(dict.fromkeys(name for row in rows for name in row))


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _write(path, text):
    with replacing(path) as file:
        file.write(text.encode())
