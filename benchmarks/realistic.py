"""Word pairs alone, with documents, and Gibbs sampling, on realistic topics and on real text, in one run.

The true topics are learned by tomotopy's LDA from mlpapers (300 sweeps, some minutes). Documents of 30 tokens are
drawn from them with fresh seeds. tomotopy is given the true prior, or for correlated topics the nearest Dirichlet.

Environment variables: FDMIX_PARTS chooses among synthetic, many, correlated, text and seeds; FDMIX_TRUTH names a .npy
file that stores the true topics; FDMIX_THREADS sets the threads, FDMIX_SWEEPS the sweeps on synthetic documents.
"""

import os
import secrets
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import mlpapers, mlpapers_holdout
from benchmarks.measure import machine
from benchmarks.peers import gibbs as gibbs_on
from fdmix import Corpus, Moments, fit_documents, fit_mixture, worlds
from fdmix.metrics import (
    coherence,
    completion_log_likelihood,
    diversity,
    holdout_log_likelihood,
    matching_distance,
)
from fdmix.mixture.assignment import matched_prior

T, DOCUMENTS, LENGTH = 200, 40_000, 30
TEXT_TOPICS, PARAGRAPHS, HOLDOUT = 100, 60_000, 5_000
THREADS = int(os.environ.get("FDMIX_THREADS", "0")) or None
SWEEPS = int(os.environ.get("FDMIX_SWEEPS", "1000"))
gibbs = partial(gibbs_on, workers=THREADS)


def true_topics(papers):
    path = Path(os.environ["FDMIX_TRUTH"]) if "FDMIX_TRUTH" in os.environ else None
    if path is not None and path.exists():
        return np.load(path)
    print("learning the true topics", flush=True)
    chosen = np.sort(np.random.default_rng(0).choice(papers.shape[0], PARAGRAPHS, replace=False))
    topics = gibbs(papers[chosen], T, alpha=0.1, sweeps=300, optimise=True)[0].topics
    if path is not None:
        np.save(path, topics)
    return topics


def correlated(n_topics):
    """A law of theta in which topics occur together in groups of four."""
    group = np.arange(n_topics) // 4
    covariance = 6 * (0.7 * (group[:, None] == group) + 0.3 * np.eye(n_topics))
    return worlds.LogisticNormal(np.zeros(n_topics), covariance)


def synthetic(name, world, prior, seed):
    corpus = world.sample(DOCUMENTS, length=LENGTH, seed=seed)
    unseen = world.sample(3000, length=LENGTH, seed=seed + 1)

    def report(who, mixture, seconds):
        distance = matching_distance(mixture, world.mixture)
        score = completion_log_likelihood(mixture, unseen, "dirichlet").mean
        print(
            f"  {name}, seed {seed}: {who:22} l1 {distance.mean:.4f}, missed {distance.missed:3}, completion "
            f"{score:.4f}, npmi {coherence(mixture, corpus).mean:.3f}, diversity {diversity(mixture):.3f}, "
            f"{seconds:.0f} s",
            flush=True,
        )

    begin = time.perf_counter()
    moments = Moments.of(corpus, n_threads=THREADS)
    report("moments alone", fit_mixture(moments, T, n_threads=THREADS).mixture, time.perf_counter() - begin)
    begin = time.perf_counter()
    report("with documents", fit_documents(corpus, T, n_threads=THREADS).mixture, time.perf_counter() - begin)
    report(f"tomotopy, {SWEEPS} sweeps", *gibbs(corpus.counts, T, alpha=prior, sweeps=SWEEPS))


def paragraphs(papers, holdout, seed):
    """(paragraphs to learn from, test paragraphs)"""
    rng = np.random.default_rng(seed)
    return tuple(
        papers[np.sort(rng.choice(np.flatnonzero(which), n, replace=False))]
        for which, n in ((~holdout, PARAGRAPHS), (holdout, HOLDOUT))
    )


