"""CVB0: a pass over documents in which every token is shared among topics, its own share left out.

r_ut ~ (a_t + n_dt - r_ut) mu_t(u),    K[u, t] = sum_d c_d(u) r_ut     (Asuncion et al. 2009)
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.documents.topic_counts import TopicCounts
from fdmix.documents.training import document_ranges, kernel_arrays
from fdmix.kernels.cvb0 import cvb0_pass as cvb0_pass_of_documents
from fdmix.runtime.threads import Workers

Floats = np.ndarray[Any, np.dtype[np.float64]]
MAX_RANGES = 16  # of documents; each has a sum, and the sums are added in order, so that threads change nothing
SUM_BYTES = 2e8  # for the sums of all ranges together


@dataclass(frozen=True)
class Convergence:
    """When a document's shares have converged within a pass. Tighter values gained nothing in held-out completion.

    max_rounds : rounds for a document
    tolerance : a round that moves a smaller share of the document's tokens is the last
    prune_below : a topic with a smaller share of the document is left out of it
    """

    max_rounds: int = 12
    tolerance: float = 0.03
    prune_below: float = 0.02


def cvb0_pass(
    counts: TopicCounts, prior: Floats, table: sp.csr_array, workers: Workers, until: Convergence = Convergence()
) -> TopicCounts:
    """The topic counts after one pass over the documents of a table; the same on any number of threads."""
    arrays, entries = kernel_arrays(table), counts.counts.nnz

    def learn(documents: tuple[int, int]) -> Floats:
        out = np.zeros(entries)
        cvb0_pass_of_documents(*documents, arrays, counts.entries, prior, astuple(until), out)
        return out

    n_ranges = int(np.clip(SUM_BYTES / max(8 * entries, 1), 2, MAX_RANGES))
    total = np.zeros(entries)
    for part in workers.map(learn, document_ranges(table.shape[0], n_ranges)):
        total += part
    return TopicCounts.with_values(counts.counts, total)
