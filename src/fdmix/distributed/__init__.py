"""Count, assign and sample documents on a cluster, by Dask or Spark, with the same results as on one machine."""

from fdmix.distributed.assigning import Assigned, assign
from fdmix.distributed.counting import count_moments
from fdmix.distributed.partitions import ClusterError, PartitionError
from fdmix.distributed.sampling import sample

__all__ = ["Assigned", "ClusterError", "PartitionError", "assign", "count_moments", "sample"]
