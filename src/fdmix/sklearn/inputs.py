"""What an estimator may be given instead of a table of counts: texts and corpora; and where its words come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fdmix.corpus.corpus import Corpus
from fdmix.mixture.assignment import aligned_counts
from fdmix.text.reading import read_corpus


def is_text(X: Any) -> bool:
    """Whether X is a list, an array or a column of strings, one for each document."""
    if not isinstance(X, list | tuple | np.ndarray) and type(X).__name__ != "Series":
        return False
    if getattr(X, "ndim", 1) != 1 or len(X) == 0:
        return False
    return any(isinstance(text, str) for text in X)


def corpus_of(texts: Any, like: Any, n_threads: int | None) -> Corpus:
    """A row of counts for each text; Moments of other text, `like`, give the words and the cleaning."""
    if like is None:
        return read_corpus(list(texts), n_threads=n_threads)
    if like.preparation is None:
        raise ValueError("this FDM was fitted to counts, so it cannot read text: give counts, or fit it to text")
    return read_corpus(list(texts), like=like, min_tokens=0, n_threads=n_threads)


def aligned(corpus: Corpus, like: Any) -> Any:
    """The corpus's counts, over the words of moments if there are any."""
    return corpus.counts if like is None else aligned_counts(corpus, like.vocabulary, like.n_words)[0]


def words_of(given: Any, estimator: Any) -> Iterable[str]:
    """The words of an estimator's columns: given as they are, by a fitted vectorizer, or by a fitted pipeline.

    In a pipeline that holds the estimator, the steps before it count; in any other one all steps do.
    """
    steps = [step for _, step in getattr(given, "steps", [])]
    place = next((i for i, step in enumerate(steps) if step is estimator), None)
    if place == 0:
        raise ValueError("FDM is the first step of this pipeline: there is no vectorizer before it to name the words")
    source = given if place is None else given[:place]
    if not hasattr(source, "get_feature_names_out"):
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise TypeError(f"words are a list, a fitted vectorizer or a fitted pipeline, not {type(given).__name__}")
        return given
    return [str(word) for word in source.get_feature_names_out()]
