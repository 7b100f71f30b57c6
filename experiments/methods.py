"""The methods that are compared, by the names they have in every table and figure."""

from __future__ import annotations

from fdmix import Moments, baselines, fit_documents, fit_mixture
from fdmix.solvers import Adam

COLOURS = {  # of Okabe and Ito, and two of Tol: safe for colour-blind readers, the same for a method everywhere
    "FDM": "#0072B2",
    "FDM with documents": "#000000",
    "FDM, paper's Adam": "#56B4E9",
    "FDM without sparsity": "#E69F00",
    "SparseLDA": "#D55E00",
    "SparseLDA, 10 alpha": "#CC79A7",
    "MALLET": "#882255",
    "EP": "#009E73",
    "unigram": "#999999",
}
MOST_KL = 200  # topics that EP recovers by KL


def fdm(corpus, n_topics, *, reporter, seed=0):
    return fit_mixture(Moments.of(corpus), n_topics, seed=seed, callback=reporter.pass_done).mixture


def fdm_documents(corpus, n_topics, *, reporter, seed=0):
    return fit_documents(corpus, n_topics, seed=seed, callback=reporter.pass_done).mixture


def paper_adam(corpus, n_topics, *, reporter, seed=0, time_limit=None):
    """Algorithm 2 with sampled pairs and the authors' settings: the paper's learning rate is ten times as slow."""
    solver, moments = Adam.authors(), Moments.of(corpus)
    settings = {"seed": seed, "time_limit": time_limit, "callback": reporter.pass_done}
    return fit_mixture(moments, n_topics, solver=solver, **settings).mixture


def sparse_lda(corpus, n_topics, *, reporter, **settings):
    kept = {"callback": reporter.checkpoint_done, "checkpoint": reporter.checkpoint}
    return baselines.lda(corpus, n_topics, n_threads=2, **kept, **settings)


def mallet(corpus, n_topics, *, reporter, program, **settings):
    """On one thread, on which it samples exactly."""
    return baselines.lda(corpus, n_topics, mallet=program, callback=reporter.sweep_done, **settings)


def ep(corpus, n_topics, *, reporter, seed=0):
    """With many topics by least squares: 500 of them by KL were not done after nine CPU minutes."""
    loss, tolerance = ("kl", 1e-3) if n_topics <= MOST_KL else ("l2", 1e-4)
    return baselines.extreme_points(Moments.of(corpus), n_topics, loss, tolerance=tolerance, seed=seed)


MALLET_SWEEPS = {"small": 200, "paper": 1_000}
METHODS = {
    "FDM": fdm,
    "FDM with documents": fdm_documents,
    "FDM, paper's Adam": paper_adam,
    "SparseLDA": sparse_lda,
    "SparseLDA, 10 alpha": sparse_lda,
    "MALLET": mallet,
    "EP": ep,
}
