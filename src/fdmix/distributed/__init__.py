"""Count, assign and sample documents on a cluster, by Dask or Spark, with the same results as on one machine."""

from fdmix.distributed.counting import count_moments
from fdmix.distributed.partitions import ClusterError, PartitionError

__all__ = ["ClusterError", "PartitionError", "count_moments"]
