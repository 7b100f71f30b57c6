"""Topics of documents as the rows of a table: which columns there are, and what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fdmix.mixture.assignment import Assignment

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


def typed_columns(sheet: Sheet, rows: Rows) -> dict[str, tuple[Any, str | None]]:
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
