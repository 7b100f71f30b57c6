"""What moments add to the report: the strongest partners of each word, and pairs that the model does not explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.mixture.mixture import Mixture
from fdmix.mixture.pair_likelihood import log_likelihood_and_ratios
from fdmix.moments.moments import Moments
from fdmix.tree.pairs import pairs_of_mixture

MAX_PAIRS = 21_000  # in the page: about 110 KB of it
MAX_PARTNERS = 12  # of a word
MIN_RATIO = 1.5  # Mhat / M; what is seen less often than that is explained well enough
N_UNEXPLAINED = 100  # in the list of the whole corpus


@dataclass(frozen=True, eq=False)
class WordPairs:
    """Pairs u < v of words with how often they are seen (Mhat), against chance and against the model.

    unexplained : places in these arrays of the pairs that add most to KL(Mhat | M), the first adds most
    n_unknown : words of the model that the moments do not have
    """

    first: Any
    second: Any
    seen: Any
    lift: Any
    ratio: Any
    unexplained: Any
    n_unknown: int = 0


def word_pairs(mixture: Mixture, moments: Moments) -> WordPairs:
    """The pairs worth showing: for each word its strongest partners and its least explained ones.

    Partners are ranked by Mhat log(Mhat / (p_u p_v)), unexplained pairs by Mhat log(Mhat / M): both weigh how often a
    pair is seen with how surprising it is.
    """
    mhat, n_unknown = pairs_of_mixture(mixture, moments)
    _, ratios = log_likelihood_and_ratios(mixture.topics.T, mixture.correlations, mhat)
    unigram = np.asarray(mhat.sum(axis=1)).ravel()
    n_words = mhat.shape[0]
    a_word = int(np.clip(MAX_PAIRS // max(n_words, 1), 3, MAX_PARTNERS))
    chosen = [_pairs_of_word(u, mhat, ratios.data, unigram, a_word) for u in range(n_words)]
    first, second, seen, ratio = (np.concatenate(parts) for parts in zip(*chosen, strict=True))
    low, high = np.minimum(first, second), np.maximum(first, second)
    _, once = np.unique(low * n_words + high, return_index=True)
    low, high, seen, ratio = low[once], high[once], seen[once], ratio[once]
    lift = seen / (unigram[low] * unigram[high])
    surprise = np.where(ratio >= MIN_RATIO, seen * np.log(np.maximum(ratio, 1)), 0)
    if low.size > MAX_PAIRS:
        kept = np.sort(np.argsort(-np.maximum(seen * np.log(lift), surprise), kind="stable")[:MAX_PAIRS])
        low, high, seen, ratio, lift, surprise = (each[kept] for each in (low, high, seen, ratio, lift, surprise))
    order = np.argsort(-surprise, kind="stable")[:N_UNEXPLAINED]
    return WordPairs(low, high, seen, lift, ratio, order[surprise[order] > 0], n_unknown)


def _pairs_of_word(u: int, mhat: sp.csr_array, ratios: Any, unigram: Any, n: int) -> tuple[Any, Any, Any, Any]:
    """(u, v, Mhat, Mhat / M) of the n strongest partners of a word, and of half as many that are not explained."""
    stored = slice(mhat.indptr[u], mhat.indptr[u + 1])
    other, seen, ratio = mhat.indices[stored].astype(np.int64), mhat.data[stored], ratios[stored]
    lift = seen / (unigram[u] * unigram[other])
    is_other = (other != u) & (ratio > 0)
    best = _best(np.where(is_other & (lift > 1), seen * np.log(lift), 0), n)
    worst = _best(np.where(is_other & (ratio >= MIN_RATIO), seen * np.log(np.maximum(ratio, 1)), 0), max(n // 2, 1))
    kept = np.union1d(best, worst)
    return np.full(kept.size, u, np.int64), other[kept], seen[kept], ratio[kept]


def _best(score: Any, n: int) -> Any:
    """The places of the n largest positive scores."""
    best = np.argpartition(-score, n - 1)[:n] if score.size > n else np.arange(score.size)
    return best[score[best] > 0]
