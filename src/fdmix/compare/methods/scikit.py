"""scikit-learn's LDA and NMF."""

from __future__ import annotations

import warnings

import numpy as np

from fdmix.compare.found import Found, Task

LDA_PASSES = 50  # over the corpus; the default, 10, stops too early
NMF_PASSES = 500  # at most; the tolerance stops most fits earlier
MIN_TOKENS_IN_PARALLEL = 500_000  # below, starting processes costs more time than they save


def lda(task: Task) -> Found:
    """Variational Bayes over all documents at once."""
    from sklearn.decomposition import LatentDirichletAllocation  # noqa: PLC0415

    corpus = task.train.corpus
    n_jobs = task.n_threads if corpus.n_tokens >= MIN_TOKENS_IN_PARALLEL else 1
    model = LatentDirichletAllocation(
        task.n_topics, learning_method="batch", max_iter=LDA_PASSES, random_state=task.seed, n_jobs=n_jobs
    ).fit(corpus.counts)
    if n_jobs > 1:
        _end_processes()
    return Found(model.components_, prior=float(model.doc_topic_prior_))


def nmf(task: Task) -> Found:
    """Kullback-Leibler loss, multiplicative updates: the same likelihood as PLSA."""
    from sklearn.decomposition import NMF  # noqa: PLC0415
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415

    model = NMF(
        task.n_topics, init="nndsvda", solver="mu", beta_loss="kullback-leibler", max_iter=NMF_PASSES,
        random_state=task.seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(task.train.corpus.counts.astype(np.float64))
    return Found(model.components_)


def _end_processes() -> None:
    """End scikit-learn's helper processes: only then are their time and memory known."""
    from joblib.externals.loky import get_reusable_executor  # noqa: PLC0415

    get_reusable_executor().shutdown(wait=True)
