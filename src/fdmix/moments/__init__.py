"""The co-occurrence moments of a corpus: what topics are fitted to."""

from fdmix.moments.moments import Moments
from fdmix.moments.weighted import WeightedMoments

__all__ = ["Moments", "WeightedMoments"]
