"""RecoverL2, the recovery step of the anchor-word algorithm (Arora et al., ICML 2013)."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_fast as njit


@njit
def recover_l2(begin, end, gram, targets, squares, tolerance, max_rounds, shares):
    """shares[u] = argmin over the simplex of |q_u - C B|^2 = C gram C' - 2 C.targets[u] + |q_u|^2, begin <= u < end.

    By exponentiated gradient: the step doubles after a success and halves after a failure. A word is finished when
    the Frank-Wolfe gap C.grad - min(grad), which bounds the distance of the loss from its minimum, is at most the
    tolerance times |q_u|^2.
    """
    T = gram.shape[0]
    slope = np.empty(T)
    trial = np.empty(T)
    product = np.empty(T)
    for u in range(begin, end):
        C = shares[u]
        step = 1.0 / max(squares[u], 1e-300)
        for t in range(T):
            product[t] = 0.0
        for s in range(T):
            for t in range(T):
                product[t] += C[s] * gram[s, t]
        loss = 0.0
        for t in range(T):
            loss += C[t] * (product[t] - 2 * targets[u, t])
        for _ in range(max_rounds):
            mean = 0.0
            least = np.inf
            for t in range(T):
                slope[t] = 2 * (product[t] - targets[u, t])
                mean += C[t] * slope[t]
                least = min(least, slope[t])
            if mean - least <= tolerance * squares[u]:
                break
            improved = False
            for _ in range(60):
                total = 0.0
                for t in range(T):
                    trial[t] = C[t] * np.exp(max(-step * (slope[t] - least), -700.0))
                    total += trial[t]
                for t in range(T):
                    trial[t] /= total
                    product[t] = 0.0
                for s in range(T):
                    if trial[s] > 1e-12:
                        for t in range(T):
                            product[t] += trial[s] * gram[s, t]
                new = 0.0
                for t in range(T):
                    new += trial[t] * (product[t] - 2 * targets[u, t])
                if new < loss:
                    improved = True
                    break
                step /= 2
            if not improved:
                break
            for t in range(T):
                C[t] = trial[t]
            loss = new
            step *= 2
