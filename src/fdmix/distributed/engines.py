"""From documents on a cluster to partitions: which engine holds them, and what to install for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from fdmix.distributed.file_parts import parts_of
from fdmix.distributed.partitions import Partitions, Report
from fdmix.runtime.whole_numbers import whole_number
from fdmix.text.layouts import Layout
from fdmix.text.sources import Files, source_of

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


def partitions_of(
    documents: Any, columns: Iterable[str], split_every: int = SPLIT_EVERY, report: Report | None = None
) -> Partitions:
    """The partitions of documents, on the engine that holds them; of tables, only these columns are read."""
    if isinstance(documents, Partitions):
        return documents
    name = engine_of(documents)
    kind = getattr(engine_module(name), ENGINES[name][0])
    partitions: Partitions = kind.of(documents, columns, whole_number("split_every", split_every, least=2), report)
    return partitions


@contextmanager
def opened(
    documents: Any,
    layout: Layout,
    *,
    engine: str | None = None,
    cluster: str | None = None,
    split_every: int = SPLIT_EVERY,
    report: Report | None = None,
) -> Iterator[Partitions]:
    """The partitions of documents on a cluster, or of files that its workers can read.

    engine : for files: "dask" or "spark"
    cluster : the address of a scheduler or a master, for files; by default processes of this machine
    """
    if engine is None:
        if cluster is not None:
            raise ValueError("say which engine runs the cluster: engine='dask' or engine='spark'")
        columns = [layout.column or "text", *(column for _, column in layout.kept)]
        yield partitions_of(documents, columns, split_every, report)
        return
    module = engine_module(engine)
    files = source_of(documents, layout)
    if not isinstance(files, Files):
        raise TypeError("with engine=, documents are files: give names of files or folders")
    parts = parts_of(files, layout.kept)
    with module.running(cluster, parts, whole_number("split_every", split_every, least=2), report) as partitions:
        yield partitions
