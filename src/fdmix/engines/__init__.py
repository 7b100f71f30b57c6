"""Engines do the arithmetic of a pass; solvers decide what to do with it."""

from __future__ import annotations

import scipy.sparse as sp

from fdmix.engines.contract import Engine, Expectation, State
from fdmix.engines.numba_engine import NumbaEngine
from fdmix.engines.numpy_engine import NumpyEngine

ENGINES: dict[str, type[Engine]] = {"numpy": NumpyEngine, "numba": NumbaEngine}

__all__ = ["ENGINES", "Engine", "Expectation", "State", "engine_for", "known_engine"]


def engine_for(name: str, mhat: sp.csr_array, n_topics: int, n_threads: int | None = None) -> Engine:
    """The engine of that name; "auto" is the fastest one that is installed."""
    return known_engine(name)(mhat, n_topics, n_threads)


def known_engine(name: str) -> type[Engine]:
    """The class of that name, or a clear error."""
    chosen = "numba" if name == "auto" else name
    if chosen not in ENGINES:
        raise ValueError(f"there is no engine {name!r}; there are auto, {', '.join(ENGINES)}")
    return ENGINES[chosen]
