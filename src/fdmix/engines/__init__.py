"""Engines do the arithmetic of a pass over the pairs; solvers decide what to do with the result."""

from fdmix.engines.contract import Engine, Expectation, State
from fdmix.engines.registry import ENGINES, checked_engine, engine_for, known_engine

__all__ = ["ENGINES", "Engine", "Expectation", "State", "checked_engine", "engine_for", "known_engine"]
