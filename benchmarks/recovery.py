"""Does the default call find known topics, and how fast, compared with Gibbs sampling? Fresh seeds in each run.

FDMIX_PROBLEMS chooses among the problems. The peer is tomotopy's LDA with the true hyperparameters (where theta has a
Dirichlet prior), on two workers.
"""

import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.measure import machine
from benchmarks.peers import gibbs
from benchmarks.recording import record
from fdmix import Moments, fit_mixture, worlds
from fdmix.metrics import matching_distance


@dataclass(frozen=True)
class Problem:
    world: Callable[[int], worlds.World]
    n_documents: int
    n_topics: int
    runs: int
    concentration: float = 60.0  # sum of the parameters of the Dirichlet that topics are drawn from
    target: float | None = None  # largest l1 that counts as reached
    max_missed: int = 0


def dense_theta(seed):
    """Documents with about ten topics each: hard for every method."""
    return worlds.World(worlds.dirichlet_topics(30, 60 * worlds.zipf_base(800), seed), 0.3)


def correlated_theta(seed):
    """Topics that occur together in groups of three."""
    group = np.arange(30) // 3
    covariance = 4 * (0.7 * (group[:, None] == group) + 0.3 * np.eye(30))
    law = worlds.LogisticNormal(np.zeros(30), covariance)
    return worlds.World(worlds.dirichlet_topics(30, 60 * worlds.zipf_base(800), seed), law)


PROBLEMS = {
    "authors": Problem(worlds.authors, 50_000, 20, 5, 10.0, 0.03),
    "middle": Problem(lambda seed: worlds.zipf(100, 3_000, seed), 20_000, 100, 5, 60.0, 0.20, 1),
    "paper": Problem(lambda seed: worlds.zipf(500, 10_500, seed), 100_000, 500, 1, 60.0, 0.20, 3),
    "dense theta": Problem(dense_theta, 10_000, 30, 2),
    "correlated": Problem(correlated_theta, 10_000, 30, 2),
}
SWEEPS = 100  # of the peer


def peer(corpus, world, topic_concentration):
    """(seconds, CPU seconds, distance) of tomotopy's LDA with the true priors, or None if it is not installed."""
    concentration = float(world.law.a[0]) if isinstance(world.law, worlds.Dirichlet) else 0.1
    n_topics, n_words = world.topics.shape
    cpu = time.process_time()
    try:
        found, seconds = gibbs(
            corpus.counts, n_topics, alpha=concentration, eta=topic_concentration / n_words, sweeps=SWEEPS, workers=2
        )
    except ImportError:
        print("  skipped: the peer needs tomotopy (pip install tomotopy)")
        return None
    return seconds, time.process_time() - cpu, matching_distance(found.topics, world.topics)


def run(name, seed, with_peer):
    problem = PROBLEMS[name]
    world = problem.world(seed)
    corpus = world.sample(problem.n_documents, length=30, seed=seed + 1)
    begin, cpu = time.perf_counter(), time.process_time()
    moments = Moments.of(corpus)
    counted = time.perf_counter() - begin
    solution = fit_mixture(moments, problem.n_topics)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    found = solution.mixture
    distance = matching_distance(found, world.mixture)
    verdict = ""
    if problem.target is not None:
        reached = distance.mean <= problem.target and distance.missed <= problem.max_missed
        verdict = (
            f"; target {problem.target} and {problem.max_missed} missed: {'reached' if reached else 'NOT reached'}"
        )
    print(
        f"  {name:11} seed {seed:6}: l1 {distance.mean:.4f}, missed {distance.missed}, "
        f"{len(solution.log_likelihoods) - 1} passes, {seconds:.2f} s (counting {counted:.2f}), "
        f"trace {found.correlations.trace():.3f} of {world.law.correlations.trace():.3f}{verdict}",
        flush=True,
    )
    if with_peer and (measured := peer(corpus, world, problem.concentration)):
        peer_seconds, peer_cpu, peer_distance = measured
        record(
            f"{name}, tomotopy", l1=peer_distance.mean, missed=peer_distance.missed, seconds=peer_seconds,
            cpu_seconds=peer_cpu,
        )  # fmt: skip
        print(
            f"              tomotopy, {SWEEPS} sweeps: l1 {peer_distance.mean:.4f}, missed "
            f"{peer_distance.missed}, {peer_seconds:.1f} s: {peer_seconds / seconds:.1f} times our time",
            flush=True,
        )
    return distance.mean, distance.missed, seconds, cpu


def main():
    print(f"# recovery of known topics by the default call\n{machine()}")
    fit_mixture(Moments.of(worlds.authors(0).sample(500)), 20)  # compile
    chosen = os.environ.get("FDMIX_PROBLEMS", ",".join(PROBLEMS)).split(",")
    for name in chosen:
        runs = [run(name, secrets.randbelow(10**6), with_peer=k == 0) for k in range(PROBLEMS[name].runs)]
        lowest, highest = np.min(runs, axis=0), np.max(runs, axis=0)
        for which, (l1, missed, seconds, cpu) in (("least", lowest), ("most", highest)):
            record(f"{name}, {which}", runs=len(runs), l1=l1, missed=missed, seconds=seconds, cpu_seconds=cpu)
