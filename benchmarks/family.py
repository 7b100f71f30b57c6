"""A family of problems on which rules of the fits are chosen: worlds with known topics, and real corpora.

Worlds: topics learned from mlpapers with the paper's priors (alpha = 1/T, eta = 1/N) and with optimised ones, and
topics drawn at random; documents short and long, of equal and unequal length; theta sparse, dense and correlated.
Real corpora: 20 Newsgroups, a small part of it, DBLP's titles, paragraphs of mlpapers.

`KEPT_ASIDE` names problems that rules must not be chosen on: they are run once the rules are fixed.

    python -m benchmarks family                            all problems, pairs alone and with documents
    FDMIX_PARTS=titles,geometric python -m benchmarks family    some of them
    FDMIX_METHODS=pairs,documents,tomotopy,nmf             which methods (default: pairs, documents)
    FDMIX_TRUTH=folder                                     where learned truths are kept between runs
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.data import data_file, mlpapers
from benchmarks.measure import machine
from benchmarks.peers import gibbs, nmf
from fdmix import Corpus, Mixture, Moments, fit_documents, fit_mixture, worlds
from fdmix.metrics import (
    coherence,
    completion_log_likelihood,
    diversity,
    matching_distance,
    normalised_mutual_information,
    purity,
)

SYMMETRIC_PRIORS = (0.02, 0.05, 0.1, 0.2, 0.5)
SWEEPS = int(os.environ.get("FDMIX_SWEEPS", "1000"))


@dataclass(frozen=True)
class Problem:
    """Documents to learn from, the number of topics, and what to judge by: the truth, or documents held out."""

    train: Corpus
    n_topics: int
    truth: Mixture | None = None
    test: Corpus | None = None
    labels: Any = None  # of the documents to learn from


@cache
def papers() -> sp.csr_array:
    return mlpapers()


def some_paragraphs(n: int, seed: int = 0) -> sp.csr_array:
    return papers()[np.sort(np.random.default_rng(seed).choice(papers().shape[0], n, replace=False))]


@cache
def learned_topics(n_topics: int, kind: str) -> Any:
    """Topics that tomotopy learns from mlpapers, with "optimised" priors or with those of the "paper"."""
    folder = Path(os.environ.get("FDMIX_TRUTH", "."))
    path = folder / f"truth-{n_topics}-{kind}.npy"
    if path.exists():
        return np.load(path)
    print(f"  learning the {n_topics} true topics ({kind} priors)", flush=True)
    documents = some_paragraphs(300 * n_topics)
    priors = {"alpha": 1 / n_topics, "eta": 1 / documents.shape[1]} if kind == "paper" else {"alpha": 0.1}
    topics = gibbs(documents, n_topics, sweeps=150, optimise=kind != "paper", **priors)[0].topics
    if "FDMIX_TRUTH" in os.environ:
        np.save(path, topics)
    return topics


def drawn(world: worlds.World, n_documents: int, mean_length: float, unequal: bool, seed: int) -> Problem:
    def sample(n: int, seed: int) -> Corpus:
        length = worlds.geometric_lengths(n, mean_length, seed) if unequal else mean_length
        return world.sample(n, length, seed)

    train, test = sample(n_documents, seed), sample(n_documents // 5, seed + 10_000)
    return Problem(train, len(world.topics), world.mixture, test)


def learned(n_topics: int, kind: str, n_documents: int, length: int, *, unequal=False, theta=1.0, seed=1) -> Problem:
    world = worlds.World(learned_topics(n_topics, kind), theta / n_topics)
    return drawn(world, n_documents, length, unequal, seed)


def without_own_words(seed: int) -> worlds.World:
    """Topics that share all their words: each is an even mixture of four of 40 sharp ones."""
    sharp = worlds.dirichlet_topics(40, 60 * worlds.zipf_base(2_000), seed)
    rng = np.random.default_rng(seed)
    return worlds.World(np.stack([sharp[rng.choice(40, 4, replace=False)].mean(axis=0) for _ in range(30)]), 1 / 30)


def correlated(seed: int) -> worlds.World:
    group = np.arange(30) // 3
    law = worlds.LogisticNormal(np.zeros(30), 4 * (0.7 * (group[:, None] == group) + 0.3 * np.eye(30)))
    return worlds.World(worlds.dirichlet_topics(30, 60 * worlds.zipf_base(800), seed), law)


def _npz(name: str) -> Any:
    with np.load(data_file(name)) as arrays:
        table = sp.csr_array(
            (arrays["data"].astype(np.int32), arrays["indices"].astype(np.int32), arrays["indptr"]),
            shape=tuple(arrays["shape"]),
        )
        return table, arrays["vocabulary"].tolist(), arrays["labels"]


def split(table: sp.csr_array, n_topics: int, words=None, labels=None, seed: int = 0) -> Problem:
    """A fifth of the documents is held out."""
    useful = np.flatnonzero(np.asarray(table.sum(axis=1)).ravel() >= 2)
    shuffled = np.random.default_rng(seed).permutation(useful)
    test, train = np.split(shuffled, [useful.size // 5])
    own = None if labels is None else np.asarray(labels)[train]
    return Problem(Corpus(table[train], words), n_topics, None, Corpus(table[test], words), own)


def newsgroups(n_topics: int = 50, n_documents: int | None = None, seed: int = 0) -> Problem:
    table, words, labels = _npz("newsgroups.npz")
    chosen = np.random.default_rng(5).permutation(table.shape[0])[:n_documents]
    return split(table[chosen], n_topics, words, labels[chosen], seed)


@cache
def _read(name: str, preset: str | None, rows: int) -> Any:
    import pyarrow.parquet as pq

    from fdmix import read_corpus

    table = pq.read_table(data_file(name))
    labels = table["label"].to_pylist() if "label" in table.column_names else None
    texts = table["text"].to_pylist()
    chosen = np.sort(np.random.default_rng(3).permutation(len(texts))[:rows])
    corpus = read_corpus([texts[i] for i in chosen], preset=preset)
    return corpus, None if labels is None else np.asarray(labels)[chosen]


def titles(n_topics: int = 50) -> Problem:
    corpus, labels = _read("dblp.parquet", None, 60_000)
    return split(corpus.counts, n_topics, corpus.vocabulary, labels)


def tweets(n_topics: int = 100) -> Problem:
    corpus, _ = _read("tweets.parquet", "tweets", 150_000)
    return split(corpus.counts, n_topics, corpus.vocabulary)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "newsgroups": newsgroups,
    "small": lambda: newsgroups(20, 2_200),
    "titles": titles,
    "paragraphs": lambda: split(some_paragraphs(75_000), 100),
    "optimised": lambda: learned(200, "optimised", 40_000, 30),
    "paper": lambda: learned(200, "paper", 40_000, 30),
    "paper-geometric": lambda: learned(200, "paper", 40_000, 30, unequal=True),
    "optimised-geometric": lambda: learned(200, "optimised", 40_000, 30, unequal=True),
    "paper-50-short": lambda: learned(50, "paper", 40_000, 8, unequal=True),
    "optimised-50-long": lambda: learned(50, "optimised", 4_000, 100, unequal=True),
    "paper-50-dense": lambda: learned(50, "paper", 20_000, 40, unequal=True, theta=5.0),
    "middle": lambda: drawn(worlds.zipf(100, 3_000, 11), 20_000, 30, False, 11),
    "middle-geometric": lambda: drawn(worlds.zipf(100, 3_000, 11), 20_000, 30, True, 11),
    "correlated": lambda: drawn(correlated(7), 10_000, 30, True, 7),
    "no-own-words": lambda: drawn(without_own_words(3), 10_000, 30, True, 3),
    "few-documents": lambda: learned(20, "optimised", 500, 60, unequal=True),
}
KEPT_ASIDE: dict[str, Callable[[], Problem]] = {
    "tweets": tweets,
    "newsgroups-20": lambda: newsgroups(20, seed=9),
    "paper-100": lambda: learned(100, "paper", 20_000, 20, unequal=True, seed=77),
    "authors": lambda: drawn(worlds.authors(5), 20_000, 20, True, 5),
    "optimised-dense": lambda: learned(100, "optimised", 20_000, 50, unequal=True, theta=10.0, seed=78),
}


def judged(problem: Problem, mixture: Mixture) -> str:
    """What is measured of a mixture, in one line."""
    if problem.truth is not None:
        distance = matching_distance(mixture, problem.truth)
        return f"l1 {distance.mean:.3f} ({distance.missed:3} missed)"
    assert problem.test is not None
    best = max(completion_log_likelihood(mixture, problem.test, prior).mean for prior in SYMMETRIC_PRIORS)
    own = completion_log_likelihood(mixture, problem.test, "dirichlet").mean
    both = Corpus(sp.vstack([problem.train.counts, problem.test.counts], format="csr"), problem.train.vocabulary)
    line = (
        f"completion {best:.4f} own {own:.4f} npmi {coherence(mixture, both).mean:.3f} div {diversity(mixture):.2f}"
    )
    if problem.labels is not None:
        found = mixture.assign(problem.train, "dirichlet").argmax(axis=1)
        agreement = normalised_mutual_information(found, problem.labels), purity(found, problem.labels)
        line += " nmi {:.3f} purity {:.3f}".format(*agreement)
    return line


def timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.perf_counter()
    found = fit()
    return found, time.perf_counter() - begin


METHODS: dict[str, Callable[[Problem], tuple[Mixture, float]]] = {
    "pairs": lambda p: timed(lambda: fit_mixture(Moments.of(p.train), p.n_topics).mixture),
    "documents": lambda p: timed(lambda: fit_documents(p.train, p.n_topics).mixture),
    "tomotopy": lambda p: gibbs(p.train.counts, p.n_topics, alpha=0.1, sweeps=SWEEPS, optimise=True),
    "nmf": lambda p: nmf(p.train.counts, p.n_topics),
}


def run(problems: dict[str, Callable[[], Problem]], methods: list[str]) -> None:
    for name, make in problems.items():
        problem = make()
        for method in methods:
            mixture, seconds = METHODS[method](problem)
            print(f"  {name:20} {method:10} {judged(problem, mixture)}  {seconds:.1f} s", flush=True)


def main() -> None:
    print(f"A family of problems, on {machine()}")
    if data_file("mlpapers.npz") is None:
        return
    everything = PROBLEMS | KEPT_ASIDE
    chosen = os.environ.get("FDMIX_PARTS", "").split(",") if "FDMIX_PARTS" in os.environ else list(everything)
    run({name: everything[name] for name in chosen}, os.environ.get("FDMIX_METHODS", "pairs,documents").split(","))
