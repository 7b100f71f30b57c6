"""RecoverL2 and RecoverKL, the recovery steps of the anchor-word algorithm (Arora et al., ICML 2013)."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_fast as njit

F = np.float32
SMALLEST = F(1e-20)
GROWTH = 1.3  # of the power; 1.1 takes a third more rounds at 500 topics
LARGEST_POWER = 30.0
ROUNDING = 1e-7  # of a likelihood in float32


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


@njit
def recover_kl(begin, end, indptr, indices, rows, basis, tolerance, max_rounds, shares, gaps):
    """shares[u] = argmax over the simplex of sum_v q_u(v) log m(v),  m = C basis',  q_u = row u, begin <= u < end.

    By EM, C <- C g^p normalised, with g_t = sum_v q_u(v) basis[v, t] / m(v). The power p grows by GROWTH while the
    likelihood rises; a step that lowers it is replaced by a plain EM step, p = 1. gaps[u] = max_t g_t - 1 bounds what
    any other C could gain; a word is finished when it is at most the tolerance.

    basis : (words, topics), positive, float32; the rows of a word's partners are gathered once, side by side
    """
    T = basis.shape[1]
    C, trial, slope, kept = np.empty(T, F), np.empty(T, F), np.empty(T, F), np.empty(T, F)
    for u in range(begin, end):
        n = indptr[u + 1] - indptr[u]
        partners = np.empty((n, T), F)
        weight = np.empty(n, F)
        for i in range(n):
            partners[i] = basis[indices[indptr[u] + i]]
            weight[i] = rows[indptr[u] + i]
        C[:] = F(1.0 / T)
        loss = _likelihood_and_slope(partners, weight, C, slope)
        power = 1.0
        for _ in range(max_rounds):
            largest = slope[0]
            for t in range(T):
                largest = max(largest, slope[t])
            gaps[u] = largest - 1
            if gaps[u] <= tolerance:
                break
            _step(C, slope, power, trial)
            kept[:] = slope
            new = _likelihood_and_slope(partners, weight, trial, slope)
            if new >= loss - ROUNDING:
                power = min(power * GROWTH, LARGEST_POWER)
            else:
                power = 1.0
                _step(C, kept, power, trial)
                new = _likelihood_and_slope(partners, weight, trial, slope)
            C[:] = trial
            loss = new
        for t in range(T):
            shares[u, t] = C[t]


@njit
def _likelihood_and_slope(partners, weight, C, slope):
    """sum_v q(v) log m(v); slope_t = sum_v q(v) basis[v, t] / m(v)."""
    T = C.size
    slope[:] = 0
    total = 0.0
    for i in range(weight.size):
        row = partners[i]
        m = F(0)
        for t in range(T):
            m += row[t] * C[t]
        total += weight[i] * np.log(m)
        ratio = weight[i] / m
        for t in range(T):
            slope[t] += ratio * row[t]
    return total


@njit
def _step(C, slope, power, trial):
    """trial = C slope^power, normalised."""
    total = 0.0
    for t in range(C.size):
        trial[t] = C[t] * max(slope[t], SMALLEST) ** F(power)
        total += trial[t]
    for t in range(C.size):
        trial[t] /= F(total)
