"""The word pairs of a session of edits: set up once, used by every refit."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.vocabulary import positions
from fdmix.engines import Engine, engine_for, known_engine
from fdmix.mixture.mixture import Mixture
from fdmix.moments.full_matrix import rearranged
from fdmix.moments.moments import Moments
from fdmix.runtime.threads import one_blas_thread, thread_count

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Workspace:
    """Moments, ready for passes. Nothing is computed before the first refit asks for it.

    engine : name of an engine, as in `fit_mixture`
    """

    def __init__(self, moments: Moments, engine: str = "auto", n_threads: int | None = None) -> None:
        if not isinstance(moments, Moments):
            raise TypeError(f"edits are fitted to Moments, not {type(moments).__name__}: use Moments.of(counts)")
        known_engine(engine)
        thread_count(n_threads)
        self.moments = moments.prune() if moments.is_open else moments
        self.engine_name, self.n_threads = engine, n_threads
        self._engine: Engine | None = None
        self._known: tuple[Mixture, float] | None = None  # the likelihood that was asked for last

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the moments."""
        return self.moments.checksum()

    @cached_property
    def seen(self) -> Any:
        """Columns of the words that have pairs; other words have no say, and probability 0."""
        return np.flatnonzero(self.moments.unigram)

    @cached_property
    def mhat(self) -> sp.csr_array:
        """Mhat among the words that have pairs."""
        matrix = self.moments.matrix
        return matrix if self.seen.size == self.moments.n_words else rearranged(matrix, self.seen)

    @cached_property
    def unigram(self) -> Floats:
        """Of the words that have pairs."""
        return self.moments.unigram[self.seen]

    def engine(self, n_topics: int) -> Engine:
        """The engine, made for the first number of topics and used for all."""
        if self._engine is None:
            self._engine = engine_for(self.engine_name, self.mhat, n_topics, self.n_threads)
        return self._engine

    def log_likelihood(self, mixture: Mixture) -> float:
        """L of a mixture over the words of these moments; words that no topic has count as a topic of their own."""
        if self._known is not None and self._known[0] is mixture:
            return self._known[1]
        topics, alpha = with_hidden_topic(mixture.topics[:, self.seen], mixture.correlations, self.unigram)
        engine = self.engine(mixture.n_topics)
        with one_blas_thread:
            value = engine.expect(engine.place(Mixture(topics, alpha)), joint=False).log_likelihood
        self._known = mixture, value
        return value

    def aligned(self, mixture: Mixture) -> Mixture:
        """The mixture over the words of these moments; words that it lacks have probability 0."""
        mine, words = self.moments.vocabulary, mixture.vocabulary
        if mine is None or words is None:
            if mixture.n_words != self.moments.n_words:
                raise ValueError(
                    f"the model has {mixture.n_words:,} words and the moments {self.moments.n_words:,}, without "
                    "words to match by: give the moments that the model was fitted to"
                )
            return mixture
        if mine == words:
            return mixture
        where = positions(mine, words)
        topics = np.where(where >= 0, mixture.topics[:, where], 0.0)
        known = topics.sum(axis=1, keepdims=True)
        if not known.all():
            raise ValueError(
                f"the moments have no word of topic {int(known.argmin())}: "
                "give the moments that the model was fitted to"
            )
        return replace(mixture, topics=topics / known, vocabulary=mine, preparation=self.moments.preparation)


def with_hidden_topic(topics: Floats, alpha: Floats, unigram: Floats) -> tuple[Floats, Floats]:
    """Topics and alpha with one more topic of the words that no topic has, such as banned ones, if there are any.

    It explains their pairs in the passes of a refit, and is taken away afterwards. Its share is that of its words,
    and it occurs with other topics as by chance. The other topics are normalised.
    """
    topics = topics / topics.sum(axis=1, keepdims=True)
    hidden = np.where(topics.any(axis=0), 0.0, unigram)
    share = float(hidden.sum() / unigram.sum())
    if not share:
        return topics, alpha
    shares = alpha.sum(axis=1)
    border = (share * (1 - share) * shares)[:, None]
    whole = np.block([[(1 - share) ** 2 * alpha, border], [border.T, np.array([[share**2]])]])
    return np.vstack([topics, hidden / hidden.sum()]), whole / whole.sum()
