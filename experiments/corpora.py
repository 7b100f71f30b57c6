"""The corpora of the experiments: docstrings of installed packages (small scale), papers and tweets (paper scale)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fdmix import Corpus, read_corpus
from fdmix.cli.demo_docstrings import installed_docstrings
from fdmix.text import PRESETS

HELD_OUT_SHARE = 0.2  # of the documents, as in the paper
RARE = PRESETS["paper-papers"].min_count  # tokens of a word, over all papers
NO_FOLDER = (
    "the paper scale needs corpora: name their folder with --data or FDMIX_DATA (docs/evidence/experiments/README.md)"
)


class MissingDataError(FileNotFoundError):
    """The user has not said where the corpus of an experiment is, or it is not there."""


def papers(scale, data):
    """(train, test): paragraphs of machine-learning papers; docstrings at the small scale."""
    if scale == "small":
        return _docstrings(min_tokens=20)
    if data is None:
        raise MissingDataError(NO_FOLDER)
    if (data / "mlpapers.npz").is_file():
        with np.load(data / "mlpapers.npz") as saved:
            parts = saved["data"].astype(np.int32), saved["indices"].astype(np.int32), saved["indptr"]
            corpus = without_rare_words(
                Corpus(sp.csr_array(parts, shape=tuple(saved["shape"])), saved["vocabulary"].tolist()), RARE
            )
            return corpus[~saved["holdout"]], corpus[saved["holdout"]]
    if (data / "papers.csv").is_file():  # Kaggle's NeurIPS papers
        corpus = read_corpus(data / "papers.csv", column="paper_text", split="paragraphs", preset="paper-papers")
        return corpus.split(HELD_OUT_SHARE, seed=0)
    raise MissingDataError(f"there is neither mlpapers.npz nor Kaggle's papers.csv in {data}, the folder of --data")


def tweets(scale, data):
    """(train, test): tweets; the first 300 characters of docstrings at the small scale."""
    if scale == "small":
        return _docstrings(min_tokens=4, longest=300)
    if data is None:
        raise MissingDataError(NO_FOLDER)
    if (data / "tweets.parquet").is_file():
        return read_corpus(data / "tweets.parquet", column="text", preset="paper-tweets").split(
            HELD_OUT_SHARE, seed=0
        )
    raise MissingDataError(f"there is no tweets.parquet in {data}, the folder of --data")


def without_rare_words(corpus, min_count):
    """The corpus without words of fewer tokens; all documents stay."""
    kept = np.flatnonzero(np.asarray(corpus.counts.sum(axis=0)).ravel() >= min_count)
    return Corpus(sp.csr_array(corpus.counts[:, kept]), [corpus.vocabulary[u] for u in kept])


def _docstrings(min_tokens, longest=None):
    _, texts = installed_docstrings(6_000)
    texts = [text[:longest] for text in texts]
    corpus = read_corpus(texts, preset="papers", min_count=10, max_share=0.3, min_tokens=min_tokens)
    return corpus.split(HELD_OUT_SHARE, seed=0)
