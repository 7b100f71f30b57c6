"""Solvers improve a mixture pass by pass. The loop around them is in `fdmix.fit`."""

from fdmix.solvers.adam import Adam
from fdmix.solvers.contract import Problem, Run, Solver
from fdmix.solvers.em import EM

SOLVERS: dict[str, type[Solver]] = {"em": EM, "adam": Adam}

__all__ = ["EM", "SOLVERS", "Adam", "Problem", "Run", "Solver"]
