"""Scattered topics: topics that stand for none give their places to topics that stand for two.

A fit that misses topics often has other topics in their places: large ones, with a little of everything. Swaps do not
find these, because merging them with any single topic loses much. Their recurrence tells them apart,

    r_t = alpha_tt / sum_s alpha_ts,

the chance that the document of a token of topic t has topic t again in another token. If theta is Dirichlet(a_1, ...,
a_T), then r_t = (a_t + 1) / (a_1 + ... + a_T + 1), which differs little between topics if the a_t are below 1. A
scattered topic takes its tokens from documents of many topics, and seldom two from the same one.
docs/evidence/research/pairs.md, "Scattered topics", has the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.mixture.mixture import Mixture
from fdmix.moments.pair_matrix import PairMatrix
from fdmix.runtime.threads import in_threads
from fdmix.solvers.swaps import ESTIMATES, Draft, OwnPairs, Split

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Scattering:
    """Which topics count as scattered, and which ones take their places.

    recurrence : as a share of the median over topics, below which a topic is scattered. Those of known worlds had
        0.14 to 0.35, all others 0.45 and more
    gain : of a split, as a multiple of the median gain, that makes a topic one that stands for two
    rounds : of EM that find the mixture of other topics that is nearest to a scattered one
    """

    recurrence: float = 0.4
    gain: float = 1.5
    rounds: int = 50


SCATTERING = Scattering()


def scattered(mixture: Mixture) -> Any:
    """The scattered topics, those with the lowest recurrence first."""
    shares = mixture.shares
    recurrence = np.divide(np.diag(mixture.correlations), shares, out=np.ones_like(shares), where=shares > 0)
    found = np.flatnonzero(recurrence < SCATTERING.recurrence * np.median(recurrence))
    return found[np.argsort(recurrence[found], kind="stable")]


def replaced(mixture: Mixture, mhat: PairMatrix | sp.csr_array, n_threads: int | None = None) -> tuple[Mixture, int]:
    """(the mixture after topics that stand for two took the places of scattered topics, the number of places).

    A scattered topic is shared out among the others: its place in alpha goes to the mixture of them that is nearest
    to it. It is left alone if no topic is worth splitting.
    """
    n_topics, leaving = mixture.n_topics, scattered(mixture)
    if n_topics < ESTIMATES.min_topics or not leaving.size:
        return mixture, 0
    pairs = OwnPairs(mixture.topics, mixture.correlations, mhat)
    splits: list[Split] = list(in_threads(pairs.split, range(n_topics), n_threads))
    gains = np.array([split.gain for split in splits])
    worth = [
        t
        for t in np.argsort(-gains, kind="stable").tolist()
        if gains[t] > SCATTERING.gain * np.median(gains) and t not in leaving
    ]
    leaving = leaving[: len(worth)]
    if not leaving.size:
        return mixture, 0
    staying = np.setdiff1d(np.arange(n_topics), leaving)
    share_out = np.eye(n_topics)
    share_out[leaving] = 0
    share_out[np.ix_(leaving, staying)] = nearest_mixtures(mixture.topics[leaving], mixture.topics[staying])
    new = Draft(mixture.topics, share_out.T @ mixture.correlations @ share_out)
    for place, t in zip(leaving.tolist(), worth, strict=False):
        new.split(t, place, splits[t])
    return new.mixture(), int(leaving.size)


def nearest_mixtures(targets: Floats, topics: Floats) -> Floats:
    """The weights W that minimise the KL divergence from each target to its row of W topics, by EM."""
    weights = np.full((len(targets), len(topics)), 1 / len(topics))
    for _ in range(SCATTERING.rounds):
        mixed = weights @ topics
        weights *= np.divide(targets, mixed, out=np.zeros_like(mixed), where=mixed > 0) @ topics.T
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    return weights
