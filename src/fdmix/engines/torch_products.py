"""Matrix products of a device: by its fastest library, in float32 or, if asked for, in TF32 or bfloat16.

On x86 CPUs, PyTorch multiplies float32 matrices by MKL, which uses half of the vector width of AMD's CPUs. oneDNN,
which comes with PyTorch, uses all of it: 260 against 118 GFlop/s on a core of an AMD EPYC (Zen 5). On Intel's CPUs
MKL is the faster one (benchmarks/torch_parts.py).
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

Product: TypeAlias = Callable[[Any, Any], Any]
PRECISIONS = ("float32", "tf32", "bfloat16")


def product_on(torch: Any, device: Any, precision: str = "float32") -> Product:
    """A function (left, right) -> left @ right for matrices of this device."""
    if precision == "bfloat16":
        return lambda left, right: (left.bfloat16() @ right.bfloat16()).to(left.dtype)
    if device.type == "cpu" and not _suits_mkl(torch) and has_onednn(torch):
        return by_onednn(torch)
    return torch.mm


def _suits_mkl(torch: Any) -> bool:
    """Whether PyTorch has MKL, and the CPU is one of Intel's."""
    described = Path("/proc/cpuinfo")
    text = described.read_text("utf-8") if described.exists() else platform.processor()
    return "GenuineIntel" in text and torch.backends.mkl.is_available()


def by_onednn(torch: Any) -> Product:
    """Products by oneDNN, of float32 matrices of the CPU."""
    linear = torch.ops.mkldnn._linear_pointwise

    def product(left: Any, right: Any) -> Any:
        if left.dtype != torch.float32:
            return torch.mm(left, right)
        return linear(left, right.T, None, "none", [], "")

    return product


def has_onednn(torch: Any) -> bool:
    """Whether oneDNN multiplies float32 matrices here; the operation has no public name, so it is tried out."""
    if not torch.backends.mkldnn.is_available() or torch.backends.cpu.get_cpu_capability() not in {"AVX2", "AVX512"}:
        return False
    left, right = torch.arange(6.0).view(2, 3), torch.arange(12.0).view(3, 4)
    try:
        found = torch.ops.mkldnn._linear_pointwise(left, right.T, None, "none", [], "")
    except (AttributeError, RuntimeError, TypeError):
        return False
    return bool(torch.equal(found, left @ right))


@contextmanager
def precision_of_products(torch: Any, precision: str) -> Iterator[None]:
    """PyTorch's own setting, within a pass: TF32 on GPUs that have it, or full float32.

    PyTorch has an older setting for all devices and a newer one for each (`fp32_precision`). A program that used the
    newer one may neither read nor change the older one any more.
    """
    try:
        before = torch.get_float32_matmul_precision()
    except RuntimeError:
        with _newer_setting(torch, "tf32" if precision == "tf32" else "ieee"):
            yield
        return
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextmanager
def _newer_setting(torch: Any, precision: str) -> Iterator[None]:
    places = torch.backends.cuda.matmul, torch.backends.mkldnn.matmul
    before = [place.fp32_precision for place in places]
    for place in places:
        place.fp32_precision = precision
    try:
        yield
    finally:
        for place, kept in zip(places, before, strict=True):
            place.fp32_precision = kept
