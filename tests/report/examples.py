"""Models for tests of the report: a small one with everything, and one of 500 topics over 11,000 words."""

from dataclasses import replace

import numpy as np

from fdmix import Mixture, Moments, fit_mixture, read_corpus, worlds
from fdmix.mixture.probabilities import dirichlet_correlations
from fdmix.report import write_report

SUBJECTS = {
    "animals": "cat dog mouse horse cow sheep goat duck hen pig",
    "money": "bank loan credit stock bond market price trade fund tax",
    "space": "planet star moon rocket orbit comet galaxy telescope mars sun",
    "food": "bread cheese soup salad apple sugar butter flour egg rice",
}


def texts(n=400, seed=0):
    """Sentences about one subject each, with a few words of its partner, and their subjects.

    Animals come together with food, and money with space: the first with the last, the second with the third.
    """
    rng = np.random.default_rng(seed)
    names = list(SUBJECTS)
    found, subjects = [], []
    for i in range(n):
        own, other = SUBJECTS[names[i % 4]].split(), SUBJECTS[names[3 - i % 4]].split()
        words = [*rng.choice(own, 9), *rng.choice(other, 2)]
        found.append(f"Text {i}: The {' and the '.join(words)}.")
        subjects.append(names[i % 4])
    return found, subjects


def small_model():
    """(mixture, moments, texts, subjects) of four subjects."""
    written, subjects = texts()
    corpus = read_corpus(written, stop_words="english", add_stop_words=["text"])
    moments = Moments.of(corpus)
    return fit_mixture(moments, 4).mixture, moments, written, subjects


def large_mixture(n_topics=500, n_words=11_000, seed=0):
    """Sparse topics with shares and correlations like those of a fit to real text."""
    rng = np.random.default_rng(seed)
    frequency = 1 / np.arange(1, n_words + 1)
    topics = np.zeros((n_topics, n_words))
    for topic in topics:
        words = rng.choice(n_words, 540, replace=False, p=frequency / frequency.sum())
        topic[words] = rng.dirichlet(np.full(540, 0.15)) + 1e-6
    topics /= topics.sum(axis=1, keepdims=True)
    shares = rng.dirichlet(np.full(n_topics, 3.0))
    alpha = dirichlet_correlations(shares * 0.8) * np.exp(rng.normal(0, 1.0, (n_topics, n_topics)))
    alpha = alpha + alpha.T
    return Mixture(topics, alpha / alpha.sum(), [f"word{u:05}{'xyz'[u % 3]}" for u in range(n_words)])


def large_model_with_moments():
    """(mixture, moments): 500 topics over 11,000 words of random letters, and 100,000 documents drawn from them."""
    rng = np.random.default_rng(0)
    letters = list("eeeeettttaaaooiinnsshhrrddlucmwfgypbvk")
    words = {}
    while len(words) < 11_000:
        words["".join(rng.choice(letters, rng.integers(4, 12)))] = None
    mixture = replace(large_mixture(), vocabulary=list(words))
    documents = worlds.World(mixture.topics, 1 / mixture.n_topics).sample(100_000, length=30, seed=0)
    return mixture, Moments.of(documents, mixture.vocabulary)


def small_report(path, **options):
    """Write the report of the small model with everything that a report can show."""
    import pandas

    mixture, moments, written, subjects = small_model()
    documents = pandas.DataFrame({"text": written, "subject": subjects})
    other = fit_mixture(moments, 3, seed=1).mixture
    options = {"moments": moments, "documents": documents, "by": "subject", "compare_with": other} | options
    write_report(mixture, path, title="Four subjects", **options)
    return mixture
