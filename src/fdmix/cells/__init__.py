"""Moments of groups of documents, such as months and parties: kept apart exactly, and added up at will."""

from fdmix.cells.moments_by_group import MomentsByGroup

__all__ = ["MomentsByGroup"]
