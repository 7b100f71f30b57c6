"""From documents on a cluster to partitions: which engine holds them, and what to install for it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fdmix.distributed.partitions import Partitions, Report
from fdmix.runtime.whole_numbers import whole_number

ENGINES = {"dask": ("DaskPartitions", "distributed"), "spark": ("SparkPartitions", "pyspark")}
SPLIT_EVERY = 8  # partial results that one task adds up: few levels, and little memory for a task


def engine_module(name: str) -> Any:
    """The module of an engine, imported when it is needed."""
    if name not in ENGINES:
        raise ValueError(f"there is no engine {name!r} for a cluster: there are {', '.join(ENGINES)}")
    try:
        return import_module(f"fdmix.distributed.{name}_partitions")
    except ModuleNotFoundError as missing:
        if str(missing.name).startswith("fdmix"):
            raise
        raise ImportError(f"engine {name!r} needs {ENGINES[name][1]}: pip install 'fdmix[{name}]'") from missing


def engine_of(documents: Any) -> str:
    """The engine whose object the documents are."""
    example = documents[0] if isinstance(documents, list | tuple) and documents else documents
    package = type(example).__module__.split(".")[0]
    if package in ("dask", "dask_expr", "distributed"):
        return "dask"
    if package == "pyspark":
        return "spark"
    raise TypeError(
        "documents on a cluster are a Dask bag, dataframe or list of delayed partitions, or a Spark DataFrame, not "
        f"{type(documents).__name__}: on one machine, use read_moments"
    )


def partitions_of(documents: Any, split_every: int = SPLIT_EVERY, report: Report | None = None) -> Partitions:
    """The partitions of documents, on the engine that holds them."""
    if isinstance(documents, Partitions):
        return documents
    name = engine_of(documents)
    kind = getattr(engine_module(name), ENGINES[name][0])
    partitions: Partitions = kind.of(documents, whole_number("split_every", split_every, least=2), report)
    return partitions
