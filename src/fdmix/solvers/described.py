"""The solver that a model was fitted with, read from its provenance."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from fdmix.solvers.adam import Adam
from fdmix.solvers.contract import Solver
from fdmix.solvers.em import EM

KINDS: dict[str, type[Any]] = {"EM": EM, "Adam": Adam}


def solver_of(provenance: Mapping[str, Any]) -> Solver:
    """The solver that a provenance describes, such as "EM(sparsity=0.2, swaps=None)"; EM if it is unknown.

    >>> solver_of({"solver": "EM(sparsity=0.2, swaps=None)"})
    EM(sparsity=0.2, swaps=None)
    """
    try:
        call = ast.parse(str(provenance.get("solver")), mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in KINDS:
            settings = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}
            found: Solver = KINDS[call.func.id](**settings)
            return found
    except (SyntaxError, TypeError, ValueError):
        pass
    return EM()
