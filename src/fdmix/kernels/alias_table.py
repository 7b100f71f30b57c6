"""Tables that draw from a distribution over many items in constant time (Walker's alias method)."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit


@njit
def fill_alias_table(chance, kept, alias):
    """Fill kept and alias so that drawing i uniformly, and alias[i] instead with 1 - kept[i], draws i ~ chance.

    n chance[i] = kept[i] + sum over j with alias[j] = i of (1 - kept[j]). `chance` sums to 1 and is overwritten.
    The arithmetic is in float64. Items are paired in Vose's order, so that rounding errors stay small.
    """
    n = chance.size
    waiting = np.empty(n, np.int64)  # items below the mean from the left end, all others from the right end
    small, large = 0, n
    for i in range(n):
        chance[i] *= n
        if chance[i] < 1.0:
            waiting[small] = i
            small += 1
        else:
            large -= 1
            waiting[large] = i
    while small > 0 and large < n:
        small -= 1
        i, j = waiting[small], waiting[large]
        kept[i] = chance[i]
        alias[i] = j
        chance[j] -= 1.0 - chance[i]
        if chance[j] < 1.0:
            large += 1
            waiting[small] = j
            small += 1
    for k in range(small):  # what is left has the chance 1 but for rounding
        kept[waiting[k]] = 1.0
        alias[waiting[k]] = waiting[k]
    for k in range(large, n):
        kept[waiting[k]] = 1.0
        alias[waiting[k]] = waiting[k]
