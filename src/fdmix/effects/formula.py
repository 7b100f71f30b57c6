"""Formulas over columns of documents: which columns they name, dates as numbers, and the design matrix."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fdmix.cells.calendar import BINS, bin_numbers
from fdmix.effects.margins import Floats

QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
# A name that is not called, not part of a dotted name, and not the name of an argument; or one between backticks.
COLUMN = re.compile(r"`([^`]+)`|(?<![\w.`])([^\W\d]\w*)(?!\w)(?!\s*[(.])(?!\s*=(?!=))")
CONSTANTS = {"True", "False", "None"}


def columns_of_formula(formula: str) -> tuple[str, ...]:
    """The columns that a formula names, in order.

    >>> columns_of_formula("~ C(party, contr.treatment('R')) * month(date) + poly(age, degree=2) + `home town`")
    ('party', 'date', 'age', 'home town')
    """
    refuse_left_side(formula)
    found = [quoted or plain for quoted, plain in COLUMN.findall(QUOTED.sub("", formula))]
    return tuple(name for name in dict.fromkeys(found) if name not in CONSTANTS)


def design_matrix(formula: str, columns: Any, n_documents: int) -> tuple[tuple[str, ...], Floats, Any]:
    """(names of the terms, design matrix, positions of the documents without a missing value).

    columns : a mapping or a data frame. In the formula, month(date) is the number of months since the first one;
        day, week, quarter and year are alike
    """
    try:
        import pandas as pd  # noqa: PLC0415
        from formulaic import model_matrix  # noqa: PLC0415
        from formulaic.errors import FormulaicError  # noqa: PLC0415
    except ImportError as missing:
        raise ImportError("effects() needs formulaic: pip install 'fdmix[effects]'") from missing
    given = {} if columns is None else columns
    values = {name: given[name] for name in (given if isinstance(given, Mapping) else given.columns)}
    for column in values.values():
        if len(column) != n_documents:
            raise ValueError(f"the columns have {len(column):,} rows for {n_documents:,} documents")
    frame = pd.DataFrame({str(name): _plain(column) for name, column in values.items()}, index=range(n_documents))
    refuse_left_side(formula)
    try:
        matrix = model_matrix(formula, frame, context={kind: _since_the_first(kind) for kind in BINS})
    except (FormulaicError, NameError, KeyError, SyntaxError) as error:
        known = ", ".join(map(repr, frame.columns)) or "none"
        why = str(error).split("\n", maxsplit=1)[0]  # what follows marks the place by colours of a terminal
        raise ValueError(f"the formula {formula!r} cannot be used: {why} (columns: {known})") from None
    return tuple(map(str, matrix.columns)), np.asarray(matrix, np.float64), np.asarray(matrix.index, np.int64)


def refuse_left_side(formula: str) -> None:
    """The left side stands for the topics, and is not written."""
    if "~" in formula and formula.split("~", maxsplit=1)[0].strip():
        raise ValueError("the left side of the formula is the topics: write only the right side, '~ party + month'")


def _since_the_first(kind: str) -> Callable[[Any], Any]:
    """The function of a formula that turns dates into numbers of bins since the first one; NaN where missing."""

    def since(dates: Any) -> Any:
        import pandas as pd  # noqa: PLC0415

        numbers = bin_numbers(list(dates), kind, str(getattr(dates, "name", "date")))
        first = min((n for n in numbers if n is not None), default=0)
        return pd.Series([np.nan if n is None else float(n - first) for n in numbers], index=dates.index)

    return since


def _plain(column: Any) -> Any:
    """A column for pandas: empty text is a missing value."""
    values = np.asarray(column)
    if values.dtype.kind not in "OUS":
        return values
    return [None if isinstance(value, str) and not value.strip() else value for value in values.tolist()]
