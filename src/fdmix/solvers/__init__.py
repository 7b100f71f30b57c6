"""Solvers: each improves a state step by step; the loop in `fdmix.fit` knows nothing else about them."""

from fdmix.solvers.adam import Adam
from fdmix.solvers.em import EM
from fdmix.solvers.solver import Problem, Run, Solver

SOLVERS: dict[str, type[Solver]] = {"em": EM, "adam": Adam}

__all__ = ["EM", "SOLVERS", "Adam", "Problem", "Run", "Solver"]
