"""Where PyTorch computes: the device that the user names, or the best that there is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

AUTO = "auto"  # CUDA where there is one, then Apple's MPS, then the CPU
NO_MEMORY = (  # in the messages of PyTorch's errors: of CUDA and MPS, of the CPU, and of CUDA's matrix products
    "out of memory", "can't allocate memory", "not enough memory", "CUBLAS_STATUS_ALLOC_FAILED",
)  # fmt: skip


def torch_package() -> Any:
    """The package torch, or an ImportError that says how to install it."""
    try:
        import torch  # noqa: PLC0415
    except ImportError as missing:
        raise ImportError("engine='torch' needs PyTorch: pip install 'fdmix[torch]'") from missing
    return torch


def torch_device(name: str = AUTO) -> torch.device:
    """The device of this name: "auto", "cpu", "mps", "cuda" or "cuda:1".

    Raises ValueError, in words, for a name that PyTorch does not know and for a device that is not there.
    """
    torch = torch_package()
    if name == AUTO:
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(
            f"there is no device {name!r}; there are auto, cpu, mps, cuda, cuda:0, cuda:1, ..."
        ) from None
    if device.type == "cuda":
        _check_cuda(torch, name, device.index or 0)
    elif device.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError("this machine has no MPS device (a GPU of Apple's); use device='cpu' or 'auto'")
    elif device.type not in {"cpu", "mps"}:
        raise ValueError(f"fdmix computes on cpu, mps and cuda, not on {device.type!r}")
    return device


def device_in_words(name: str = AUTO) -> str:
    """Where PyTorch computes with this name, for people, who may not know that "auto" finds no GPU."""
    device = torch_device(name)
    if device.type == "cuda":
        return f"PyTorch computes on {device}."
    if device.type == "mps":
        return "PyTorch computes on Apple's GPU (MPS)."
    return "PyTorch computes on the CPU" + (": it finds no GPU." if name == AUTO else ".")


@contextmanager
def threads_of_operations(torch: Any, n_threads: int) -> Iterator[None]:
    """Each operation of PyTorch on the CPU takes this many threads, until the program's own number is restored."""
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether PyTorch ran out of memory: CUDA has an exception for it, other devices only a message."""
    return any(words in str(error) for words in NO_MEMORY)


def _check_cuda(torch: Any, name: str, index: int) -> None:
    if torch.version.cuda is None and torch.version.hip is None:
        raise ValueError(
            f"device {name!r} needs a PyTorch with CUDA, but the installed one ({torch.__version__}) has none; "
            "see https://pytorch.org for one, or use device='cpu'"
        )
    found = torch.cuda.device_count()
    if found == 0:
        raise ValueError(f"device {name!r} was asked for, but PyTorch finds no CUDA device; use device='cpu'")
    if index >= found:
        raise ValueError(f"device {name!r} was asked for, but there are only cuda:0 to cuda:{found - 1}")
