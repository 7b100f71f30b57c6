"""Do the 90 % intervals of `reliability` cover the truth in 90 % of cases? Worlds whose topics are known.

    python -m benchmarks coverage                              # the worlds that the rule was chosen on
    FDMIX_PARTS=aside python -m benchmarks coverage            # those kept aside, for rules that are fixed
    FDMIX_PARTS=fresh python -m benchmarks coverage            # others, written after the rule and run once
    FDMIX_PARTS=all python -m benchmarks coverage --save       # all of them, for the page
    FDMIX_PARTS="intervals;zipf" python -m benchmarks coverage # some worlds, by name
    FDMIX_SAMPLES=8 FDMIX_WARM=1                               # samples of each world; warm refits

Prints, for each world, how many of the intervals of shares, alpha and the ten most probable words of each topic hold
the truth, how much wider they are than the errors ask for, and how many topics the fit missed.
"""

import os
import time
from dataclasses import dataclass

import numpy as np

from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import Moments, fit_mixture, worlds
from fdmix.metrics import matching_distance
from fdmix.reliability import reliability

FOLDS = 16
NORMAL = 1.645  # half the width of a 90 % interval, in standard deviations
MISSED = 1.0  # l1 distance from which on a true topic was not found


@dataclass(frozen=True)
class Setting:
    """A world, the number of documents, their mean length, and whether lengths are geometric instead of equal."""

    world: worlds.World
    n_documents: int
    length: int = 30
    unequal: bool = False


