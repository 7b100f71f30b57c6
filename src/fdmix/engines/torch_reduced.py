"""PyTorch's engine with matrix products of fewer digits: faster on GPUs, at the price of slightly other topics.

Panels, P alpha, H alpha and P' H are products; listed pairs, likelihoods, sums and steps keep the precision of
`TorchEngine`. docs/how-to/gpu.md says what the difference was, and a test bounds it.
"""

from __future__ import annotations

from fdmix.engines.torch_engine import TorchEngine


class Tf32Engine(TorchEngine):
    """Products in TF32 (10 bits after the point) on NVIDIA's GPUs from Ampere on; elsewhere in float32."""

    precision = "tf32"


class Bfloat16Engine(TorchEngine):
    """Products of factors rounded to bfloat16 (7 bits after the point), on every device."""

    precision = "bfloat16"
