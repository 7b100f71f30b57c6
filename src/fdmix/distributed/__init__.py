"""Count, assign, score and sample documents on a cluster, by Dask or Spark, as on one machine."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdmix.distributed.assigning import Assigned, assign
    from fdmix.distributed.counting import count_moments
    from fdmix.distributed.evaluating import evaluate, representatives
    from fdmix.distributed.partitions import ClusterError, PartitionError
    from fdmix.distributed.sampling import sample

__all__ = [
    "Assigned",
    "ClusterError",
    "PartitionError",
    "assign",
    "count_moments",
    "evaluate",
    "representatives",
    "sample",
]

# Where each name comes from. It is imported when it is asked for, because every worker imports what its tasks need.
_MODULES = {
    "Assigned": "assigning",
    "ClusterError": "partitions",
    "PartitionError": "partitions",
    "assign": "assigning",
    "count_moments": "counting",
    "evaluate": "evaluating",
    "representatives": "evaluating",
    "sample": "sampling",
}


def __getattr__(name: str) -> Any:
    """A public name, imported now."""
    if name not in _MODULES:
        raise AttributeError(f"module 'fdmix.distributed' has no attribute {name!r}")
    value = getattr(import_module(f"fdmix.distributed.{_MODULES[name]}"), name)
    globals()[name] = value  # the next time, Python finds it without this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
