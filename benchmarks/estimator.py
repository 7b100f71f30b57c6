"""FDM on the authors' world, T = 20: against scikit-learn's LatentDirichletAllocation and NMF, with weights instead
of counts, and how near `transform` comes to the true shares."""

import time
import warnings

import numpy as np

from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import FDM, Corpus, Mixture, metrics, worlds
from fdmix.sklearn import FractionalCountsWarning

T = 20
WEIGHTED_DOCUMENTS = 10_000
WORLDS = (1, 2, 3)


def against_neighbours():
    from sklearn.decomposition import NMF, LatentDirichletAllocation

    world = worlds.authors(seed=1)
    counts = world.sample(20_000, length=30, seed=2).counts
    models = {
        "FDM": FDM(T),
        "FDM, refine=False": FDM(T, refine=False),
        "LatentDirichletAllocation": LatentDirichletAllocation(T, random_state=0),
        "NMF": NMF(T, beta_loss="kullback-leibler", solver="mu", init="nndsvda", random_state=0),
    }
    FDM(T).fit(counts)  # compile
    for name, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that NMF did not converge
            begin, cpu_begin = time.perf_counter(), time.process_time()
            model.fit(counts)
            took, cpu = time.perf_counter() - begin, time.process_time() - cpu_begin
        error = distance(model.components_ / model.components_.sum(axis=1, keepdims=True), world)
        record(name, seconds=took, cpu_seconds=cpu, l1=error)
        print(f"  {name:26s} {took:7.2f} s, {cpu:7.2f} CPU s, l1 {error:.3f}")


def distance(topics, world):
    """The mean l1 distance of matched topics from the truth."""
    return metrics.matching_distance(Mixture(topics, np.eye(T) / T), world.mixture).mean


def with_weights():
    """What it costs to give weights instead of counts, by the length of the documents."""
    from sklearn.feature_extraction.text import TfidfTransformer

    print(f"  {WEIGHTED_DOCUMENTS:,} documents, l1 of counts, of counts / 7 and of tf-idf")
    for length in (10, 30, 100):
        errors = {"counts": [], "divided by 7": [], "tf-idf": []}
        for seed in WORLDS:
            world = worlds.authors(seed=seed)
            counts = world.sample(WEIGHTED_DOCUMENTS, length=length, seed=seed + 1).counts
            tables = (counts, counts / 7, TfidfTransformer().fit_transform(counts))
            for name, table in zip(errors, tables, strict=True):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FractionalCountsWarning)
                    errors[name].append(distance(FDM(T, refine=False).fit(table).components_, world))
        means = {name: float(np.mean(values)) for name, values in errors.items()}
        record(f"{length} tokens", **means)
        print(f"    {length:4} tokens: " + ", ".join(f"{mean:.3f}" for mean in means.values()))


def shares_of_documents(length=10, n_documents=5_000):
    """How near the assigned shares are to the true ones, given the true topics."""
    rng = np.random.default_rng(3)
    world = worlds.authors(seed=1)
    theta = rng.dirichlet(np.full(T, 1 / T), n_documents)
    corpus = Corpus(rng.multinomial(length, theta @ world.topics))
    for prior in (None, "dirichlet"):
        found = world.mixture.assign(corpus, prior=prior)
        l1, squares = np.abs(found - theta).sum(axis=1).mean(), ((found - theta) ** 2).sum(axis=1).mean()
        record(f"transform, prior={prior}", l1=l1, squares=squares)
        print(f"  shares of documents of {length} tokens, prior {prior}: l1 {l1:.3f}, squares {squares:.4f}")


def main():
    print(f"# estimator\n{machine()}")
    against_neighbours()
    with_weights()
    shares_of_documents()
