"""Other implementations that benchmarks compare with."""

import os
import time
import warnings

import numpy as np

from fdmix import Mixture


def gibbs(counts, n_topics, *, alpha, sweeps, eta=0.01, optimise=False, seed=1, workers=None):
    """(Mixture, seconds): tomotopy's LDA, and the time of its sweeps without setup."""
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, alpha=alpha, eta=eta, seed=seed)
    model.optim_interval = 10 if optimise else 0
    for d in range(counts.shape[0]):
        entries = slice(counts.indptr[d], counts.indptr[d + 1])
        model.add_doc([str(word) for word in counts.indices[entries].repeat(counts.data[entries])])
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        model.train(sweeps, workers=workers or os.cpu_count(), show_progress=False)
    seconds = time.perf_counter() - begin
    topics = np.zeros((n_topics, counts.shape[1]))
    columns = [int(word) for word in model.used_vocabs]
    for t in range(n_topics):
        topics[t, columns] = model.get_topic_word_dist(t)
    theta = np.array([document.get_topic_dist() for document in model.docs], dtype=np.float64)
    second = theta.T @ theta
    return Mixture(topics / topics.sum(axis=1, keepdims=True), second / second.sum()), seconds


def nmf(counts, n_topics, *, seed=1, max_iter=200):
    """(Mixture, seconds): scikit-learn's NMF with the Kullback-Leibler loss; alpha is that of its document shares."""
    from sklearn.decomposition import NMF

    model = NMF(
        n_topics, beta_loss="kullback-leibler", solver="mu", init="nndsvda", max_iter=max_iter, random_state=seed
    )
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights = model.fit_transform(counts.astype(np.float64))
    seconds = time.perf_counter() - begin
    scale = model.components_.sum(axis=1)
    theta = weights * scale
    theta /= np.maximum(theta.sum(axis=1, keepdims=True), 1e-300)
    topics = np.maximum(model.components_ / scale[:, None], 1e-12)
    second = theta.T @ theta
    return Mixture(topics / topics.sum(axis=1, keepdims=True), second / second.sum()), seconds
