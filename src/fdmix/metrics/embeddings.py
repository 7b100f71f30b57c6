"""Embedding coherence: are the vectors of a topic's top words close to each other?"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.vocabulary import Vocabulary, as_vocabulary, positions
from fdmix.metrics.arguments import as_corpus, as_mixture, word_lists
from fdmix.metrics.coherence import Coherence
from fdmix.moments.moments import Moments
from fdmix.moments.weighted import WeightedMoments
from fdmix.runtime.whole_numbers import whole_number

Floats = np.ndarray[Any, np.dtype[np.float64]]
CONTEXT_POWER = 0.75  # power of the second word's frequency: otherwise rare words get the largest values
OVERSAMPLING, SUBSPACE_PASSES = (
    20,
    4,
)  # of the singular value decomposition; more change a coherence by less than 0.02
MAX_DENSE_WORDS = 8_000  # their pairs fill 512 MB
GZIP = b"\x1f\x8b"


@dataclass(frozen=True, eq=False, repr=False)
class WordVectors:
    """A vector for each word: row u of `vectors` belongs to word u of `vocabulary`."""

    vocabulary: Vocabulary
    vectors: Floats

    def __post_init__(self) -> None:
        vectors = np.asarray(self.vectors, np.float64)
        if vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise ValueError("word vectors are a table of words x dimensions, of finite numbers")
        object.__setattr__(self, "vectors", vectors)
        object.__setattr__(self, "vocabulary", as_vocabulary(self.vocabulary, len(vectors)))

    def __repr__(self) -> str:
        return f"WordVectors({len(self.vocabulary):,} words, {self.vectors.shape[1]} dimensions)"


def embedding_coherence(topics: Any, vectors: WordVectors, *, n_words: int = 10, vocabulary: Any = None) -> Coherence:
    """The mean cosine between the vectors of two top words of a topic, for each topic; between -1 and 1.

    Words without a vector, or with a vector of zeros, are left out; a topic with fewer than two others is NaN.

    topics : a Mixture, Solution, fitted FDM or scikit-learn model, an array (T, N), or lists of words
    vectors : `word_vectors` of the text itself, or `read_word_vectors` of a file
    vocabulary : the words of the columns, for topics without words

    >>> vectors = WordVectors(("ant", "bee", "cat"), np.array([[1, 0], [1, 0], [0, 2]]))
    >>> embedding_coherence([["ant", "bee"], ["ant", "cat"]], vectors).topics
    array([1., 0.])
    """
    n_words = whole_number("n_words", n_words, least=2)
    lists = word_lists(topics)
    if lists is None:
        mixture = as_mixture(topics, vocabulary)
        if mixture.vocabulary is None:
            raise ValueError("these topics do not know their words: give vocabulary=")
        lists = mixture.top_words(n_words, as_shown=False)
    values = [_mean_cosine(vectors, topic[:n_words]) for topic in lists]
    if np.isnan(values).all():
        raise ValueError("no topic has two words that have a vector: are the words stemmed, or of another language?")
    return Coherence(np.array(values), "embedding")


def word_vectors(reference: Any, n_dimensions: int = 100) -> WordVectors:
    """Word vectors from word pairs: a truncated SVD of the positive pointwise mutual information of Mhat.

    max(0, log(Mhat_uv / (p(u) q(v)))) = U S V',   q(v) ~ p(v)^0.75,   the vectors are the rows of U sqrt(S)

    This is what word2vec's vectors approximate (Levy and Goldberg 2014), with documents as contexts; the same pairs
    give the same vectors.

    reference : Moments, a Corpus, a table of counts, or lists of tokens
    n_dimensions : at most; a matrix of lower rank gives fewer
    """
    n_dimensions = whole_number("n_dimensions", n_dimensions, least=1)
    if not isinstance(reference, Moments | WeightedMoments):
        reference = Moments.of(as_corpus(reference))
    if reference.vocabulary is None:
        raise ValueError("word vectors need the names of the words: give a Corpus or Moments with a vocabulary")
    information = _positive_information(reference.matrix, np.asarray(reference.unigram))
    n_dimensions = min(n_dimensions, min(information.shape) - 1)
    if n_dimensions < 1 or not information.nnz:
        raise ValueError("word vectors need at least two words that occur together more often than by chance")
    left, strength = _largest_singular(information, n_dimensions)
    kept = strength > 1e-6 * strength.max()
    return WordVectors(reference.vocabulary, left[:, kept] * np.sqrt(strength[kept]))


def read_word_vectors(path: str | os.PathLike[str], words: Iterable[str] | None = None) -> WordVectors:
    """Word vectors of a text file: a word and its numbers in each line, separated by blanks; also compressed by gzip.

    word2vec's text format has a line with the numbers of words and dimensions before them, GloVe's has none; both are
    read.

    words : the words to keep; a file of millions of words is then read without holding all of them in memory
    """
    wanted = None if words is None else set(words)
    names: list[str] = []
    rows: list[Floats] = []
    width: int | None = None
    with _opened(Path(path)) as lines:
        for number, line in enumerate(lines):
            fields = line.rstrip().split(" ")
            if number == 0 and len(fields) == 2 and all(field.isdigit() for field in fields):
                width = int(fields[1])  # word2vec's first line
                continue
            width = len(fields) - 1 if width is None else width
            word = " ".join(fields[: len(fields) - width])
            if wanted is not None and word not in wanted:
                continue
            names.append(word)
            rows.append(_numbers(fields[len(fields) - width :], width, path, number))
    if not rows:
        raise ValueError(f"{path} has no vector" + ("" if wanted is None else " of a word that is asked for"))
    first = dict(zip(reversed(names), reversed(range(len(names))), strict=True))  # GloVe's files repeat some words
    order = sorted(first.values())
    return WordVectors(tuple(names[i] for i in order), np.array([rows[i] for i in order]))


def _numbers(fields: list[str], width: int, path: Any, number: int) -> Floats:
    try:
        row = np.array(fields, np.float64)
    except ValueError:
        row = np.empty(0)
    if row.size != width or not width or not np.isfinite(row).all():
        raise ValueError(
            f"line {number + 1} of {path} is not a word and {width} numbers: is it a file of word vectors in the "
            "text format of word2vec or GloVe?"
        )
    return row


def _opened(path: Path) -> Any:
    with path.open("rb") as file:
        compressed = file.read(2) == GZIP
    opened = gzip.open if compressed else open
    return opened(path, "rt", encoding="utf-8", errors="replace", newline="\n")


def _positive_information(mhat: sp.csr_array, unigram: Floats) -> sp.csr_array:
    context = unigram**CONTEXT_POWER
    context /= context.sum()
    pairs = sp.coo_array(mhat)
    u, v = pairs.coords
    known = (pairs.data > 0) & (unigram[u] > 0) & (unigram[v] > 0)
    u, v, joint = u[known], v[known], pairs.data[known]
    value = np.maximum(np.log(joint / (unigram[u] * context[v])), 0)
    table = sp.csr_array((value, (u, v)), shape=mhat.shape)
    table.eliminate_zeros()
    return table


def _largest_singular(matrix: sp.csr_array, k: int) -> tuple[Floats, Floats]:
    """(left singular vectors, singular values) of the k largest, by subspace iteration from a fixed random start.

    A few passes with more directions than needed suffice, because only angles between words matter (Halko,
    Martinsson and Tropp 2011). A matrix of few words is multiplied as a dense one, which is faster.
    """
    n = matrix.shape[0]
    whole: Any = matrix.toarray() if n <= MAX_DENSE_WORDS else matrix
    basis = np.random.default_rng(0).standard_normal((n, min(n, k + OVERSAMPLING)))
    for _ in range(SUBSPACE_PASSES):
        basis = np.linalg.qr(whole @ basis)[0]
        basis = np.linalg.qr(whole.T @ basis)[0]
    basis = np.linalg.qr(whole @ basis)[0]
    inner, strength, _ = np.linalg.svd((whole.T @ basis).T, full_matrices=False)
    return (basis @ inner)[:, :k], strength[:k]


def _mean_cosine(vectors: WordVectors, words: list[str]) -> float:
    where = positions(words, vectors.vocabulary)
    rows = vectors.vectors[where[where >= 0]]
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows[lengths.ravel() > 0] / lengths[lengths > 0][:, None]
    if len(rows) < 2:
        return float("nan")
    return float((rows @ rows.T)[np.triu_indices(len(rows), 1)].mean())
