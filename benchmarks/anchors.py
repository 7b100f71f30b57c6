"""What does EP find on the authors' problem, with anchors from frequent words and from all words?"""

import time

import numpy as np

from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import Moments, baselines, metrics, worlds

SEEDS = (1, 2, 3)


def extreme_points():
    """The l1 distance of EP's topics from the truth."""
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


def main():
    print(f"# anchors\n{machine()}")
    Moments.of(np.ones((2, 2), int))  # compile
    extreme_points()
