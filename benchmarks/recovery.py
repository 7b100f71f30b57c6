"""Does the default call find known topics, and how fast beside Gibbs sampling? Fresh seeds at each run.

`python -m benchmarks recovery` runs the three problems; the peer is tomotopy's LDA with the true hyperparameters.
"""

import os
import secrets
import time

import numpy as np

from benchmarks.measure import machine
from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.metrics import matching_distance

PROBLEMS = {
    # name: (world, documents, topics, runs, target l1, most missed, sweeps of the peer)
    "authors": (worlds.authors, 50_000, 20, 5, 0.03, 0, 100),
    "middle": (lambda seed: worlds.zipf(100, 3_000, seed), 20_000, 100, 5, 0.20, 1, 100),
    "paper": (lambda seed: worlds.zipf(500, 10_500, seed), 100_000, 500, 1, 0.20, 3, 100),
}


def gibbs(corpus, world, sweeps):
    """Topics of tomotopy's LDA after some sweeps on 2 workers, given the true priors; None if it is not installed."""
    try:
        import tomotopy
    except ImportError:
        print("  the peer is left out: pip install tomotopy")
        return None
    model = tomotopy.LDAModel(
        k=world.topics.shape[0], alpha=float(world.law.a[0]), eta=60 / world.topics.shape[1], seed=1
    )
    counts = corpus.counts
    for d in range(counts.shape[0]):
        entries = slice(counts.indptr[d], counts.indptr[d + 1])
        words = counts.indices[entries].repeat(counts.data[entries])
        model.add_doc([str(word) for word in words])
    model.optim_interval = 0
    begin = time.perf_counter()
    model.train(sweeps, workers=2, show_progress=False)
    seconds = time.perf_counter() - begin
    topics = np.zeros_like(world.topics)
    columns = [int(word) for word in model.used_vocabs]
    for t in range(topics.shape[0]):
        topics[t, columns] = model.get_topic_word_dist(t)
    return seconds, matching_distance(topics, world.topics)


def run(name, seed, with_peer):
    make, n_documents, n_topics, _, target, most_missed, sweeps = PROBLEMS[name]
    world = make(seed)
    corpus = world.sample(n_documents, length=30, seed=seed + 1)
    begin = time.perf_counter()
    moments = Moments.of(corpus)
    counted = time.perf_counter() - begin
    solution = fit_mixture(moments, n_topics)
    seconds = time.perf_counter() - begin
    found: Mixture = solution.mixture
    distance = matching_distance(found, world.mixture)
    verdict = "reached" if distance.mean <= target and distance.missed <= most_missed else "NOT reached"
    print(
        f"  {name:8} seed {seed:6}: l1 {distance.mean:.4f}, missed {distance.missed}, "
        f"{len(solution.log_likelihoods) - 1} passes, {seconds:.2f} s (counting {counted:.2f}), "
        f"trace {found.correlations.trace():.3f} of {world.law.correlations.trace():.3f}; "
        f"target {target} and {most_missed} missed: {verdict}",
        flush=True,
    )
    if with_peer and (peer := gibbs(corpus, world, sweeps)):
        peer_seconds, peer_distance = peer
        print(
            f"           tomotopy, true priors, {sweeps} sweeps: l1 {peer_distance.mean:.4f}, missed "
            f"{peer_distance.missed}, {peer_seconds:.1f} s: {peer_seconds / seconds:.1f} times our time",
            flush=True,
        )


def main():
    print(f"# recovery of known topics by the default call\n{machine()}")
    fit_mixture(Moments.of(worlds.authors(0).sample(500)), 20)  # compile
    chosen = os.environ.get("FDMIX_PROBLEMS", ",".join(PROBLEMS)).split(",")
    for name in chosen:
        for k in range(PROBLEMS[name][3]):
            run(name, secrets.randbelow(10**6), with_peer=k == 0)
