"""How sure the topics are: refits on resampled documents, and whether word pairs look like the mixture."""

from fdmix.reliability.intervals import reliability
from fdmix.reliability.pair_check import check_pairs

__all__ = ["check_pairs", "reliability"]
