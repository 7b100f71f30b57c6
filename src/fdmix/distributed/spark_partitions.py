"""Partitions on Spark: `mapInArrow` on the partitions of a DataFrame, and a tree of grouped additions.

Only the DataFrame API is used, so that Spark Connect works, too. Partial results are rows: which part, which node of
the tree, and the pickled value.
"""

from __future__ import annotations

import os
import pickle
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import StorageLevel, TaskContext, cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from fdmix.distributed.engines import SPLIT_EVERY
from fdmix.distributed.partitions import ClusterError, PartitionError, Partitions, Report, Task, Work, added, versions
from fdmix.text.layouts import known_column

ROWS = "part int, node int, data binary"
SCHEMA = pa.schema([("part", pa.int32()), ("node", pa.int32()), ("data", pa.binary())])
PIECE_BYTES = 1 << 26  # of kept tokens in one row: Spark's rows hold at most 2 GB
PROGRESS_SECONDS = 0.5
GROUP_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
OUR_ERROR = re.compile(r"fdmix\.distributed\.partitions\.(PartitionError|ClusterError): ([^\n]*)")
NO_FDMIX = re.compile(r"No module named '(fdmix[\w.]*)'")
# Here Java only starts tasks and passes bytes on. Without its second compiler and with the plain garbage collector,
# it takes half the CPU time (docs/how-to/cluster.md).
THRIFTY_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
GONE = ("SparkContext was shut down", "stopped SparkContext", "Connection refused", "UNAVAILABLE")


