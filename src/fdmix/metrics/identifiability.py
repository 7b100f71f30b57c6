"""Can the pairs tell these topics from others? Anchor slack, and the flat direction of the likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fdmix.metrics.arguments import as_mixture
from fdmix.metrics.sharpness import Anchor
from fdmix.mixture.mixture import Mixture

Floats = np.ndarray[Any, np.dtype[np.float64]]
LEAST_SHARE = 0.01  # of the top word's probability: rarer words do not speak for a topic
ROUNDING = 1e-6  # slack of an anchor word, from rounding
NO_OWN_WORD = 0.5  # slack from which a topic's best word is mostly a word of other topics
ABOVE_SMOOTHING = 1.5  # the background of a fit is known by the topics' mean only, which differs a little from it


@dataclass(frozen=True, eq=False)
class Identifiability:
    """How far topics are from having anchor words, which is what makes them the only answer.

    anchors : the best own word of each topic
    slack : (T,), the share of that word's probability that belongs to other topics; 0 for an anchor word
    """

    anchors: tuple[Anchor, ...]
    slack: Floats

    @property
    def n_anchored(self) -> int:
        """Topics with an anchor word: a word that no other topic has."""
        return int((self.slack <= ROUNDING).sum())

    @property
    def without_own_word(self) -> list[int]:
        """Topics whose best own word belongs to other topics for more than half of its probability."""
        return np.flatnonzero(self.slack > NO_OWN_WORD).tolist()

    @property
    def warning(self) -> str | None:
        """What to know before trusting these topics, or None if every topic has a word of its own."""
        missing = self.without_own_word
        if not missing:
            return None
        named = ", ".join(map(str, missing[:10])) + (" and others" if len(missing) > 10 else "")
        have = "has no word of its own" if len(missing) == 1 else "have no word of their own"
        return (
            f"{len(missing)} of {self.slack.size} topics {have} (topic {named}): the word pairs fit "
            "other, blurred topics as well. Fewer topics may help."
        )


def identifiability(topics: Any, least: float = LEAST_SHARE, *, vocabulary: Any = None) -> Identifiability:
    """The anchor slack of each topic: how far its best own word is from being in no other topic.

    slack_t = min over words u of sum_(s != t) mu_s(u) / sum_s mu_s(u). If all are 0, the topics have anchor words,
    and no other topic set with anchor words explains the pairs as well (docs/explanation/theory.md).

    Smoothing puts a little of every word into every topic. Where a mixture says how it was smoothed (`refine`,
    `fit_documents`, `baselines.lda`), the smoothing is taken off first.

    topics : a Mixture, Solution, fitted FDM or scikit-learn model, or an array (T, N)
    least : words with a smaller share of the top word's probability are left out; 0 takes every word of a topic

    >>> identifiability([[0.6, 0.4, 0], [0, 0.5, 0.5]]).slack.tolist()
    [0.0, 0.0]
    >>> identifiability([[0.6, 0.4], [0.4, 0.6]]).slack.round(2).tolist()
    [0.4, 0.4]
    """
    if not 0 <= least <= 1:
        raise ValueError(f"least is a share of the top word's probability, from 0 to 1, not {least!r}")
    mixture = as_mixture(topics, vocabulary)
    sharp = without_smoothing(mixture)
    total = sharp.sum(axis=0)
    purity = sharp / np.where(total > 0, total, 1)
    anchors = []
    for topic, pure in zip(sharp, purity, strict=True):
        ranked = np.where((topic > 0) & (topic >= least * topic.max()), np.round(pure, 9), -1.0)
        word = int(np.lexsort((topic, ranked))[-1])
        anchors.append(Anchor(word, mixture.word(word), float(topic[word]), float(pure[word])))
    return Identifiability(tuple(anchors), np.array([1 - anchor.purity for anchor in anchors]))


def without_smoothing(mixture: Mixture) -> Floats:
    """The topics without the smoothing that their fit put on, as far as the mixture's provenance tells; (T, N).

    `refine` mixes a share of a background (half the unigram, half uniform) into all topics alike: it is what the
    topic with the least of a word has of it. LDA adds the same to all words of a topic.
    """
    topics, provenance = mixture.topics, mixture.provenance
    refined = provenance.get("refined")
    share = refined.get("background") if isinstance(refined, dict) else None
    if isinstance(share, int | float) and share > 0:
        background = (mixture.shares @ topics + 1 / mixture.n_words) / 2
        most = ABOVE_SMOOTHING * share * background
        floor = np.minimum(topics.min(axis=0), most)
        topics = _cut(topics - floor)
    elif "eta" in provenance:
        least = np.where(topics > 0, topics, np.inf).min(axis=1, keepdims=True)  # words without a token have 0
        topics = _cut(np.maximum(topics - least, 0))
    return topics


def _cut(topics: Floats) -> Floats:
    """Rows that sum to 1, what rounding left set to 0; a topic of which nothing is left becomes uniform."""
    kept = np.where(topics > 1e-12, topics, 0.0)
    kept[kept.sum(axis=1) == 0] = 1.0
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def largest_blur(mixture: Mixture) -> float:
    """How far topics can be blurred towards their mean without any change of the pair matrix.

    b = 1 - sqrt(1 - l), with l the smallest lift alpha_ij / (p_i p_j) of two topics, or 1 if that is larger. It is 0
    if two topics never share a document.

    >>> round(largest_blur(Mixture([[1, 0], [0, 1]])), 3)  # documents ~ Dirichlet(1/2, 1/2): lift 1/2
    0.293
    """
    smallest = min(float(mixture.lift().min()), 1.0)
    return 1 - float(np.sqrt(1 - smallest))


def blurred(mixture: Mixture, share: float) -> Mixture:
    """A mixture with the same pair matrix and blurred topics: mu_t <- (1 - b) mu_t + b m, m the mean of the topics.

    alpha <- (alpha - (2 b - b^2) p p') / (1 - b)^2 makes up for it, with p the shares of topics. So the pairs cannot
    tell the two apart. This works as long as no entry becomes negative, up to b = `largest_blur(mixture)`.
    """
    if not 0 <= share < 1:
        raise ValueError(f"the blur is a share, from 0 to below 1, not {share!r}")
    p = mixture.shares
    alpha = (mixture.correlations - (2 * share - share**2) * np.outer(p, p)) / (1 - share) ** 2
    if alpha.min() < -1e-12:
        raise ValueError(
            f"topics can be blurred by {largest_blur(mixture):.4f} at most without a change of the pairs, not {share}"
        )
    topics = (1 - share) * mixture.topics + share * (p @ mixture.topics)
    return replace(mixture, topics=topics, correlations=np.maximum(alpha, 0.0))
