"""The methods that the experiments compare, under their names in all tables and figures."""

from __future__ import annotations

from fdmix import Moments, baselines, fit_documents, fit_mixture
from fdmix.solvers import Adam

COLOURS = {  # palettes of Okabe and Ito, and of Tol, which colour-blind readers can tell apart
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
MAX_TOPICS_KL = 200  # EP by KL did not finish 500 topics in nine CPU minutes; larger fits use least squares


def fdm(corpus, n_topics, *, reporter, seed=0):
    return fit_mixture(
        Moments.of(corpus, weighting="paper"), n_topics, seed=seed, callback=reporter.pass_done
    ).mixture


def fdm_documents(corpus, n_topics, *, reporter, seed=0):
    return fit_documents(corpus, n_topics, seed=seed, callback=reporter.pass_done).mixture


def paper_adam(corpus, n_topics, *, reporter, seed=0, time_limit=None):
    """Algorithm 2 with the learning rate of the authors' code; the paper's rate is ten times as slow."""
    solver, moments = Adam.authors(), Moments.of(corpus, weighting="paper")
    settings = {"seed": seed, "time_limit": time_limit, "callback": reporter.pass_done}
    return fit_mixture(moments, n_topics, solver=solver, **settings).mixture


def sparse_lda(corpus, n_topics, *, reporter, **settings):
    kept = {"callback": reporter.checkpoint_done, "checkpoint": reporter.checkpoint}
    return baselines.lda(corpus, n_topics, n_threads=2, **kept, **settings)


def mallet(corpus, n_topics, *, reporter, program, **settings):
    """On one thread: with several, MALLET's sampling is approximate."""
    return baselines.lda(corpus, n_topics, mallet=program, callback=reporter.sweep_done, **settings)


def ep(corpus, n_topics, *, reporter, seed=0):
    loss, tolerance = ("kl", 1e-3) if n_topics <= MAX_TOPICS_KL else ("l2", 1e-4)
    return baselines.extreme_points(
        Moments.of(corpus, weighting="paper"), n_topics, loss, tolerance=tolerance, seed=seed
    )


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
