"""The methods that the experiments compare, under their names in all tables and figures."""

from __future__ import annotations

import numpy as np

from fdmix import Mixture, Moments, baselines, fit_documents, fit_mixture, refine

COLOURS = {  # palettes of Okabe and Ito, and of Tol, which colour-blind readers can tell apart
    "FDM": "#0072B2",
    "FDM, then LDA": "#000000",
    "our LDA from noise": "#DDAA33",
    "FDM, weights by length": "#56B4E9",
    "FDM, from the truth": "#BBCCEE",
    "FDM without sparsity": "#E69F00",
    "tomotopy": "#D55E00",
    "tomotopy, paper's priors": "#D55E00",
    "tomotopy, beta 0.01": "#EE8866",
    "tomotopy, 10 alpha": "#CC79A7",
    "tomotopy, 10 alpha, beta 0.01": "#FFCCCC",
    "MALLET": "#882255",
    "MALLET, paper's priors": "#882255",
    "MALLET, beta 0.01": "#AA4499",
    "MALLET, 10 alpha": "#332288",
    "MALLET, 10 alpha, beta 0.01": "#6699CC",
    "EP": "#009E73",
    "EP, L2": "#44BB99",
    "unigram": "#999999",
    "slope -1/2": "#999999",
}
LDA_METHODS = ("tomotopy", "MALLET")  # two implementations of Gibbs sampling of LDA; MALLET's is called SparseLDA


def fdm(corpus, n_topics, *, reporter, seed=0, weighting="paper", start="auto"):
    """FDM from pairs alone; `weighting` "paper" is the paper's Mhat, in which every document counts once.

    start : the path of a Mixture to begin with
    """
    begin = start if start == "auto" else Mixture.load(start)
    settings = {"seed": seed, "start": begin, "callback": reporter.pass_done}
    return fit_mixture(Moments.of(corpus, weighting=weighting), n_topics, **settings).mixture


def fdm_documents(corpus, n_topics, *, reporter, seed=0):
    """FDM, then CVB0 and Gibbs sampling of LDA, started from FDM's topics."""
    return fit_documents(corpus, n_topics, seed=seed, callback=reporter.pass_done).mixture


def lda_from_noise(corpus, n_topics, *, reporter, seed=0):
    """The same sampling from random topics: what it finds without FDM."""
    frequency = np.asarray(corpus.counts.sum(axis=0)).ravel() + 0.5
    weights = frequency * np.random.default_rng(seed).gamma(1.0, size=(n_topics, corpus.n_words))
    start = Mixture(weights / weights.sum(axis=1, keepdims=True), vocabulary=corpus.vocabulary)
    return refine(start, corpus, seed=seed, callback=reporter.pass_done)


def tomotopy(corpus, n_topics, *, reporter, **settings):
    kept = {"callback": reporter.checkpoint_done, "checkpoint": reporter.checkpoint}
    return baselines.lda(corpus, n_topics, n_threads=2, **kept, **settings)


def mallet(corpus, n_topics, *, reporter, program, **settings):
    """On one thread: with several, MALLET's sampling is approximate."""
    return baselines.lda(corpus, n_topics, mallet=program, callback=reporter.sweep_done, **settings)


def ep(corpus, n_topics, *, reporter, seed=0):
    return baselines.extreme_points(Moments.of(corpus, weighting="paper"), n_topics, "kl", tolerance=1e-3, seed=seed)


def ep_l2(corpus, n_topics, *, reporter, seed=0):
    return baselines.extreme_points(Moments.of(corpus, weighting="paper"), n_topics, "l2", tolerance=1e-4, seed=seed)


def paper_priors(n_topics, n_words, times_alpha=1, eta=None):
    """alpha = 1/T (times a factor) and beta = 1/N (or another one), both fixed, as in the paper's experiments."""
    return {"alpha": times_alpha / n_topics, "eta": 1 / n_words if eta is None else eta, "optimise": False}


def check_names(asked, methods):
    """Refuse names that no method has."""
    for name in asked or ():
        if name not in methods:
            raise ValueError(f"there is no method {name!r}; there are: {'; '.join(methods)}")


def method_of(name):
    """The function of a method; "tomotopy, 10 alpha" is tomotopy with other settings."""
    return METHODS[name] if name in METHODS else METHODS[name.split(",")[0]]


METHODS = {
    "FDM": fdm,
    "FDM, then LDA": fdm_documents,
    "our LDA from noise": lda_from_noise,
    "tomotopy": tomotopy,
    "MALLET": mallet,
    "EP": ep,
    "EP, L2": ep_l2,
}
