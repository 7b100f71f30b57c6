"""Topics of documents as rows of a file, written as they come, under a temporary name until they are complete."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fdmix.cli.assign_parquet import ParquetRows
from fdmix.display import for_csv, for_json, for_terminal
from fdmix.mixture.assignment import Assignment
from fdmix.storage import replacing
from fdmix.storage.places import place_of

KINDS = (".parquet", ".csv", ".jsonl")
FORMS = ("main", "wide", "long")
NO_TOPIC = -1


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of the result, column by column.

    document : number of the document, counted from 0 over all inputs; known : tokens of it whose words the model has
    carried : columns of the input, by the name they have in the result
    topic, share : of the main topic, or of one topic in the long form; -1 and NaN where nothing is known
    theta : shares of all topics, in the wide form
    """

    document: Any
    carried: Mapping[str, list[Any]]
    topic: Any
    share: Any
    known: Any
    theta: Any = None

    def __len__(self) -> int:
        return len(self.document)


Write = Callable[[Rows], None]


@dataclass(frozen=True)
class Sheet:
    """What the columns of the result are.

    words : the top words of each topic; carried : names of the columns that come from the input
    form : "main" (a row for each document), "wide" (the same, and a column for each topic) or "long" (a row for each
        document and topic); min_share : smaller shares are 0, and have no row in the long form
    given : the labels that people gave to topics; they have a column if there are any, and name the wide columns
    """

    words: list[list[str]]
    carried: tuple[str, ...] = ()
    form: str = "main"
    min_share: float = 0.0
    given: Mapping[int, str] = field(default_factory=dict)
    labels: list[str] = field(init=False)

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ValueError(f"--form is {', '.join(FORMS[:-1])} or {FORMS[-1]}, not {self.form!r}")
        if not 0 <= self.min_share < 1:
            raise ValueError(f"--min-share is from 0 to below 1, not {self.min_share:g}")
        object.__setattr__(self, "labels", [", ".join(words) for words in self.words])

    @property
    def names(self) -> list[str]:
        """The names of all columns, in order."""
        wide = self.wide_names if self.form == "wide" else []
        label = ["label"] if self.given else []
        return ["document", *self.carried, "topic", *label, "words", "share", "known_words", *wide]

    @property
    def wide_names(self) -> list[str]:
        """The names of the wide form's columns: topic_3, or "topic_3 climate" if topic 3 has a label."""
        return [f"topic_{t} {self.given.get(t, '')}".rstrip() for t in range(len(self.words))]

    @property
    def none(self) -> Rows:
        """No rows at all."""
        whole = np.empty(0, np.int64)
        theta = np.empty((0, len(self.words))) if self.form == "wide" else None
        return Rows(whole, {name: [] for name in self.carried}, whole, np.empty(0), whole, theta)

    def rows(self, first: int, carried: Mapping[str, list[Any]], found: Assignment) -> Rows:
        """The rows of some documents, of which the first has this number."""
        theta, n_documents = found.theta, len(found.theta)
        main = theta.argmax(axis=1) if n_documents else np.empty(0, np.int64)
        listed = (theta >= self.min_share) & (theta > 0)
        listed[np.arange(n_documents), main] = True
        if self.form == "long":
            listed[found.empty] = False
            document, topic = np.nonzero(listed)
            order = np.lexsort((topic, -theta[document, topic], document))
            document, topic = document[order], topic[order]
            place = np.searchsorted(document, np.flatnonzero(found.empty))
            document = np.insert(document, place, np.flatnonzero(found.empty))
            topic = np.insert(topic, place, NO_TOPIC)
        else:
            document, topic = np.arange(n_documents), np.where(found.empty, NO_TOPIC, main)
        share = np.where(topic == NO_TOPIC, np.nan, theta[document, topic])
        repeated = {name: [values[d] for d in document.tolist()] for name, values in carried.items()}
        shares = np.where(found.empty[:, None], np.nan, np.where(listed, theta, 0)) if self.form == "wide" else None
        return Rows(first + document, repeated, topic, share, found.lengths[document], shares)


