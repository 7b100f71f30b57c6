"""How the words of fitted topics are ranked: the word pairs say which words are coherent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.mixture.mixture import Mixture
from fdmix.mixture.ranking import WordRanking
from fdmix.moments.pair_matrix import PairMatrix, as_pair_matrix

Floats = np.ndarray[Any, np.dtype[np.float64]]
WEIGHTS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)  # of probability in the relevance
SHOWN_WORDS = 10


def with_word_ranking(mixture: Mixture, mhat: PairMatrix | sp.csr_array, n_tokens: float) -> Mixture:
    """The mixture with the weight of its words' relevance, chosen by the word pairs that it was fitted to.

    Coherence comes first, diversity second. Each weight gives each topic ten words. Their coherence is the mean NPMI
    of their pairs, with probabilities from Mhat. A weight is good enough if its topics are, in the mean, less than a
    standard error less coherent than those of the most coherent weight (the standard error of the difference, over
    topics). Of these weights, the one with the most distinct words is taken, and the largest one of equals.
    """
    n_tokens = float(max(round(n_tokens), 1))
    if mixture.n_topics == 1 or mixture.n_words < 2:
        return replace(mixture, relevance=1.0, n_tokens=n_tokens)
    ranking = WordRanking(mixture.topics, mixture.shares, n_tokens)
    orders = [ranking.order(weight, SHOWN_WORDS) for weight in WEIGHTS]
    coherence = pair_coherence(orders, mhat)
    best = coherence[coherence.mean(axis=1).argmax()]
    behind = best - coherence
    noise = behind.std(axis=1, ddof=1) / np.sqrt(mixture.n_topics)
    distinct = np.array([np.unique(order).size for order in orders])
    distinct[behind.mean(axis=1) > noise] = 0
    return replace(mixture, relevance=WEIGHTS[int(distinct.argmax())], n_tokens=n_tokens)


def pair_coherence(orders: list[Any], mhat: PairMatrix | sp.csr_array) -> Floats:
    """(orders, T), the mean NPMI of each topic's words: log(p_uv / (p_u p_v)) / -log p_uv, p_uv = Mhat[u, v].

    Pairs that never occur have -1. The pairs of all orders and topics are looked up at once.
    """
    chosen, pairs = np.stack(orders), as_pair_matrix(mhat)
    first, second = np.triu_indices(chosen.shape[2], 1)
    left, right = chosen[:, :, first].ravel(), chosen[:, :, second].ravel()
    pair, where = np.unique(left * pairs.n_words + right, return_inverse=True)
    left, right = np.divmod(pair, pairs.n_words)
    unigram = pairs.row_sums
    joint = pairs.at(left, right)
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(joint / (unigram[left] * unigram[right])) / -np.log(joint)
    npmi = np.where(joint <= 0, -1.0, np.where(joint >= 1, 1.0, npmi))
    return np.asarray(npmi[where].reshape(*chosen.shape[:2], first.size).mean(axis=2))
