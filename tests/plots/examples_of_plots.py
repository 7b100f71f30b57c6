"""One figure of each kind, from a model with known numbers."""

from dataclasses import replace

import numpy as np

from fdmix import Choice, Mixture, fit_mixture, plots, worlds
from fdmix.effects.words import WordChanges
from fdmix.mixture.labels import topics_digest
from fdmix.mixture.probabilities import dirichlet_correlations
from fdmix.mixture.reliability import Reliability
from fdmix.moments.moments import Moments

YEARS = [2020, 2021, 2022]


def model(words, n_topics=5, seed=0):
    """A mixture over these words, with a label for topic 1 and a curve of its fit."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(len(words), 0.2), n_topics)
    alpha = dirichlet_correlations(rng.uniform(0.1, 0.5, n_topics))
    told = {"fit": {"curve": [[0, -9.5], [1, -8.0], [2, -7.9]]}}
    return Mixture(topics, alpha, words, provenance=told, labels={1: words[0] or "label"})


def moments(words):
    """Moments over these words."""
    counts = np.random.default_rng(1).poisson(0.4, (80, len(words)))
    return Moments.of(counts, words)


def drawn(words, axes=None):
    """(kind, figure) for all plots; `axes` gives axes for each call, by their number."""
    mixture, pairs = model(words), moments(words)
    shares = np.random.default_rng(2).dirichlet(np.ones(5), len(YEARS))
    given = (lambda n=1: {}) if axes is None else axes
    return {
        "bars": lambda: plots.topic_bars(mixture, [0, 1, 2], 6, **given(3)),
        "map": lambda: plots.topic_map(mixture, **given()),
        "lift": lambda: plots.lift_matrix(mixture, **given()),
        "likelihood": lambda: plots.likelihood_curve(mixture, **given()),
        "distances": lambda: plots.distance_histogram(mixture, model(words, seed=3), **given()),
        "named distances": lambda: plots.distance_histogram({words[0]: [0.1, 0.2], "_b": [1.0, 1.5]}, **given()),
        "shares": lambda: plots.topic_shares(
            shares, YEARS, low=shares * 0.9, high=shares * 1.1, mixture=mixture, **given()
        ),
        "groups": lambda: plots.topic_shares(shares, words[:3], mixture=mixture, **given()),
        "pairs": lambda: plots.pair_matrix(pairs, words=range(min(20, len(words))), **given()),
        "pairs by topic": lambda: plots.pair_matrix(pairs, mixture, scale="log", **given()),
        "adjacency": lambda: plots.adjacency_matrix(np.eye(5), [2], **given()),
        "choice": lambda: plots.choice_curve(choice(), **given()),
        "intervals": lambda: plots.share_intervals(sure(mixture), **given()),
        "tree": lambda: plots.topic_tree(mixture.tree(pairs), 3, **given()),
        "edits": lambda: plots.edit_changes(mixture.edit(pairs).merge(0, 2).split(1).fit().changes, **given()),
        "words": lambda: plots.word_trends(trends(words), mixture, **given(2)),
        "scores": lambda: plots.score_lines(
            {words[0]: ([1, 2], [3, 4], [0.1, 0.2])}, below="topics", title=words[1], **given()
        ),
    }


def sure(mixture):
    """The same mixture with intervals; topic 0 does not come back."""
    shares = mixture.shares[:, None] * [0.8, 1.2]
    alpha = np.stack([mixture.correlations * 0.5, mixture.correlations])
    columns = mixture.top_columns(3)
    returned = np.where(np.arange(mixture.n_topics) == 0, 0.2, 1.0)
    known = Reliability(
        returned, returned / 9, shares, alpha, columns, np.zeros((*columns.shape, 2)), np.ones(columns.shape),
        0.9, 20, 16, 0.5, topics_digest(mixture.topics),
    )  # fmt: skip
    return replace(mixture, reliability=known)


def trends(words):
    """Words that rise and fall in topics 1 and 3."""
    trend = {
        "topic": np.array([1, 1, 3]), "word": list(words[:3]), "count": np.ones(3), "change": np.array([4, 0.2, 1.5]),
        "z": np.array([5.0, -4.0, 3.0]), "q": np.full(3, 0.01),
    }  # fmt: skip
    return WordChanges({}, trend, 0.05)


def choice():
    """The scores of four numbers of topics."""
    gains = np.array([[0, 0.8, 1.0, 0.9], [0, 0.7, 0.9, 1.0], [0, 0.8, 0.8, 0.9]])
    return Choice((1, 5, 10, 20), {"pairs": gains - 9, "coherence": gains / 9}, "pairs", 100)


def fitted():
    """A solution and its moments."""
    found = Moments.of(worlds.intervals().sample(500, length=20, seed=0))
    return fit_mixture(found, 3), found
