"""A tree of topics: which ones merge first, and what likelihood each merge costs."""

from fdmix.tree.growing import grow_tree
from fdmix.tree.tree import Tree

__all__ = ["Tree", "grow_tree"]
