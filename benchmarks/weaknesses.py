"""Where the default fit of pairs is weak: small worlds with known topics, each unlike the usual one in one way.

T = 30, N = 800, topics ~ Dir(60 x Zipf), 10,000 documents of 30 tokens, theta ~ Dir(1/T), unless the name says
otherwise. `sharp` fits with the shrinkage of 0.2 that is never taken off, `plain` without any sparse phase; `unigram`
gives every topic the frequencies of all words.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.measure import machine
from benchmarks.peers import gibbs
from benchmarks.recording import record
from benchmarks.recovery import correlated_theta, dense_theta
from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.metrics import matching_distance

SEEDS = 3
PEER_SWEEPS = 300
FITS = {"default": {}, "sharp": {"sparsity": 0.2}, "plain": {"sparsity": 0}}


@dataclass(frozen=True)
class Weakness:
    """A world for each seed, and its documents."""

    world: object
    n_documents: int = 10_000
    length: int = 30


def usual(seed, concentration=60.0):
    return worlds.zipf(30, 800, seed, concentration)


def alike(seed):
    """Topics that share 80 % of their words' probability."""
    own, common = worlds.zipf(30, 800, seed), worlds.dirichlet_topics(1, 60 * worlds.zipf_base(800), seed + 100)
    return worlds.World(0.2 * own.topics + 0.8 * common, own.law)


WORLDS = {
    "the usual world": Weakness(usual),
    "dense theta": Weakness(dense_theta),
    "correlated theta": Weakness(correlated_theta),
    "8 tokens a document": Weakness(usual, length=8),
    "500 documents": Weakness(usual, n_documents=500),
    "smooth topics": Weakness(lambda seed: usual(seed, 1_000.0)),
    "topics 80 % the same": Weakness(alike),
}


def main():
    print(f"# where the default fit is weak: l1 (missed), means of {SEEDS} seeds\n{machine()}")
    for name, weakness in WORLDS.items():
        found = {method: [] for method in (*FITS, "tomotopy", "from the truth", "unigram")}
        for seed in range(SEEDS):
            world = weakness.world(seed)
            corpus = world.sample(weakness.n_documents, length=weakness.length, seed=seed + 50)
            moments = Moments.of(corpus)
            fits = {method: fit_mixture(moments, 30, **options).mixture for method, options in FITS.items()}
            fits["from the truth"] = fit_mixture(moments, 30, start=world.mixture).mixture
            unigram = np.tile(moments.unigram / moments.unigram.sum(), (30, 1))
            fits["unigram"] = Mixture(unigram, world.law.correlations)
            if peer := _peer(corpus, world):
                fits["tomotopy"] = peer
            for method, mixture in fits.items():
                distance = matching_distance(mixture, world.mixture)
                found[method].append((distance.mean, distance.missed))
        for method, runs in found.items():
            if runs:
                l1, missed = np.array(runs).T
                record(
                    f"{name}, {method}", l1=l1.mean(), least=l1.min(), most=l1.max(), missed=missed.mean(),
                    most_missed=missed.max(),
                )  # fmt: skip
        told = (f"{method} {np.mean([d for d, _ in runs]):.3f}" for method, runs in found.items() if runs)
        print(f"  {name:22} {', '.join(told)}", flush=True)


def _peer(corpus, world):
    """Gibbs sampling with the true prior of theta, where it is a Dirichlet; None without tomotopy."""
    alpha = float(world.law.a[0]) if isinstance(world.law, worlds.Dirichlet) else 0.1
    try:
        return gibbs(corpus.counts, 30, alpha=alpha, eta=60 / 800, sweeps=PEER_SWEEPS, workers=2)[0]
    except ImportError:
        return None
