"""fdmix's own fits, and what each of their parts is worth."""

from __future__ import annotations

import numpy as np

from fdmix.compare.found import Found, Task
from fdmix.corpus.corpus import Corpus
from fdmix.documents import fit_documents, refine
from fdmix.fit import fit_mixture
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments


def prepare() -> None:
    """Compile the loops, or load them from the cache, with a fit to a few random documents."""
    counts = np.random.default_rng(0).poisson(0.5, (200, 30))
    fit_documents(Corpus(counts), 3)


def documents(task: Task) -> Found:
    """`fit_documents`: the topics of `fdmix fit`."""
    fitted = fit_documents(task.train.corpus, task.n_topics, seed=task.seed, n_threads=task.n_threads)
    return _found(fitted.mixture, task)


def pairs(task: Task) -> Found:
    """`fit_mixture`: the topics of `fdmix fit --pairs-only`."""
    moments = Moments.of(task.train.corpus, n_threads=task.n_threads)
    fitted = fit_mixture(moments, task.n_topics, seed=task.seed, n_threads=task.n_threads)
    return _found(fitted.mixture, task)


def noise(task: Task) -> Found:
    """`refine` from random topics: what the passes over documents find without the fit to the pairs."""
    corpus = task.train.corpus
    frequency = np.asarray(corpus.counts.sum(axis=0)).ravel() + 0.5
    weights = frequency * np.random.default_rng(task.seed).gamma(1.0, size=(task.n_topics, corpus.n_words))
    start = Mixture(weights / weights.sum(axis=1, keepdims=True), vocabulary=corpus.vocabulary)
    return _found(refine(start, corpus, seed=task.seed, n_threads=task.n_threads), task)


def _found(mixture: Mixture, task: Task) -> Found:
    return Found(mixture, mixture.top_words(task.n_words, as_shown=False), prior="dirichlet")
