"""Compare topic models on the same documents: each fit in its own process, one evaluator for all."""

from fdmix.compare.comparison import Comparison, Settings
from fdmix.compare.documents import Documents
from fdmix.compare.methods import METHODS

__all__ = ["METHODS", "Comparison", "Documents", "Settings"]
