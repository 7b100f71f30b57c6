"""Worlds with known topics whose shares change over months: documents, their columns, and the truth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix import Corpus, Mixture

N_TOPICS, N_WORDS = 8, 200


@dataclass(frozen=True)
class World:
    mixture: Mixture
    corpus: Corpus
    shares: Any  # (months, T)
    months: list[str]


def overlapping_topics(rng, n_topics=N_TOPICS, n_words=N_WORDS):
    """Topics that share their most frequent words."""
    common = rng.dirichlet(np.full(n_words, 0.2))
    return 0.5 * rng.dirichlet(np.full(n_words, 0.05), size=n_topics) + 0.5 * common


def words_of(topics):
    return tuple(f"w{u:03}" for u in range(topics.shape[1]))


def drawn(rng, topics, shares, n, concentration=2.0, length=15):
    """Word counts of n documents, theta ~ Dirichlet(concentration shares)."""
    theta = rng.dirichlet(np.maximum(concentration * shares, 1e-3), size=n)
    lengths = rng.poisson(length, n) + 2
    probabilities = theta @ topics
    return np.array([rng.multinomial(m, q / q.sum()) for m, q in zip(lengths, probabilities, strict=True)])


def drifting(seed=0, n_months=6, n=150, slope=0.03, **law):
    """Topic 0 rises and topic 1 falls by `slope` a month; the others stay."""
    rng = np.random.default_rng(seed)
    topics = overlapping_topics(rng)
    base = np.full(N_TOPICS, 1 / N_TOPICS)
    base[:2] = 0.05, 0.05 + slope * (n_months - 1)
    base[2:] = (1 - base[:2].sum()) / (N_TOPICS - 2)
    move = np.zeros(N_TOPICS)
    move[:2] = slope, -slope
    shares = np.array([base + month * move for month in range(n_months)])
    months = [f"{2020 + month // 12}-{month % 12 + 1:02}" for month in range(n_months)]
    counts = np.vstack([drawn(rng, topics, s, n, **law) for s in shares])
    dates = [f"{month}-{1 + d % 28:02}" for month in months for d in range(n)]
    mixture = Mixture(topics, vocabulary=words_of(topics))
    return World(mixture, Corpus(counts, mixture.vocabulary, {"date": dates}), shares, months)
