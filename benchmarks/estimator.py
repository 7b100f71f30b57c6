"""FDM against scikit-learn's LatentDirichletAllocation and NMF: the authors' world, 20,000 documents, T = 20."""

import warnings

import numpy as np

from benchmarks.measure import machine, seconds
from benchmarks.recording import record
from fdmix import FDM, Mixture, metrics, worlds

T = 20


def main():
    from sklearn.decomposition import NMF, LatentDirichletAllocation

    print(f"# estimator\n{machine()}")
    world = worlds.authors(seed=1)
    counts = world.sample(20_000, length=30, seed=2).counts
    FDM(T).fit(counts)  # compile
    for model in (
        FDM(T),
        LatentDirichletAllocation(T, random_state=0),
        NMF(T, beta_loss="kullback-leibler", solver="mu", init="nndsvda", random_state=0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that NMF did not converge
            took, _ = seconds(lambda model=model: model.fit(counts), repeats=1)
        topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
        error = metrics.matching_distance(Mixture(topics, np.eye(T) / T), world.mixture)
        record(type(model).__name__, seconds=took, l1=error.mean)
        print(f"  {type(model).__name__:26s} {took:7.2f} s, l1 {error.mean:.3f}")
