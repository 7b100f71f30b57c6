"""Shares of topics in groups of documents, such as years or sections, with standard errors."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix.display import for_terminal
from fdmix.mixture.mixture import Mixture
from fdmix.text.layouts import Layout
from fdmix.text.notices import with_notices
from fdmix.text.recipe import recipe_like
from fdmix.text.sources import source_of
from fdmix.text.tokenising import Report, token_batches

GROUP = "group of the document"  # the column that carries the group through the batches
MAX_GROUPS = 60  # in the page; the smallest ones beyond that are left out
MAX_POINTS = 200  # the same for years and dates, which make a line


class GroupShares:
    """Means of theta for each value of a column, added up batch by batch."""

    def __init__(self, n_topics: int) -> None:
        self.n_topics = n_topics
        self.sums: dict[Any, Any] = {}  # by value: (documents, sum of theta, sum of theta^2)

    def add(self, theta: Any, values: list[Any]) -> None:
        """Add documents; one without a value or with NaN topics is left out."""
        groups: dict[Any, list[int]] = {}
        for place, value in enumerate(values):
            if not _is_missing(value):
                groups.setdefault(_as_key(value), []).append(place)
        for value, places in groups.items():
            rows = theta[places]
            rows = rows[~np.isnan(rows).any(axis=1)]
            n, total, squares = self.sums.get(value, (0, np.zeros(self.n_topics), np.zeros(self.n_topics)))
            self.sums[value] = n + len(rows), total + rows.sum(axis=0), squares + (rows**2).sum(axis=0)

    def facts(self, column: str) -> dict[str, Any] | None:
        """{"column", "ordered", "names", "documents", "shares", "errors"}; None if no document has a value."""
        known = {value: sums for value, sums in self.sums.items() if sums[0] > 0}
        if not known:
            return None
        ordered = all(isinstance(value, int | float) or _is_date(value) for value in known)
        largest = sorted(known, key=lambda value: -known[value][0])[: MAX_POINTS if ordered else MAX_GROUPS]
        names = sorted(largest, key=None if ordered and len({type(v) for v in largest}) == 1 else str)
        shares, errors = [], []
        for value in names:
            n, total, squares = known[value]
            mean = total / n
            variance = np.maximum(squares / n - mean**2, 0) * (n / max(n - 1, 1))
            shares.append([float(f"{x:.4g}") for x in mean])
            errors.append([float(f"{x:.2g}") for x in np.sqrt(variance / n)])
        return {
            "column": for_terminal(column),
            "ordered": ordered,
            "names": [for_terminal(str(value)) for value in names],
            "documents": [known[value][0] for value in names],
            "shares": shares,
            "errors": errors,
            "nLeftOut": len(known) - len(names),
        }


def group_shares(
    mixture: Mixture,
    documents: Any,
    by: str,
    *,
    layout: Layout | None = None,
    n_threads: int | None = None,
    report: Report | None = None,
) -> dict[str, Any]:
    """Mean shares of topics in the documents of each group, with standard errors: what `plots.topic_shares` draws.

    Documents are read once, batch by batch. Dates are grouped by month.

    documents : a table or files that have columns; by : the column of the groups
    layout : how the documents lie in files: column of the text, encoding

    >>> from fdmix import fit_documents, read_corpus
    >>> texts = ["Cats chase mice.", "Stocks fell today."] * 30
    >>> mixture = fit_documents(read_corpus(texts), 2).mixture
    >>> import pyarrow
    >>> table = pyarrow.table({"text": texts, "year": [2023, 2024] * 30})
    >>> group_shares(mixture, table, "year")["names"]
    ['2023', '2024']
    """
    layout = layout or Layout()
    source = source_of(documents, replace(layout, kept=(*layout.kept, (GROUP, by))))
    recipe = recipe_like(mixture, steps={"min_tokens": 0})
    groups = GroupShares(mixture.n_topics)
    for batch in with_notices(token_batches(source, recipe.cleaning, n_threads, report)):
        found = mixture.assignment(recipe.corpus([recipe.counts(batch)[0]]), "dirichlet", n_threads=n_threads)
        groups.add(np.where(found.empty[:, None], np.nan, found.theta), list(batch.kept[GROUP]))
    facts = groups.facts(by)
    if facts is None:
        raise ValueError(f"no document with a word of the model has a value in the column {by!r}")
    return facts


def groups_of_column(n_topics: int, name: str) -> tuple[GroupShares, Any]:
    """(empty groups, a function for `representatives(watch=...)` that fills them)."""
    groups = GroupShares(n_topics)

    def watch(theta: Any, kept: Mapping[str, list[Any]]) -> None:
        groups.add(theta, kept[name])

    return groups, watch


def _as_key(value: Any) -> Any:
    """Dates by month: a day has too few documents."""
    if isinstance(value, datetime.date):
        return f"{value.year:04}-{value.month:02}"
    return value if isinstance(value, str | int | float) else str(value)


def _is_date(value: Any) -> bool:
    return isinstance(value, str) and len(value) >= 4 and value[:4].isdigit() and set(value) <= set("0123456789-/.")


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))
