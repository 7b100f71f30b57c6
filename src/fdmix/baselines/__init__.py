"""The paper's baselines, each in one call, each returning a Mixture."""

from fdmix.baselines.extreme_points import extreme_points
from fdmix.baselines.lda import lda

__all__ = ["extreme_points", "lda"]