@contextmanager
def writer(path: str, sheet: Sheet, raw: bool = False) -> Iterator[Write]:
    """A function that appends rows to the file; "-" prints CSV.

    raw : write text in CSV as it is, also where a spreadsheet would take it for a formula
    """
    if path == "-":
        guard = _on_terminal if sys.stdout.isatty() else (_as_it_is if raw else for_csv)
        write = _csv(sys.stdout, sheet, guard)
        yield write
        write(sheet.none)
        return
    kind = place_of(path).suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"the name of the file to write must end in {', '.join(KINDS)}, not {path!r}")
    with replacing(path) as file:
        if kind == ".parquet":
            with ParquetRows(file) as rows:
                yield lambda some: rows.write(_typed(sheet, some))
                if rows.writer is None:  # a file without documents has its columns, too
                    rows.write(_typed(sheet, sheet.none))
            return
        text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="")
        write = _csv(text, sheet, _as_it_is if raw else for_csv) if kind == ".csv" else _json_lines(text, sheet)
        yield write
        write(sheet.none)
        text.flush()
        text.detach()


def _as_it_is(cell: Any) -> Any:
    return cell


def _on_terminal(cell: Any) -> Any:
    """For a terminal, which is not a spreadsheet but obeys control characters."""
    return for_terminal(cell, lines=True) if isinstance(cell, str) else cell


def _csv(file: Any, sheet: Sheet, guard: Callable[[Any], Any]) -> Write:
    """The header comes with the first rows: an input that cannot be read leaves nothing printed."""
    table = csv.writer(file)
    header = [[guard(name) for name in sheet.names]]
    labels = [guard(label) for label in sheet.labels]
    given = {topic: [guard(label)] for topic, label in sheet.given.items()}
    none = [""] if given else []

    def write(rows: Rows) -> None:
        if header:
            table.writerow(header.pop())
        carried = [[guard(_cell(value)) for value in values] for values in rows.carried.values()]
        for number, topic in enumerate(rows.topic.tolist()):
            label = given.get(topic, none)
            main = [topic, *label, labels[topic], _number(rows.share[number])]
            if topic == NO_TOPIC:
                main = ["", *none, "", ""]
            wide = [] if rows.theta is None else [_number(share) for share in rows.theta[number].tolist()]
            known = [rows.document[number], *(values[number] for values in carried)]
            table.writerow([*known, *main, rows.known[number], *wide])
        file.flush()

    return write


def _cell(value: Any) -> Any:
    """A value of the input as CSV has it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return for_json(value) if isinstance(value, dict | list | tuple) else value


def _number(share: float) -> str:
    return "" if np.isnan(share) else f"{share:.6g}"


def _json_lines(file: Any, sheet: Sheet) -> Write:
    def write(rows: Rows) -> None:
        for number, topic in enumerate(rows.topic.tolist()):
            row: dict[str, Any] = {"document": int(rows.document[number])}
            row |= {name: values[number] for name, values in rows.carried.items()}
            known = topic != NO_TOPIC
            row |= {"topic": topic if known else None}
            row |= {"label": sheet.given.get(topic)} if sheet.given else {}
            row |= {"words": sheet.words[topic] if known else None}
            row |= {"share": round(float(rows.share[number]), 6), "known_words": int(rows.known[number])}
            if rows.theta is not None:
                shares = rows.theta[number]
                row["topics"] = {str(t): round(float(shares[t]), 6) for t in np.flatnonzero(shares > 0)}
            file.write(for_json(row) + "\n")
        file.flush()

    return write


def _typed(sheet: Sheet, rows: Rows) -> dict[str, tuple[list[Any] | Any, str | None]]:
    """The columns with the types that Parquet gives them; None: as the values say."""
    topics = [None if topic == NO_TOPIC else topic for topic in rows.topic.tolist()]
    columns: dict[str, tuple[Any, str | None]] = {"document": (rows.document, "int64")}
    columns |= {name: (values, None) for name, values in rows.carried.items()}
    columns |= {
        "topic": (topics, "int64"),
        **({"label": ([sheet.given.get(topic) for topic in rows.topic.tolist()], "string")} if sheet.given else {}),
        "words": ([None if topic is None else sheet.labels[topic] for topic in topics], "string"),
        "share": (rows.share, "float64"),
        "known_words": (rows.known, "int64"),
    }
    if rows.theta is not None:
        columns |= {name: (rows.theta[:, t], "float64") for t, name in enumerate(sheet.wide_names)}
    return columns
