"""The corpora that benchmarks read: files in the folder FDMIX_DATA, and documents drawn from Zipf's law."""

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def data_file(name):
    """The path of a corpus, or None after a sentence that says what is missing."""
    if not os.environ.get("FDMIX_DATA"):
        print(f"skipped: {name} is needed; name its folder with --data or FDMIX_DATA")
        return None
    path = Path(os.environ["FDMIX_DATA"]) / name
    if not path.is_file():
        print(f"skipped: there is no {name} in {path.parent}, the folder of --data or FDMIX_DATA")
        return None
    return path


def mlpapers():
    """249,666 paragraphs of machine-learning papers as counts, or None if the file is missing."""
    path = data_file("mlpapers.npz")
    if path is None:
        return None
    with np.load(path) as arrays:
        return sp.csr_array(
            (arrays["data"].astype(np.int32), arrays["indices"].astype(np.int32), arrays["indptr"]),
            shape=tuple(arrays["shape"]),
        )


def mlpapers_holdout():
    """Which of the paragraphs are held out as the test set: a boolean array. Call it after `mlpapers`."""
    with np.load(data_file("mlpapers.npz")) as arrays:
        return arrays["holdout"].astype(bool)


def short_documents(n_documents=1_000_000, n_words=15_000, length=8, seed=0):
    """Documents as short as tweets over a vocabulary with Zipf's frequencies."""
    rng = np.random.default_rng(seed)
    share = 1 / (np.arange(n_words) + 10)
    cumulative = np.cumsum(share / share.sum())
    words = np.minimum(np.searchsorted(cumulative, rng.random(n_documents * length)), n_words - 1).astype(np.int32)
    starts = np.arange(0, words.size + 1, length)
    counts = sp.csr_array((np.ones(words.size, np.int32), words, starts), shape=(n_documents, n_words))
    counts.sum_duplicates()
    return counts
