"""Partitions on Dask: a task for each partition and a tree of additions, run by whatever scheduler is active."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from uuid import uuid4

import dask
from dask.delayed import Delayed, delayed

from fdmix.distributed.engines import SPLIT_EVERY
from fdmix.distributed.partitions import (
    ClusterError,
    PartitionError,
    Partitions,
    Report,
    Task,
    Work,
    added,
    neighbours,
    versions,
)  # fmt: skip
from fdmix.runtime.threads import thread_count
from fdmix.text.layouts import known_column

log = logging.getLogger("fdmix")
CONNECT_SECONDS = 10
GONE = ("CommClosedError", "FutureCancelledError", "FuturesCancelledError", "TimeoutError")
IMPORTED_ONCE = ["distributed.nanny", "fdmix.distributed.counting", "pyarrow.parquet"]  # takes a second of CPU time
# Errors reach us without Dask's log. Its setting does not reach worker processes, so they get it as a variable.
WORKER_LOG = "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED"
ANY_PORT: dict[str, Any] = {"scheduler_kwargs": {"dashboard_address": ":0"}}  # or else Dask warns if 8787 is taken
LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"  # models and vocabularies are larger, on purpose


class DaskPartitions(Partitions):
    """Partitions that are `Delayed` objects.

    split_every : how many partial results one task adds up
    """

    def __init__(
        self, contents: Sequence[Delayed], split_every: int = SPLIT_EVERY, report: Report | None = None
    ) -> None:
        self.contents, self.split_every, self.report = list(contents), split_every, report

    @classmethod
    def of(
        cls, documents: Any, columns: Iterable[str], split_every: int = SPLIT_EVERY, report: Report | None = None
    ) -> DaskPartitions:
        """Of a bag, of the needed columns of a dataframe, of a series, or of a list of delayed partitions."""
        if isinstance(documents, Delayed):
            documents = [documents]
        if hasattr(documents, "columns"):
            names = [str(name) for name in documents.columns]
            documents = documents[list(dict.fromkeys(known_column(names, name, "the dataframe") for name in columns))]
        if isinstance(documents, list | tuple):
            documents = list(documents)
        elif hasattr(documents, "to_delayed"):
            documents = documents.to_delayed()
        if not isinstance(documents, list | tuple) or not all(isinstance(each, Delayed) for each in documents):
            raise TypeError("Dask counts a bag, a dataframe, a series or a list of delayed partitions")
        _require_fdmix(_client())
        return cls(documents, split_every, report)

    @contextmanager
    def kept(self, work: Work) -> Iterator[Partitions]:
        """The results as persisted tasks: Dask computes those again that a lost worker held."""
        with self._running("reading") as name:
            results = dask.persist(*self._tasks(Task(work), name))
            if _client() is not None:
                from distributed import wait  # noqa: PLC0415

                wait(results)
        yield DaskPartitions(results, self.split_every, self.report)

    def together(self, n_least: int) -> Partitions:
        """Lists of results that the same worker holds, so that nothing moves."""
        client = _client()
        if client is None:
            return DaskPartitions(_lists(self.contents, max(n_least, thread_count())), self.split_every, self.report)
        from distributed import futures_of  # noqa: PLC0415

        cores: dict[str, int] = client.ncores()
        held: dict[str, list[Delayed]] = {}
        who_has = client.who_has(futures_of(self.contents))
        for content in self.contents:
            holders = who_has.get(content.key) or ("",)  # its worker may have died: any other one computes it again
            held.setdefault(min(holders), []).append(content)
        n_groups = max(n_least, sum(cores.values()))
        groups = [
            group
            for contents in held.values()
            for group in _lists(contents, max(1, round(n_groups * len(contents) / len(self.contents))))
        ]
        return DaskPartitions(groups, self.split_every, self.report)

    def summed(self, work: Work, step: str, n_parts: int = 1) -> list[Any]:
        """A tree of additions for each part of the result."""
        if not self.contents:
            return []
        with self._running(step) as name:
            tasks = self._tasks(Task(work), name)
            trees = [self._tree([task[part] for task in tasks]) for part in range(n_parts)]
            return list(dask.compute(*trees))

    def listed(self, work: Callable[[int, Any], Any], step: str) -> list[Any]:
        """A task for each partition."""
        with self._running(step) as name:
            return list(dask.compute(*self._tasks(Task(work, takes_number=True), name)))

    def _tasks(self, task: Task, name: str) -> list[Delayed]:
        """The task on each partition. The task is in the graph once, so Dask can repeat it wherever it is lost."""
        shared = delayed(task, name=f"{name}-task", pure=False, traverse=False)
        return [
            delayed(_run, pure=False)(shared, number, content, name, dask_key_name=f"{name}-partition-{number}")
            for number, content in enumerate(self.contents)
        ]

    def _tree(self, summands: list[Delayed]) -> Delayed:
        adding = delayed(added, pure=False)
        while len(summands) > 1:
            summands = [adding(summands[n : n + self.split_every]) for n in range(0, len(summands), self.split_every)]
        return summands[0]

    @contextmanager
    def _running(self, step: str) -> Iterator[str]:
        """A name for the step's tasks; while they run, progress is reported, and errors say what to do."""
        name = f"fdmix-{step.replace(' ', '-')}-{uuid4().hex[:8]}"
        client = None if self.report is None else _client()
        done: set[int] = set()  # a task that is repeated tells again

        def tell(event: tuple[Any, int]) -> None:
            done.add(event[1])
            if self.report is not None:
                self.report(step, len(done), len(self.contents))

        if client is not None:
            client.subscribe_topic(name, tell)
        try:
            with dask.config.set({LARGE_GRAPH: "10GB"}):
                yield name
        except (PartitionError, ClusterError):
            raise
        except Exception as error:
            if (explained := _explained(error)) is None:
                raise
            raise explained from error
        finally:
            if client is not None:
                with suppress(Exception):
                    client.unsubscribe_topic(name)