def correlated(n_topics: int, n_words: int, seed: int) -> worlds.World:
    """Topics that come in pairs: theta is logistic-normal, and two topics of a pair go together."""
    pairs = np.kron(np.eye(n_topics // 2), np.ones((2, 2)))
    law = worlds.LogisticNormal(np.zeros(n_topics), 2.5 * np.eye(n_topics) + 1.5 * pairs)
    return worlds.World(worlds.dirichlet_topics(n_topics, 40 * worlds.zipf_base(n_words), seed), law)


def dense(n_topics: int, n_words: int, a: float, seed: int) -> worlds.World:
    """Documents with many topics: theta ~ Dir(a)."""
    return worlds.World(worlds.zipf(n_topics, n_words, seed, concentration=30).topics, a)


SETTINGS = {
    "intervals": lambda: Setting(worlds.intervals(), 3_500),
    "authors": lambda: Setting(worlds.authors(), 3_000),
    "zipf": lambda: Setting(worlds.zipf(8, 300), 3_500),
    "zipf, 20,000 documents": lambda: Setting(worlds.zipf(8, 300), 20_000),
    "zipf, sharp topics": lambda: Setting(worlds.zipf(8, 300, concentration=20), 3_500),
    "zipf, unequal lengths": lambda: Setting(worlds.zipf(10, 500, seed=5), 5_000, unequal=True),
    "zipf, T 30, short": lambda: Setting(worlds.zipf(30, 800, seed=2), 12_000, 15),
    "correlated": lambda: Setting(correlated(6, 300, 4), 4_000),
    "dense theta": lambda: Setting(dense(10, 400, 0.3, 6), 8_000),
}
KEPT_ASIDE = {
    "aside: intervals, 1,000 documents": lambda: Setting(worlds.intervals(), 1_000),
    "aside: intervals, 50,000 documents": lambda: Setting(worlds.intervals(), 50_000, 20),
    "aside: zipf, T 5": lambda: Setting(worlds.zipf(5, 400, seed=11), 10_000, 20),
    "aside: zipf, T 20, unequal lengths": lambda: Setting(worlds.zipf(20, 700, seed=12), 10_000, unequal=True),
    "aside: sharp topics, T 12": lambda: Setting(worlds.zipf(12, 400, seed=13, concentration=20), 6_000),
    "aside: correlated, T 8": lambda: Setting(correlated(8, 400, 14), 6_000, 40),
    "aside: dense theta, T 6": lambda: Setting(dense(6, 300, 0.4, 15), 6_000),
}
FRESH = {
    "fresh: zipf, T 15, 60 tokens": lambda: Setting(worlds.zipf(15, 600, seed=31), 5_000, 60),
    "fresh: correlated, T 10, unequal lengths": lambda: Setting(correlated(10, 500, 32), 8_000, unequal=True),
    "fresh: dense theta, T 8": lambda: Setting(dense(8, 500, 0.2, 33), 6_000),
    "fresh: sharp topics, T 6": lambda: Setting(worlds.zipf(6, 300, seed=34, concentration=15), 2_000),
}


def sampled(setting: Setting, seed: int) -> Moments:
    length = setting.length
    if setting.unequal:
        length = worlds.geometric_lengths(setting.n_documents, setting.length, seed)
    return Moments.of(setting.world.sample(setting.n_documents, length, seed), folds=FOLDS)


def held(setting: Setting, seed: int, *, warm: bool = False, **settings):
    """For shares, alpha and words: (which intervals hold the truth, squared errors, half widths); topics missed."""
    world, moments = setting.world, sampled(setting, seed)
    n_topics = len(world.topics)
    mixture = reliability(fit_mixture(moments, n_topics).mixture, moments, seed=seed, warm=warm, **settings)
    found, matched = mixture.reliability, matching_distance(mixture, world.mixture)
    order = matched.right[np.argsort(matched.left)]
    truth, pairs = world.mixture, np.triu_indices(n_topics)
    quantities = {
        "shares": (*found.shares.T, mixture.shares, truth.shares[order]),
        "alpha": tuple(
            table[pairs]
            for table in (*found.correlations, mixture.correlations, truth.correlations[np.ix_(order, order)])
        ),
        "words": (
            found.probabilities[..., 0], found.probabilities[..., 1],
            np.take_along_axis(mixture.topics, found.words, axis=1),
            np.take_along_axis(truth.topics[order], found.words, axis=1),
        ),
    }  # fmt: skip
    rows = {
        name: ((low <= true) & (true <= high), (value - true) ** 2, (high - low) / 2)
        for name, (low, high, value, true) in quantities.items()
    }
    return rows, int((matched.distances > MISSED).sum())


def measure(name: str, setting: Setting, n_samples: int, warm: bool) -> None:
    begin = time.process_time()
    samples = [held(setting, seed, warm=warm) for seed in range(n_samples)]
    said, row = [], {}
    for quantity in ("shares", "alpha", "words"):
        covered = np.mean([np.mean(rows[quantity][0]) for rows, _ in samples])
        error = np.sqrt(np.mean([np.mean(rows[quantity][1]) for rows, _ in samples]))
        half = np.sqrt(np.mean([np.mean(rows[quantity][2] ** 2) for rows, _ in samples]))
        said.append(f"{quantity} {covered:4.0%} (width x {half / NORMAL / error:.2f})")
        row |= {quantity: 100 * covered, f"width of {quantity}": half / NORMAL / error}
    missed = sum(missed for _, missed in samples) / n_samples
    seconds = (time.process_time() - begin) / n_samples
    print(f"{name:36} {'  '.join(said)}  missed {missed:.1f}  {seconds:.1f} s of processor time", flush=True)
    record(name.replace(":", ""), samples=n_samples, **row, missed=missed)


def main():
    print(f"# coverage of 90 % intervals\n{machine()}")
    parts = os.environ.get("FDMIX_PARTS", "")
    every = SETTINGS | KEPT_ASIDE | FRESH
    named = {"": SETTINGS, "aside": KEPT_ASIDE, "fresh": FRESH, "all": every}
    chosen = named.get(parts)
    if chosen is None:
        chosen = {name: every[name] for name in parts.split(";")}
    n_samples, warm = int(os.environ.get("FDMIX_SAMPLES", "8")), bool(os.environ.get("FDMIX_WARM"))
    for name, setting in chosen.items():
        measure(name, setting(), n_samples, warm)


if __name__ == "__main__":
    main()