class SparkPartitions(Partitions):
    """The partitions of a DataFrame.

    content : how to read the rows of a partition: as a table of documents, by default
    """

    def __init__(
        self,
        frame: DataFrame,
        split_every: int = SPLIT_EVERY,
        report: Report | None = None,
        content: Callable[[list[pa.RecordBatch]], Any] = pa.Table.from_batches,
    ) -> None:
        self.frame, self.split_every, self.report, self.content = frame, split_every, report, content

    @classmethod
    def of(
        cls, documents: Any, columns: Iterable[str], split_every: int = SPLIT_EVERY, report: Report | None = None
    ) -> SparkPartitions:
        """Of the needed columns of a DataFrame."""
        if not hasattr(documents, "mapInArrow"):
            raise TypeError(f"Spark counts a DataFrame, not {type(documents).__name__}")
        wanted = dict.fromkeys(known_column(documents.columns, name, "the DataFrame") for name in columns)
        return cls(documents.select([col(_quoted(name)) for name in wanted]), split_every, report)

    @contextmanager
    def kept(self, work: Work) -> Iterator[Partitions]:
        """The results in Spark's cache, on disks where memory is full; Spark computes lost ones again."""
        with self._running("reading"):
            results = self.frame.mapInArrow(_Kept(Task(work), self.content), ROWS)
            results = results.persist(StorageLevel.MEMORY_AND_DISK)
            results.count()
        try:
            yield SparkPartitions(results, self.split_every, self.report, _unpickled)
        finally:
            with suppress(Exception):  # the cluster may be gone, and its cache with it
                results.unpersist()

    def together(self, n_least: int) -> Partitions:
        """By `coalesce`, which joins partitions of the same executor; Spark Connect does not tell how many fit."""
        spark = self.frame.sparkSession
        if not hasattr(spark, "_jsparkSession"):
            return SparkPartitions(self.frame, self.split_every, self.report, _all_unpickled)
        fewer = self.frame.coalesce(max(n_least, spark.sparkContext.defaultParallelism))
        return SparkPartitions(fewer, self.split_every, self.report, _all_unpickled)

    def summed(self, work: Work, step: str, n_parts: int = 1) -> list[Any]:
        """Rows of partial results, added up in groups until one row is left of each part."""
        with self._running(step):
            partial = self.frame.mapInArrow(_Parts(Task(work), self.content), ROWS)
            nodes = self._n_partitions()
            while nodes > self.split_every:
                nodes = -(-nodes // self.split_every)
                partial = partial.withColumn("node", (col("node") / self.split_every).cast("int"))
                partial = partial.groupBy("part", "node").applyInArrow(_added_rows, ROWS)
            partial = partial.groupBy("part").applyInArrow(_added_rows, ROWS)
            sums = {row["part"]: pickle.loads(bytes(row["data"])) for row in partial.toLocalIterator()}
        return [sums[part] for part in sorted(sums)]

    def listed(self, work: Callable[[int, Any], Any], step: str) -> list[Any]:
        """A row for each partition."""
        with self._running(step):
            task = Task(work, takes_number=True)
            rows = self.frame.mapInArrow(_Parts(task, self.content, whole=True), ROWS).collect()
        return [pickle.loads(bytes(row["data"])) for row in sorted(rows, key=lambda row: row["node"])]

    def _n_partitions(self) -> int:
        """The number of partitions; with Spark Connect, which does not tell, that of a shuffle."""
        try:
            return int(self.frame.rdd.getNumPartitions())
        except (AttributeError, PySparkException):
            return int(self.frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)

    @contextmanager
    def _running(self, step: str) -> Iterator[None]:
        """Progress reports while the block runs, and errors that say what to do."""
        try:
            with _progress(self.frame.sparkSession, step, self.report):
                yield
        except (PySparkException, Py4JError, ConnectionError) as error:
            if (explained := _explained(error)) is None:
                raise
            raise explained from error


@dataclass(frozen=True)
class _Parts:
    """The work on a worker: a row for each part of the result of a partition.

    whole : the result is one value, not a list of parts
    """

    task: Task
    content: Callable[[list[pa.RecordBatch]], Any]
    whole: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number = TaskContext.get().partitionId()
        result = self.task(number, _content(batches, self.content))
        for part, value in enumerate([result] if self.whole else result):
            yield _row(part, number, cloudpickle.dumps(value))


@dataclass(frozen=True)
class _Kept:
    """The work on a worker, whose result stays there: rows with pieces of it."""

    task: Task
    content: Callable[[list[pa.RecordBatch]], Any]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number = TaskContext.get().partitionId()
        data = cloudpickle.dumps(self.task(number, _content(batches, self.content)))
        for piece, begin in enumerate(range(0, len(data), PIECE_BYTES)):
            yield _row(piece, number, data[begin : begin + PIECE_BYTES])


def _content(batches: Iterator[pa.RecordBatch], content: Callable[[list[pa.RecordBatch]], Any]) -> Any:
    """What the rows of a partition hold; None without rows."""
    pieces = list(batches)
    return content(pieces) if pieces else None


def _unpickled(pieces: list[pa.RecordBatch]) -> Any:
    """The result of earlier work, whose pieces the rows are."""
    return pickle.loads(b"".join(value for piece in pieces for value in piece.column("data").to_pylist()))


def _all_unpickled(pieces: list[pa.RecordBatch]) -> list[Any]:
    """The results of earlier work for several partitions, in the order of their numbers."""
    found: dict[int, list[tuple[int, bytes]]] = {}
    for piece in pieces:
        for row in piece.to_pylist():
            found.setdefault(row["node"], []).append((row["part"], row["data"]))
    return [pickle.loads(b"".join(data for _, data in sorted(found[number]))) for number in sorted(found)]


@dataclass(frozen=True)
class _Listed:
    """The content whose number is the only row."""

    contents: Sequence[Any]

    def __call__(self, pieces: list[pa.RecordBatch]) -> Any:
        (number,) = (value for piece in pieces for value in piece.column("id").to_pylist())
        return self.contents[number]


@contextmanager
def running(
    address: str | None, contents: Sequence[Any], split_every: int, report: Report | None
) -> Iterator[SparkPartitions]:
    """Partitions with these contents on the Spark of a master or a Connect server, or on all cores here.

    A session that runs in this process already is used, and goes on running.
    """
    ours = (session := _running_session(address)) is None
    if address is None:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # otherwise Spark takes the first python3 of the path
    builder = SparkSession.builder.appName("fdmix").config("spark.ui.showConsoleProgress", "false")
    if address is not None and address.startswith("sc://"):
        builder = builder.remote(address)
    else:
        builder = builder.master(address or "local[*]")
    if address is None:
        builder = builder.config("spark.driver.extraJavaOptions", THRIFTY_JAVA)
        builder = builder.config("spark.log.level", "FATAL")  # errors reach us anyway
    try:
        spark = builder.getOrCreate() if session is None else session
    except (PySparkException, Py4JError, OSError) as error:
        raise ClusterError(f"there is no Spark at {address or 'this machine'} ({_first_line(error)})") from error
    try:
        numbers = spark.range(0, len(contents), 1, max(1, len(contents)))
        yield SparkPartitions(numbers, split_every, report, _Listed(contents))
    finally:
        if ours:
            spark.stop()


def _running_session(address: str | None) -> SparkSession | None:
    """The session of the caller, which must be at this address; Spark would ignore another one without a word."""
    try:
        session = SparkSession.active()
    except PySparkException:  # there is none
        return None
    if not hasattr(session, "_jsparkSession"):  # of Spark Connect
        return session
    if session.sparkContext._jsc is None:  # it was stopped
        return None
    master = session.sparkContext.master
    if address is not None and master != address:
        raise ClusterError(
            f"a session of Spark runs here already, at {master}, not at {address}: stop it first, or leave out the "
            "address to use it"
        )
    return session


def _added_rows(table: pa.Table) -> pa.Table:
    """One row with the sum of all rows of a group."""
    total = added([pickle.loads(value) for value in table.column("data").to_pylist()])
    part, node = (table.column(name)[0].as_py() for name in ("part", "node"))
    return pa.Table.from_batches([_row(part, node, cloudpickle.dumps(total))])


def _row(part: int, node: int, data: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"part": [part], "node": [node], "data": [data]}, schema=SCHEMA)