@contextmanager
def running(
    address: str | None, contents: Sequence[Any], split_every: int, report: Report | None
) -> Iterator[DaskPartitions]:
    """Partitions with these contents on the scheduler at an address, or on a process for each core here."""
    from distributed import Client, LocalCluster  # noqa: PLC0415

    with ExitStack() as opened:
        cluster: Any = address
        if address is None:
            opened.enter_context(dask.config.set({"logging": {"distributed": "critical"}, WORKER_LOG: "critical"}))
            opened.enter_context(_copied_workers())
            cluster = opened.enter_context(
                LocalCluster(n_workers=thread_count(), threads_per_worker=1, dashboard_address=None, **ANY_PORT)
            )
        try:
            client = opened.enter_context(Client(cluster, timeout=CONNECT_SECONDS))
        except (OSError, ValueError) as error:
            raise ClusterError(f"there is no Dask scheduler at {address} ({_last_line(error)})") from error
        _require_fdmix(client)
        parts = [delayed(content, pure=False, traverse=False) for content in contents]
        yield DaskPartitions(parts, split_every, report)


@contextmanager
def _copied_workers() -> Iterator[None]:
    """Start worker processes as copies of one that has imported fdmix, where the system can do that safely."""
    if sys.platform != "linux":
        yield
        return
    from distributed.utils import get_mp_context  # noqa: PLC0415

    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context().set_forkserver_preload(IMPORTED_ONCE)
        yield


def _lists(contents: Sequence[Delayed], n_groups: int) -> list[Delayed]:
    """Neighbours together, as tasks that give lists."""
    return [delayed(list, pure=False)(group) for group in neighbours(contents, n_groups)]


def _run(task: Task, number: int, content: Any, topic: str) -> Any:
    """The task on a worker, which tells the client that the partition is done."""
    result = task(number, content)
    with suppress(ImportError, ValueError):  # without the distributed scheduler there is no worker to tell
        from distributed import get_worker  # noqa: PLC0415

        get_worker().log_event(topic, number)
    return result


def _client() -> Any:
    """The client of the distributed scheduler, if one is active."""
    try:
        from distributed import get_client  # noqa: PLC0415

        return get_client()
    except (ImportError, ValueError):
        return None


def _require_fdmix(client: Any) -> None:
    """Refuse a cluster without fdmix at once: a worker that cannot read its task would never answer.

    The question must not need fdmix itself, so it is an expression. Tasks compare versions again when they run, for
    workers that come later.
    """
    if client is None:
        return
    if not client.ncores():
        log.warning("the Dask scheduler has no workers yet: waiting for the first one (Ctrl-C stops)")
    asked = {"the scheduler": lambda *question: {"": client.run_on_scheduler(*question)}, "worker": client.run}
    for who, ask in asked.items():
        try:
            found = ask(eval, "__import__('fdmix.distributed').__version__")
        except ImportError as error:
            raise ClusterError(
                f"{who if who != 'worker' else 'a worker'} does not have this fdmix ({error}): install fdmix "
                f"{versions()['fdmix']} on the scheduler and on all workers"
            ) from error
        for address, there in found.items():
            if there != versions()["fdmix"]:
                raise ClusterError(
                    f"{f'{who} {address}'.strip()} has fdmix {there}, and this process has {versions()['fdmix']}: "
                    "install the same version everywhere, because counts of different versions do not add up"
                )


def _explained(error: Exception) -> ClusterError | None:
    """What a failure of the cluster means; None if the error is of another kind."""
    name = type(error).__name__
    if name == "KilledWorker":
        return ClusterError(
            f"several workers died while they worked on {getattr(error, 'task', 'a partition')}: they may need more "
            f"memory, or smaller partitions. Nothing was written ({_last_line(error)})"
        )
    if isinstance(error, CancelledError) or name in GONE:
        return ClusterError(
            f"the cluster went away ({name}: {_last_line(error)}). Nothing was written: repeat when it is back"
        )
    return None


def _last_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]
