"""One pass over the pairs by PyTorch, with M[u, v] = left[u] . right[v]:

    H[u] += sum_v (Mhat / M)[u, v] right[v],    L = sum_uv Mhat[u, v] log M[u, v]

Each function adds one part of the pairs to H and returns its likelihoods as a vector, which the host adds up. Nothing
here waits for the device or copies from it.
"""

from __future__ import annotations

import warnings
from typing import Any

from fdmix.engines.torch_pairs import Panel, Part, Sample, Table
from fdmix.engines.torch_products import Product

TINY = 1e-30  # smallest M: keeps ratios and logarithms finite


def add_part(torch: Any, part: Part, left: Any, right: Any, H: Any, width: int, product: Product) -> Any:
    """Add the pairs of one part to H; their likelihood, in rows.

    width : columns of a panel in one matrix product; product : of two matrices
    """
    if isinstance(part, Panel):
        return _add_panel(torch, part, left, right, H, width, product)
    if isinstance(part, Table):
        return _add_table(torch, part, left, right, H)
    return _add_sample(torch, part, left, right, H)


def _add_panel(torch: Any, panel: Panel, left: Any, right: Any, H: Any, width: int, product: Product) -> Any:
    """By matrix products: the square on the diagonal once, the rest with its mirror image.

    Rows are taken by `narrow`: slices would need a real device, and tests run this on a pretended one.
    """
    begin, end, last = panel.begin, panel.end, panel.last
    likelihoods = torch.zeros(end - begin, dtype=left.dtype, device=left.device)
    mine = left.narrow(0, begin, end - begin), right.narrow(0, begin, end - begin), H.narrow(0, begin, end - begin)
    for first in [begin, *range(end, last, width)]:
        size = end - begin if first == begin else min(width, last - first)
        x, others = panel.values.narrow(1, first - begin, size), right.narrow(0, first, size)
        M = product(mine[0], others.T).clamp_min_(TINY)
        ratio = x / M
        mine[2].add_(product(ratio, others))
        if first > begin:
            H.narrow(0, first, size).add_(product(ratio.T, mine[1]))
        likelihoods.add_(M.log_().mul_(x).sum(dim=1), alpha=1 if first == begin else 2)
        del M, ratio  # before the next ones need memory
    return likelihoods


def _add_table(torch: Any, table: Table, left: Any, right: Any, H: Any) -> Any:
    """By the gathered topic vectors of all partners, which serve both for M and for H."""
    rows, k = table.columns.shape
    partners = right.index_select(0, table.columns.flatten()).view(rows, k, -1)
    M = torch.bmm(partners, left.index_select(0, table.rows).unsqueeze(2)).squeeze(2).clamp_min_(TINY)
    ratio = table.values / M
    more = torch.bmm(ratio.unsqueeze(1), partners).squeeze(1)
    H.index_copy_(0, table.rows, H.index_select(0, table.rows).add_(more))  # a row is in a table once
    return M.log_().mul_(table.values).sum(dim=1)


def _add_sample(torch: Any, sample: Sample, left: Any, right: Any, H: Any) -> Any:
    """M of each pair once by a sampled product, H of both words by a sparse product."""
    size = (len(left), len(left))
    wanted = sparse_csr(torch, sample.first, sample.columns, torch.zeros_like(sample.values), size)
    M = torch.sparse.sampled_addmm(wanted, left, right.T, beta=0).values().clamp_min_(TINY)
    ratio = torch.index_select(sample.values / M, 0, sample.source)
    torch.addmm(H, sparse_csr(torch, sample.both_first, sample.both_columns, ratio, size), right, out=H)
    return M.log_().mul_(sample.values).sum().mul_(2).reshape(1)


def sparse_csr(torch: Any, first: Any, columns: Any, values: Any, size: tuple[int, int]) -> Any:
    """A sparse matrix; without PyTorch's remark that sparse matrices are new."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(first, columns, values, size=size, check_invariants=False)
