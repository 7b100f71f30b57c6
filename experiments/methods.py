"""The methods that are compared, by the names they have in every table and figure."""

from __future__ import annotations

from fdmix import Moments, baselines, fit_documents, fit_mixture
from fdmix.solvers import Adam

COLOURS = {  # Okabe and Ito's palette, safe for colour-blind readers; the same colour for the same method everywhere
    "FDM": "#0072B2",
    "FDM with documents": "#000000",
    "FDM, paper's Adam": "#56B4E9",
    "FDM without sparsity": "#E69F00",
    "SparseLDA": "#D55E00",
    "SparseLDA, 10 alpha": "#CC79A7",
    "EP": "#009E73",
    "unigram": "#999999",
}


def fdm(corpus, n_topics, *, seed=0, **_):
    return fit_mixture(Moments.of(corpus), n_topics, seed=seed).mixture


def fdm_documents(corpus, n_topics, *, seed=0, **_):
    return fit_documents(corpus, n_topics, seed=seed).mixture


def paper_adam(corpus, n_topics, *, seed=0, time_limit=None, **_):
    """Algorithm 2 with sampled pairs and the authors' settings."""
    moments = Moments.of(corpus)
    return fit_mixture(moments, n_topics, solver=Adam.authors(), seed=seed, time_limit=time_limit).mixture


def sparse_lda(corpus, n_topics, *, seed=0, alpha=0.1, eta=0.01, optimise=True, sweeps="settled", mallet=None, **_):
    return baselines.lda(
        corpus,
        n_topics,
        sweeps=sweeps,
        alpha=alpha,
        eta=eta,
        optimise=optimise,
        seed=seed,
        n_threads=2,
        mallet=mallet,
    )


def ep(corpus, n_topics, *, seed=0, **_):
    return baselines.extreme_points(Moments.of(corpus), n_topics, seed=seed)


METHODS = {
    "FDM": fdm,
    "FDM with documents": fdm_documents,
    "FDM, paper's Adam": paper_adam,
    "SparseLDA": sparse_lda,
    "SparseLDA, 10 alpha": sparse_lda,
    "EP": ep,
}
