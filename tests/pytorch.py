"""Marks of tests that need PyTorch."""

import os
from importlib.util import find_spec

import pytest

MISSING = find_spec("torch") is None and not os.environ.get("FDMIX_SKIP_NOTHING")
needs_torch = pytest.mark.skipif(MISSING, reason="PyTorch is not installed, so engine='torch' is not tested")
TORCH = pytest.param("torch", marks=[needs_torch, pytest.mark.slow])


def engines(*names):
    """Names of engines as parameters of a test; "torch" is a slow one that may be missing."""
    return [TORCH if name == "torch" else name for name in names]