def text(papers, holdout, seed):
    train, test = paragraphs(papers, holdout, seed)

    def report(who, mixture, seconds):
        scores = (
            holdout_log_likelihood(mixture, test).mean,
            completion_log_likelihood(mixture, test).mean,
            completion_log_likelihood(mixture, test, 0.1).mean,
            completion_log_likelihood(mixture, test, "dirichlet").mean,
        )
        print(
            f"  mlpapers, seed {seed}: {who:32} hold-out {scores[0]:.4f}, completion ML {scores[1]:.4f}, Dir(0.1) "
            f"{scores[2]:.4f}, own prior {scores[3]:.4f}, npmi {coherence(mixture, Corpus(test)).mean:.4f}, "
            f"diversity {diversity(mixture):.3f}, {seconds:.0f} s",
            flush=True,
        )

    begin = time.perf_counter()
    moments = Moments.of(train, n_threads=THREADS)
    fitted = fit_mixture(moments, TEXT_TOPICS, n_threads=THREADS).mixture
    report("moments alone", fitted, time.perf_counter() - begin)
    begin = time.perf_counter()
    both = fit_documents(train, TEXT_TOPICS, n_threads=THREADS).mixture
    report("with documents", both, time.perf_counter() - begin)
    report("tomotopy, fixed, 200 sweeps", *gibbs(train, TEXT_TOPICS, alpha=0.1, sweeps=200))
    report("tomotopy, optimised, 900 sweeps", *gibbs(train, TEXT_TOPICS, alpha=0.1, sweeps=900, optimise=True))


def seeds(papers, holdout, seed):
    """Print how far apart two fits to the same paragraphs with different seeds are."""
    train, _ = paragraphs(papers, holdout, seed)
    moments = Moments.of(train, n_threads=THREADS)
    for who, fit in (
        ("moments alone", lambda s: fit_mixture(moments, TEXT_TOPICS, seed=s, n_threads=THREADS).mixture),
        ("with documents", lambda s: fit_documents(train, TEXT_TOPICS, seed=s, n_threads=THREADS).mixture),
        ("tomotopy, fixed, 200 sweeps", lambda s: gibbs(train, TEXT_TOPICS, alpha=0.1, sweeps=200, seed=s)[0]),
        (
            "tomotopy, optimised, 900 sweeps",
            lambda s: gibbs(train, TEXT_TOPICS, alpha=0.1, sweeps=900, optimise=True, seed=s)[0],
        ),
    ):
        distance = matching_distance(fit(1), fit(2))
        said = f"l1 {distance.mean:.4f}, {distance.missed} over 1"
        print(f"  mlpapers, split {seed}, two seeds: {who:32} {said}", flush=True)


def main():
    print(f"# realistic topics and real text\n{machine()}")
    papers = mlpapers()
    if papers is None:
        return
    holdout = mlpapers_holdout()
    try:
        import tomotopy  # noqa: F401
    except ImportError:
        print("skipped: the true topics and the peer need tomotopy (pip install tomotopy)")
        return
    parts = os.environ.get("FDMIX_PARTS", "synthetic,many,correlated,text,seeds").split(",")
    topics = true_topics(papers[~holdout]) if set(parts) - {"text", "seeds"} else None
    if "synthetic" in parts:
        for _ in range(2):
            synthetic("Dir(1/T)", worlds.World(topics, 1 / T), 1 / T, secrets.randbelow(10**6))
    if "many" in parts:
        synthetic("Dir(10/T)", worlds.World(topics, 10 / T), 10 / T, secrets.randbelow(10**6))
    if "correlated" in parts:
        world = worlds.World(topics, correlated(T))
        prior = float(matched_prior(world.law.correlations).mean())
        synthetic("correlated", world, prior, secrets.randbelow(10**6))
    if "text" in parts:
        text(papers, holdout, secrets.randbelow(10**6))
    if "seeds" in parts:
        seeds(papers, holdout, secrets.randbelow(10**6))
