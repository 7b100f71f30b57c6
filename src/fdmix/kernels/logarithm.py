"""A vectorised logarithm, which numba does not have."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_fast as njit

F = np.float32
TINY = F(1e-35)  # smallest M: keeps ratios and logarithms finite for pairs that no topics explain
LN2 = 0.6931471805599453


@njit
def weighted_log(x, bits, mant, mantf, expo):
    """sum_j x[j] log(m[j]), where bits[j] holds the bits of the float32 m[j] > 0.

    m = 2^e f with f in [sqrt(1/2), sqrt(2)), and log f = 2 atanh((f - 1) / (f + 1)) by its series (error below 1e-9).
    `mant` and `mantf` are two views of one scratch row; `expo` is another.
    """
    for j in range(x.size):
        b = np.uint32(bits[j]) + np.uint32(0x3F800000 - 0x3F3504F3)
        expo[j] = F(np.int32(np.uint32(b) >> np.uint32(23)) - np.int32(127))
        mant[j] = np.uint32(np.uint32(b) & np.uint32(0x007FFFFF)) + np.uint32(0x3F3504F3)
    total = 0.0
    for j in range(x.size):
        f = mantf[j]
        s = (f - F(1)) / (f + F(1))
        z = s * s
        p = s * (F(2) + z * (F(2 / 3) + z * (F(2 / 5) + z * (F(2 / 7) + z * F(2 / 9)))))
        total += np.float64(x[j]) * (np.float64(expo[j]) * LN2 + np.float64(p))
    return total
