"""How near are the shares of short documents to the truth, and to the exact posterior mean?"""

from itertools import product
from math import gamma

import numpy as np

from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import Corpus, Mixture, worlds

T, LENGTH, N_DOCUMENTS = 20, 10, 5_000
SMALL = (3, 12, 7, 0.1)  # topics, words, tokens and concentration of documents whose posterior is enumerated
N_SMALL = 60


def against_the_truth():
    """Mean l1 distance and squared distance of assigned shares from the true ones, given the true topics."""
    rng = np.random.default_rng(3)
    world = worlds.authors(seed=1)
    theta = rng.dirichlet(np.full(T, 1 / T), N_DOCUMENTS)
    corpus = Corpus(rng.multinomial(LENGTH, theta @ world.topics))
    for prior in (None, "dirichlet"):
        found = world.mixture.assign(corpus, prior=prior)
        l1, squares = np.abs(found - theta).sum(axis=1).mean(), ((found - theta) ** 2).sum(axis=1).mean()
        record(f"prior={prior}", l1=l1, squares=squares)
        print(f"  documents of {LENGTH} tokens, prior {prior}: l1 {l1:.3f}, squares {squares:.4f}")


def posterior_by_enumeration(topics, a, document):
    """The mean of theta given a document, as the sum over all assignments of topics to its tokens."""
    exact, weight = np.zeros(len(topics)), 0.0
    for labels in product(range(len(topics)), repeat=len(document)):
        counts = np.bincount(labels, minlength=len(topics))
        chance = np.prod([topics[t, u] for t, u in zip(labels, document, strict=True)])
        chance *= np.prod([gamma(a + count) / gamma(a) for count in counts])
        weight += chance
        exact += chance * (a + counts) / (a * len(topics) + len(document))
    return exact / weight


def against_enumeration():
    n_topics, n_words, length, a = SMALL
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(n_words, 0.5), n_topics)
    mixture, errors = Mixture(topics, np.eye(n_topics) / n_topics), []
    for theta in rng.dirichlet(np.full(n_topics, a), N_SMALL):
        document = rng.choice(n_words, length, p=theta @ topics)
        found = mixture.assign([np.bincount(document, minlength=n_words)], prior=np.full(n_topics, a))[0]
        errors.append(abs(found - posterior_by_enumeration(topics, a, document)).sum())
    record("posterior", mean=float(np.mean(errors)), most=max(errors))
    print(f"  posterior mean against enumeration: l1 {np.mean(errors):.3f}, at most {max(errors):.2f}")


def main():
    print(f"# shares\n{machine()}")
    against_the_truth()
    against_enumeration()
