"""Marks of tests that need PyTorch, a device with little memory, and counts of what is read from a device."""

import os
import re
import weakref
from collections import Counter
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

MISSING = find_spec("torch") is None and not os.environ.get("FDMIX_SKIP_NOTHING")
needs_torch = pytest.mark.skipif(MISSING, reason="PyTorch is not installed, so engine='torch' is not tested")
READING = ("item", "tolist", "cpu", "numpy", "__array__", "__bool__", "__float__", "__int__", "nonzero")
TORCH = pytest.param("torch", marks=[needs_torch, pytest.mark.slow])


def lacking(operations, device):
    """The operations that PyTorch does not have on a device, "CUDA" or "MPS", by the list that it is built from.

    operations : names as an OpOverload has them, such as "aten.max.dim"; other packages' operations are left out
    """
    import torchgen

    entries = (Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml").read_text("utf-8")
    known = {entry.partition("(")[0]: entry for entry in re.split(r"^- func: ", entries, flags=re.MULTILINE)[1:]}

    def there(name):
        entry = known[name]
        dispatch = re.search(r"^  dispatch:.*\n((?:    .*\n)+)", entry, re.MULTILINE)
        lines = re.findall(r"^    ([\w, ]+):", dispatch.group(1), re.MULTILINE) if dispatch else []
        keys = {key for line in lines for key in line.split(", ")}
        if "ufunc_inner_loop:" in entry:  # from which kernels for these are made
            keys |= {"CPU", "CUDA"}
        if device in keys or any(key.startswith("Composite") for key in keys):  # composite: made of other operations
            return True
        delegate = re.search(r"^  structured_delegate: (\S+)", entry, re.MULTILINE)
        return there(delegate.group(1)) if delegate else not keys

    names = {str(name).removeprefix("aten.").removesuffix(".default") for name in operations if "aten." in str(name)}
    return sorted(name for name in names if not there(name))


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


def pretended_draw(torch, device, uniform_share):
    """Draws among 900 pairs on a device without numbers."""
    from fdmix.solvers.torch_adam import DevicePairs

    draw = DevicePairs.__new__(DevicePairs)
    draw.torch, draw.device, draw.generator, draw.n_stored = torch, torch.device(device), None, 900
    draw.uniform_share = uniform_share
    draw.kept = torch.rand(900, device=device)
    draw.alias, draw.rows, draw.columns = (torch.zeros(900, dtype=torch.int32, device=device) for _ in range(3))
    draw.weight = torch.rand(900, device=device) if uniform_share else None
    return draw
