"""Marks of tests that need PyTorch, a device with little memory, and counts of what is read from a device."""

import os
import weakref
from collections import Counter
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

MISSING = find_spec("torch") is None and not os.environ.get("FDMIX_SKIP_NOTHING")
needs_torch = pytest.mark.skipif(MISSING, reason="PyTorch is not installed, so engine='torch' is not tested")
READING = ("item", "tolist", "cpu", "numpy", "__array__", "__bool__", "__float__", "__int__", "nonzero")
TORCH = pytest.param("torch", marks=[needs_torch, pytest.mark.slow])


def engines(*names):
    """Names of engines as parameters of a test; "torch" is a slow one that may be missing."""
    return [TORCH if name == "torch" else name for name in names]


def small_memory(torch, limit=None):
    """A mode that adds up the memory of live tensors, and refuses to go beyond a limit, as a small device would."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class SmallMemory(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.users, self.live, self.peak = {}, 0, 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if "lift_fresh" not in str(function):  # a NumPy array of the host
                for tensor in tree_leaves(result):
                    if isinstance(tensor, torch.Tensor):
                        self.count(tensor)
            if limit is not None and self.live > limit:
                raise torch.OutOfMemoryError("out of memory, as a small device would be")
            return result

        def count(self, tensor):
            storage = tensor.untyped_storage()
            key, size = storage.data_ptr(), storage.nbytes()
            if self.users.get(key, 0) == 0:
                self.live += size
                self.peak = max(self.peak, self.live)
            self.users[key] = self.users.get(key, 0) + 1
            weakref.finalize(tensor, self.release, key, size)

        def release(self, key, size):
            self.users[key] -= 1
            if self.users[key] == 0:
                self.live -= size

        def upload(self, pairs):
            """Count pairs as the device's, though on the CPU they share the memory of the host's arrays."""
            held = pairs.buffers if pairs.streamed else map(vars, pairs.parts)
            for tensor in tree_leaves(list(held)):
                if isinstance(tensor, torch.Tensor):
                    self.count(tensor)

    return SmallMemory()


@contextmanager
def reads_counted():
    """How often each method that reads a tensor's numbers is called; a call within another one is not counted."""
    import torch

    counts, inside = Counter(), []

    def counted(name, method):
        def call(tensor, *args, **kwargs):
            if not inside:
                counts[name] += 1
            inside.append(name)
            try:
                return method(tensor, *args, **kwargs)
            finally:
                inside.pop()

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in READING:
            patch.setattr(torch.Tensor, name, counted(name, getattr(torch.Tensor, name)))
        yield counts