@contextmanager
def _progress(spark: SparkSession, step: str, report: Report | None) -> Iterator[None]:
    """Name the jobs in Spark's pages, and report tasks of the first stage. Spark Connect shows its own progress."""
    context = spark.sparkContext if hasattr(spark, "_jsparkSession") else None
    if report is None or context is None:
        yield
        return
    before = {name: context.getLocalProperty(name) for name in GROUP_PROPERTIES}
    group, finished = f"fdmix-{uuid4().hex}", threading.Event()
    context.setJobGroup(group, f"fdmix: {step}")
    thread = threading.Thread(target=_watch, args=(context, group, step, report, finished), daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()
        with suppress(Exception):  # the cluster may be gone, and what stopped the work says so
            for name, value in before.items():
                context.setLocalProperty(name, value)


def _watch(context: Any, group: str, step: str, report: Report, finished: threading.Event) -> None:
    """Look how many tasks are done, until all work is or Spark is gone, which the work itself tells of."""
    last = None
    with suppress(PySparkException, Py4JError, OSError, AttributeError):  # Spark may stop between two lines
        tracker = context.statusTracker()
        while not finished.wait(PROGRESS_SECONDS) and context._jsc is not None:
            jobs = [tracker.getJobInfo(job) for job in sorted(tracker.getJobIdsForGroup(group))]
            stages = sorted(stage for job in jobs if job is not None for stage in job.stageIds)
            info = tracker.getStageInfo(stages[0]) if stages else None
            if info is not None and (now := (info.numCompletedTasks, info.numTasks)) != last:
                last = now
                report(step, *now)


def _explained(error: Exception) -> Exception | None:
    """What a failure means, in our words; None if the error is of another kind."""
    text = str(error)
    if (ours := OUR_ERROR.search(text)) is not None:
        return (PartitionError if ours[1] == "PartitionError" else ClusterError)(ours[2])
    if (missing := NO_FDMIX.search(text)) is not None:
        return ClusterError(
            f"a worker does not have this fdmix (there is no {missing[1]}): install fdmix {versions()['fdmix']} on "
            "all executors"
        )
    if isinstance(error, ConnectionError) or any(sign in text for sign in GONE):
        return ClusterError(
            f"the cluster went away ({_first_line(error)}). Nothing was written: repeat when it is back"
        )
    return None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
