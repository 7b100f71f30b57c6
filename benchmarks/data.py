"""The corpora that benchmarks read, where they are there."""

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

FOLDER = Path(os.environ.get("FDMIX_DATA", Path(__file__).parents[2] / "shared" / "data"))


def mlpapers():
    """249,666 paragraphs of machine-learning papers as counts, or None with a sentence if the file is missing."""
    path = FOLDER / "mlpapers.npz"
    if not path.exists():
        print(f"skipped: there is no {path.name} in {FOLDER.name}/ (set FDMIX_DATA to its folder)")
        return None
    with np.load(path) as arrays:
        return sp.csr_array(
            (arrays["data"].astype(np.int32), arrays["indices"].astype(np.int32), arrays["indptr"]),
            shape=tuple(arrays["shape"]),
        )


def mlpapers_holdout():
    """Which of the paragraphs are the test set, or None."""
    path = FOLDER / "mlpapers.npz"
    if not path.exists():
        return None
    with np.load(path) as arrays:
        return arrays["holdout"].astype(bool)


def short_documents(n_documents=1_000_000, n_words=15_000, length=8, seed=0):
    """As many tweets' worth of short documents over a Zipf vocabulary."""
    rng = np.random.default_rng(seed)
    share = 1 / (np.arange(n_words) + 10)
    cumulative = np.cumsum(share / share.sum())
    words = np.minimum(np.searchsorted(cumulative, rng.random(n_documents * length)), n_words - 1).astype(np.int32)
    starts = np.arange(0, words.size + 1, length)
    counts = sp.csr_array((np.ones(words.size, np.int32), words, starts), shape=(n_documents, n_words))
    counts.sum_duplicates()
    return counts
