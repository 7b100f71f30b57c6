"""The fitted model: topics, how they occur together, and the topics of documents."""

from fdmix.mixture.assignment import Assignment
from fdmix.mixture.mixture import Mixture

__all__ = ["Assignment", "Mixture"]
