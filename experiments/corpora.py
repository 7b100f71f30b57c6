"""The corpora: the paper's kind where the data is there, docstrings of installed packages for the small scale."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fdmix import Corpus, read_corpus
from fdmix.cli.demo_docstrings import installed_docstrings

HOLDOUT = 0.2


class MissingDataError(FileNotFoundError):
    """The corpus of an experiment is not on this machine."""


def papers(scale, data):
    """(train, test): paragraphs of machine-learning papers, or docstrings."""
    if scale == "small":
        return _docstrings(min_tokens=20)
    if (data / "mlpapers.npz").is_file():
        with np.load(data / "mlpapers.npz") as saved:
            parts = saved["data"].astype(np.int32), saved["indices"].astype(np.int32), saved["indptr"]
            corpus = Corpus(sp.csr_array(parts, shape=tuple(saved["shape"])), saved["vocabulary"].tolist())
            return corpus[~saved["holdout"]], corpus[saved["holdout"]]
    if (data / "papers.csv").is_file():  # Kaggle's NeurIPS papers
        corpus = read_corpus(data / "papers.csv", column="paper_text", split="paragraphs", preset="papers")
        return corpus.split(HOLDOUT, seed=0)
    raise MissingDataError(f"there is neither mlpapers.npz nor Kaggle's papers.csv in {data}: give --data")


def tweets(scale, data):
    """(train, test): tweets, or the first sentences of docstrings."""
    if scale == "small":
        return _docstrings(min_tokens=4, first_sentence=True)
    if (data / "tweets.parquet").is_file():
        return read_corpus(data / "tweets.parquet", column="text", preset="tweets").split(HOLDOUT, seed=0)
    raise MissingDataError(f"there is no tweets.parquet in {data}: give --data")


def _docstrings(min_tokens, first_sentence=False):
    _, texts = installed_docstrings(6_000)
    if first_sentence:
        texts = [text[:300] for text in texts]
    corpus = read_corpus(texts, preset="papers", min_count=10, max_share=0.3, min_tokens=min_tokens)
    return corpus.split(HOLDOUT, seed=0)
