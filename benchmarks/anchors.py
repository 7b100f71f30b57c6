"""Anchor words: what EP finds with them on the authors' problem, and how near fits to text come to having them."""

import time

import numpy as np

from benchmarks.measure import machine
from benchmarks.memory import newsgroups
from benchmarks.recording import record
from fdmix import Corpus, Moments, baselines, fit_documents, fit_mixture, metrics, worlds

SEEDS = (1, 2, 3)


def extreme_points():
    """The l1 distance of EP's topics from the truth, with anchors from all words and from frequent ones."""
    for name, settings in (
        ("kl", {"loss": "kl"}),
        ("l2", {"loss": "l2"}),
        ("kl, rarer words", {"loss": "kl", "min_documents": 1}),
    ):
        errors, begin = [], time.process_time()
        for seed in SEEDS:
            world = worlds.authors(seed=seed)
            moments = Moments.of(world.sample(50_000, length=30, seed=seed + 1))
            found = baselines.extreme_points(moments, 20, **settings)
            errors.append(metrics.matching_distance(found, world.mixture).mean)
        cpu = (time.process_time() - begin) / len(SEEDS)
        record(f"EP, {name}", least=min(errors), most=max(errors), cpu_seconds=cpu)
        print(f"  EP, {name:16} l1 {min(errors):.3f} to {max(errors):.3f}, {cpu:.1f} CPU s each")


def slack():
    """Topics with an anchor word and the mean slack of three fits to 20 Newsgroups, T = 50."""
    counts = newsgroups()
    if counts is None:
        return
    corpus = Corpus(counts)
    moments = Moments.of(corpus)
    for name, fit in (
        ("sparse", lambda: fit_mixture(moments, 50, sparsity=0.2)),
        ("pairs", lambda: fit_mixture(moments, 50)),
        ("documents", lambda: fit_documents(corpus, 50)),
    ):
        begin = time.process_time()
        found = metrics.identifiability(fit().mixture)
        cpu = time.process_time() - begin
        blurred = int(np.sum(found.slack > 0.5))
        record(
            f"slack, {name}", anchored=found.n_anchored, mean=float(found.slack.mean()), without_own_word=blurred,
            cpu_seconds=cpu,
        )  # fmt: skip
        print(
            f"  {name:10} {found.n_anchored} topics with an anchor word, slack {found.slack.mean():.2f}, "
            f"{blurred} without a word of their own, {cpu:.0f} CPU s"
        )


def main():
    print(f"# anchors\n{machine()}")
    Moments.of(np.ones((2, 2), int))  # compile
    extreme_points()
    slack()
