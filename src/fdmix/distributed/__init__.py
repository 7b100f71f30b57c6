"""Count, assign, score and sample documents on a cluster, by Dask or Spark, as on one machine."""

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
