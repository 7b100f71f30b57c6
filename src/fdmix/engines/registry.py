"""Engines by name. The module of an engine is imported when the engine is first asked for.

To add an engine, add a line to `ENGINES` and, if it needs a package that fdmix does not require, an optional
dependency of the same name to pyproject.toml.
"""

from __future__ import annotations

from importlib import import_module

import scipy.sparse as sp

from fdmix.engines.contract import Engine
from fdmix.moments.pair_matrix import PairMatrix
from fdmix.runtime.devices import AUTO as ANY_DEVICE
from fdmix.runtime.devices import torch_device

ENGINES = {  # name -> "module:class"
    "numpy": "fdmix.engines.numpy_engine:NumpyEngine",
    "numba": "fdmix.engines.numba_engine:NumbaEngine",
    "torch": "fdmix.engines.torch_engine:TorchEngine",
}
REDUCED = {  # engines whose matrix products have fewer digits, so that topics differ slightly (docs/how-to/gpu.md)
    "torch-tf32": "fdmix.engines.torch_reduced:Tf32Engine",
    "torch-bfloat16": "fdmix.engines.torch_reduced:Bfloat16Engine",
}
WITH_DEVICES = {"torch", *REDUCED}  # engines that compute on the device that the user names
AUTO = "numba"  # the engine that "auto" stands for: the fastest one on CPUs (docs/evidence/performance.md)


def engine_for(
    name: str,
    mhat: PairMatrix | sp.csr_array,
    n_topics: int,
    n_threads: int | None = None,
    device: str = ANY_DEVICE,
) -> Engine:
    """An engine of the given name for these pairs, ready for passes; "auto" picks the fastest one on CPUs.

    device : where the engines "torch..." compute: "auto", "cpu", "cuda", "cuda:1" or "mps"
    """
    kind = checked_engine(name, device)
    return kind(mhat, n_topics, n_threads, **({"device": device} if name in WITH_DEVICES else {}))


def checked_engine(name: str, device: str = ANY_DEVICE) -> type[Engine]:
    """The class of the engine, as `known_engine` gives it.

    Raises ValueError also for a device that is not there, and for one that goes with another engine.
    """
    kind = known_engine(name)
    if name in WITH_DEVICES:
        torch_device(device)
    elif device != ANY_DEVICE:
        raise ValueError(f"device={device!r} goes with engine='torch'; engine={name!r} computes on the CPU")
    return kind


def known_engine(name: str) -> type[Engine]:
    """The class of the engine with this name.

    Raises ValueError for an unknown name, and ImportError if the engine needs a package that is not installed.
    """
    chosen, known = AUTO if name == "auto" else name, ENGINES | REDUCED
    if chosen not in known:
        raise ValueError(f"there is no engine {name!r}; there are auto, {', '.join(known)}")
    module, _, class_name = known[chosen].partition(":")
    try:
        found: type[Engine] = getattr(import_module(module), class_name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] == "fdmix":  # a mistake in fdmix itself, not a missing package
            raise
        raise ImportError(
            f"engine={chosen!r} needs the package {missing.name}: pip install 'fdmix[{chosen.partition('-')[0]}]'"
        ) from missing
    return found
