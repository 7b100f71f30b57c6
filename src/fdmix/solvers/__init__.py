"""Solvers: each improves a state step by step; the loop in `fdmix.fit.fitting` knows nothing else about them."""

from fdmix.solvers.adam import Adam
from fdmix.solvers.contract import Problem, Run, Solver
from fdmix.solvers.em import EM

SOLVERS: dict[str, type[Solver]] = {"em": EM, "adam": Adam}

__all__ = ["EM", "SOLVERS", "Adam", "Problem", "Run", "Solver"]
