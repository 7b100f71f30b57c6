"""LDA by other packages: tomotopy and MALLET (Gibbs sampling), gensim (variational)."""

from __future__ import annotations

from typing import Any

from fdmix.baselines import lda
from fdmix.compare.found import Found, Task

FIXED_ALPHA = 0.1
PASSES, ITERATIONS = 20, 100  # of gensim, over the corpus and over a document; its defaults, 1 and 50, stop too early


def tomotopy(task: Task) -> Found:
    """Priors are optimised every ten sweeps."""
    return _sampled(task, n_threads=task.n_threads)


def tomotopy_fixed(task: Task) -> Found:
    """The same small prior for all topics."""
    return _sampled(task, optimise=False, alpha=FIXED_ALPHA, n_threads=task.n_threads)


def tomotopy_averaged(task: Task) -> Found:
    """Topics are the mean of the last ten states, ten sweeps apart, as fdmix averages its own sweeps."""
    return _sampled(task, n_states=10, n_threads=task.n_threads)


def mallet(task: Task) -> Found:
    """On one thread: with several, MALLET's sampling is approximate."""
    if task.mallet is None:
        raise ValueError("mallet needs the path of its command: --mallet path/to/bin/mallet")
    return _sampled(task, mallet=task.mallet)


def gensim(task: Task) -> Found:
    """Online variational Bayes with asymmetric priors, both learned."""
    from gensim.models import LdaModel  # noqa: PLC0415

    corpus = task.train.corpus
    model = LdaModel(
        corpus.to_bags(), task.n_topics, {u: str(u) for u in range(corpus.n_words)}, alpha="auto", eta="auto",
        passes=PASSES, iterations=ITERATIONS, eval_every=None, random_state=task.seed,
    )  # fmt: skip
    return Found(model.get_topics(), prior=model.alpha)


def _sampled(task: Task, **settings: Any) -> Found:
    mixture = lda(task.train.corpus, task.n_topics, sweeps=task.sweeps, seed=task.seed, **settings)
    return Found(mixture.topics, prior=mixture.provenance["document_prior"])
