"""sample_weight: how often each document counts."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from fdmix.corpus.counts import whole_counts
from fdmix.documents.refining import MAX_DOCUMENTS
from fdmix.moments.weighted import is_whole


def checked_weights(sample_weight: Any, n_documents: int) -> Any:
    """A number from 0 upwards for each document, or None as given; a single number stands for all documents."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_documents, sample_weight)
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.shape != (n_documents,):
        raise ValueError(
            f"sample_weight must be {n_documents:,} numbers, one per document, not of shape {weights.shape}"
        )
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative, but the smallest is {weights.min():g}: it says how often a "
            "document counts, and 0 leaves it out"
        )
    return weights


def require_some_weight(weights: Any) -> None:
    """Refuse weights that leave no document."""
    if weights is not None and not weights.any():
        raise ValueError("every sample weight is zero: there is no document left")


def repeated(counts: Any, weights: Any) -> sp.csr_array | None:
    """The documents, as often as their weights say; None if numbers are not whole or documents too many."""
    if not is_whole(counts) or not (weights is None or is_whole(weights)):
        return None
    table = whole_counts(counts)
    if weights is None:
        return table
    if weights.sum() > max(MAX_DOCUMENTS, table.shape[0]):  # they might not fit into memory
        return None
    return table[np.repeat(np.arange(table.shape[0]), weights.astype(np.int64))]
