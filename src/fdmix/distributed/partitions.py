"""Documents in partitions on a cluster: what every engine can do with them, and the task that runs on a worker.

Tasks are pure: a task reads one partition and returns a value. It changes nothing outside. The engine uses one
returned value for each partition, whatever it repeats, so no partition counts twice and none is lost.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import fdmix
from fdmix.runtime.threads import one_thread

Work = Callable[[Any], Any]  # from the content of one partition, None if it has no documents
Report = Callable[[str, int, int | None], Any]  # a progress report: name of the step, partitions done, all partitions


class PartitionError(ValueError):
    """The work on one partition failed. The message names the partition."""


class ClusterError(OSError):
    """The cluster cannot do the work: it went away, its workers died, or they have another fdmix."""


def versions() -> dict[str, str]:
    """What must be the same on all machines, because counts depend on it."""
    return {
        "fdmix": fdmix.__version__,
        "Unicode tables (of Python)": unicodedata.unidata_version,
        "PyStemmer": version("pystemmer"),
    }


@dataclass(frozen=True)
class Task:
    """Work for one partition, as it runs on a worker: it refuses other versions, and its errors name the partition.

    takes_number : whether the work is called with the number of the partition and its content, or the content alone
    """

    work: Callable[..., Any]
    takes_number: bool = False
    wanted: dict[str, str] = field(default_factory=versions)

    def __call__(self, number: int, content: Any) -> Any:
        """The result for partition `number`."""
        here = versions()
        for name, version_there in self.wanted.items():
            if here[name] != version_there:
                raise ClusterError(
                    f"a worker has {name} {here[name]}, and this process has {version_there}: install the same "
                    "version everywhere, because counts of different versions do not add up"
                )
        try:
            with one_thread():
                return self.work(number, content) if self.takes_number else self.work(content)
        except Exception as error:
            raise PartitionError(f"partition {number}: {str(error) or type(error).__name__}") from error


def added(summands: Sequence[Any]) -> Any:
    """The sum: in one round if the type can do that (`sum_of`), or else pairwise.

    Adding one by one would copy the growing sum for every summand.
    """
    summands = list(summands)
    with one_thread():
        if len(summands) > 1 and hasattr(summands[0], "sum_of"):
            return summands[0].sum_of(summands)
        while len(summands) > 1:
            summands = [
                summands[n] + summands[n + 1] if n + 1 < len(summands) else summands[n]
                for n in range(0, len(summands), 2)
            ]
    return summands[0]


def neighbours(items: Sequence[Any], n_groups: int) -> list[list[Any]]:
    """The items in at most n_groups lists of about equal length, in their order.

    >>> neighbours("abcde", 2)
    [['a', 'b'], ['c', 'd', 'e']]
    """
    n_groups = max(1, min(n_groups, len(items)))
    edges = [len(items) * k // n_groups for k in range(n_groups + 1)]
    return [list(items[begin:end]) for begin, end in pairwise(edges) if end > begin]


class Partitions(ABC):
    """Documents, or what tasks made of them, on the workers of a cluster."""

    @abstractmethod
    def kept(self, work: Work) -> AbstractContextManager[Partitions]:
        """The results of `work` for all partitions, which stay on the workers while the context is open."""

    @abstractmethod
    def together(self, n_least: int) -> Partitions:
        """Fewer partitions with the same contents, each a list of several: as many as tasks run at once, or n_least.

        Only for what is kept on the workers. Larger partitions share more word pairs, so less is sent and added.
        """

    @abstractmethod
    def summed(self, work: Work, step: str, n_parts: int = 1) -> list[Any]:
        """The sum over partitions of each part of the result of `work`, added up on the workers in a tree.

        work : gives a list of `n_parts` values that can be added
        step : what to call it in progress reports
        """

    @abstractmethod
    def listed(self, work: Callable[[int, Any], Any], step: str) -> list[Any]:
        """The small results of `work(number, content)`, in the order of the partitions."""


class LocalPartitions(Partitions):
    """Partitions in a list, one after the other in this process: the plain twin that engines are compared with."""

    def __init__(self, contents: Sequence[Any]) -> None:
        self.contents = contents

    def kept(self, work: Work) -> AbstractContextManager[Partitions]:
        """All results, in a list."""
        task = Task(work)
        return nullcontext(LocalPartitions([task(number, content) for number, content in enumerate(self.contents)]))

    def together(self, n_least: int) -> Partitions:
        """Lists of neighbours."""
        return LocalPartitions(neighbours(self.contents, n_least))

    def summed(self, work: Work, step: str, n_parts: int = 1) -> list[Any]:
        """One addition after the other."""
        task = Task(work)
        results = [task(number, content) for number, content in enumerate(self.contents)]
        return [added(parts) for parts in zip(*results, strict=True)]

    def listed(self, work: Callable[[int, Any], Any], step: str) -> list[Any]:
        """One after the other."""
        task = Task(work, takes_number=True)
        return [task(number, content) for number, content in enumerate(self.contents)]
