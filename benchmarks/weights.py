"""What does it cost to give the estimator weights instead of counts? The authors' world, T = 20, without `refine`."""

import time
import warnings

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import FDM, Mixture, metrics, worlds
from fdmix.sklearn import FractionalCountsWarning

T = 20
N_DOCUMENTS = 10_000
WORLDS = (1, 2, 3)


def fitted(table, world):
    """(l1 distance of the topics from the truth, CPU seconds)."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FractionalCountsWarning)
        topics = FDM(T, refine=False).fit(table).components_
    cpu = time.process_time() - begin
    return metrics.matching_distance(Mixture(topics, np.eye(T) / T), world.mixture).mean, cpu


def main():
    print(f"# weights\n{machine()}")
    fitted(worlds.authors(seed=0).sample(1_000, seed=0).counts, worlds.authors(seed=0))  # compile
    world = worlds.authors(seed=1)
    error, cpu = fitted(world.sample(20_000, length=30, seed=2).counts, world)  # as in benchmarks/estimator.py
    record("20,000 documents", l1=error, cpu_seconds=cpu)
    print(f"  20,000 documents: l1 {error:.3f}, {cpu:.2f} CPU s")
    print(f"  {N_DOCUMENTS:,} documents, l1 of counts, of counts / 7 and of tf-idf, mean of {len(WORLDS)} worlds")
    for length in (10, 30, 100):
        errors = {"counts": [], "divided by 7": [], "tf-idf": []}
        for seed in WORLDS:
            world = worlds.authors(seed=seed)
            counts = world.sample(N_DOCUMENTS, length=length, seed=seed + 1).counts
            tables = (counts, counts / 7, TfidfTransformer().fit_transform(counts))
            for name, table in zip(errors, tables, strict=True):
                errors[name].append(fitted(table, world)[0])
        means = {name: float(np.mean(values)) for name, values in errors.items()}
        record(f"{length} tokens", **means)
        print(f"    {length:4} tokens: " + ", ".join(f"{mean:.3f}" for mean in means.values()))
