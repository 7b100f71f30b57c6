"""Topics and documents as tables of pandas, polars or Arrow. Plain columns in, a table of one of these out."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
LIBRARIES = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}  # the package of each, the preferred first
INSTALLED_BY = {"pandas": "'fdmix[frames]'", "polars": "polars", "arrow": "pyarrow"}


def as_frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """A table of these columns: arrays without missing values, or lists in which None is missing.

    library : "pandas", "polars" or "arrow"; None takes the first of these that is installed

    >>> as_frame({"topic": [0, 1], "word": ["ant", "bee"]}, "arrow").to_pydict()
    {'topic': [0, 1], 'word': ['ant', 'bee']}
    """
    if library is None:
        library = next(name for name, package in LIBRARIES.items() if _is_installed(package))
    if library not in LIBRARIES:
        raise ValueError(f"there is no library {library!r} of tables; there are {', '.join(LIBRARIES)}")
    try:
        package = import_module(LIBRARIES[library])
    except ImportError as missing:
        raise ImportError(
            f"this needs {LIBRARIES[library]}: pip install {INSTALLED_BY[library]}, or choose another library="
        ) from missing
    if library == "arrow":
        return package.table(dict(columns))
    if library == "polars":
        return package.DataFrame(dict(columns))
    return package.DataFrame({name: _with_missing(package, values) for name, values in columns.items()})


def word_columns(topics: Floats, shares: Floats, words: list[str], top: Any) -> dict[str, Any]:
    """A row for each topic and word of `top`, (T, n) columns in their order; words of probability 0 are left out."""
    probability = np.take_along_axis(topics, top, axis=1)
    topic, place = np.nonzero(probability)
    rank = np.arange(1, topic.size + 1) - np.searchsorted(topic, topic)  # without gaps where words are left out
    return {
        "topic": topic,
        "share": shares[topic],
        "rank": rank,
        "word": [words[u] for u in top[topic, place]],
        "probability": probability[topic, place],
    }


def topic_columns(
    shares: Floats, labels: list[str], words: list[list[str]], related: list[list[int]]
) -> dict[str, Any]:
    """A row for each topic."""
    return {"topic": np.arange(len(shares)), "share": shares, "label": labels, "words": words, "related": related}


def document_columns(theta: Floats, empty: Any, known: Any, labels: list[str]) -> dict[str, Any]:
    """A row for each document: its main topic, and the shares of all topics; no main topic where nothing is known."""
    main = [None if unknown else int(t) for t, unknown in zip(theta.argmax(axis=1), empty, strict=True)]
    shares = {f"topic_{t}": theta[:, t] for t in range(theta.shape[1])}
    return {
        "document": np.arange(len(theta)),
        "topic": main,
        "label": [None if t is None else labels[t] for t in main],
        "share": [None if t is None else float(theta[d, t]) for d, t in enumerate(main)],
        "known_words": np.asarray(known, np.int64),
        **shares,
    }


def _is_installed(package: str) -> bool:
    try:
        import_module(package)
    except ImportError:
        return False
    return True


def _with_missing(pandas: Any, values: Any) -> Any:
    """A list of whole numbers with gaps in pandas' own type for it, so that the numbers stay whole."""
    whole = isinstance(values, list) and None in values and all(type(value) in (int, type(None)) for value in values)
    return pandas.array(values, dtype="Int64") if whole else values
