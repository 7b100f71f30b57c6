"""Engines are found by name and imported late."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from fdmix.engines import ENGINES, Engine, engine_for, known_engine
from fdmix.engines.numba_engine import NumbaEngine
from fdmix.engines.numpy_engine import NumpyEngine

MHAT = sp.csr_array(np.full((2, 2), 0.25))


def test_every_registered_name_gives_an_engine():
    assert set(ENGINES) == {"numpy", "numba", "torch"}
    for name in ("numpy", "numba"):
        assert isinstance(engine_for(name, MHAT, 1), Engine)
    assert known_engine("numpy") is NumpyEngine


def test_auto_is_the_compiled_engine():
    assert known_engine("auto") is NumbaEngine


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="there is no engine 'cuda'; there are auto, numpy, numba"):
        known_engine("cuda")


def test_modules_are_imported_when_an_engine_is_asked_for():
    """In a fresh process, because this one has imported them already."""
    code = """
import sys
from fdmix.engines import known_engine
modules = {"fdmix.engines.numpy_engine", "fdmix.engines.numba_engine"}
assert not modules & set(sys.modules)
known_engine("numpy")
assert modules & set(sys.modules) == {"fdmix.engines.numpy_engine"}
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch, tmp_path):
    (tmp_path / "engine_of_the_future.py").write_text("import a_package_that_is_not_installed")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(ENGINES, "future", "engine_of_the_future:Engine")
    with pytest.raises(ImportError, match=r"needs the package a_package_that_is_not_installed: .*'fdmix\[future\]'"):
        known_engine("future")


def test_a_mistake_inside_fdmix_is_not_taken_for_a_missing_package(monkeypatch):
    monkeypatch.setitem(ENGINES, "broken", "fdmix.engines.nowhere:Engine")
    with pytest.raises(ModuleNotFoundError, match=r"fdmix\.engines\.nowhere"):
        known_engine("broken")
