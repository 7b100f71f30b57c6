"""How good the topics are, one number for the model and one for each topic, and what people should look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fdmix import metrics
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments

Floats = np.ndarray[Any, np.dtype[np.float64]]
NEAR_COPY = 0.4  # Hellinger distance; topics that differ less share most of their probability
BACKGROUND = 0.45  # Hellinger distance to the corpus; a nearer topic is made of everything
MIN_TOPICS_FOR_BACKGROUND = 5  # of a few topics, each is a large part of the corpus
ONE_WORD = 0.5  # probability; a topic whose first word has more is made of that word
INCOHERENT = 0.0  # NPMI; below it, top words occur together less often than by chance
FEW_DOCUMENTS_A_TOPIC = 20.0
UNRELIABLE = 0.5  # share of the refits; a topic that comes back less often is an accident of the sample
TINY_TOPIC_DOCUMENTS = 5.0  # documents' worth of text; a smaller topic can be an accident
MAX_LISTED = 12  # words in a remark


@dataclass(frozen=True)
class Remark:
    """Something that a reader should know before using the topics.

    title : a few words; text : what it means and what to do; topics, words : numbers of those it is about
    """

    title: str
    text: str
    topics: list[list[int]] = field(default_factory=list)
    words: list[int] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        """For the page."""
        return {"title": self.title, "text": self.text, "topics": self.topics, "words": self.words}


@dataclass(frozen=True, eq=False)
class Quality:
    """Numbers for the model and for each topic; coherence is NaN where no moments tell it.

    coherence : NPMI of the top words; exclusivity : mean over the top words of mu_t(u) / sum_s mu_s(u)
    diversity : share of distinct words among the top words; best_topic : how much of a word belongs to its best
    topic, mean over tokens; effective_topics : exp of the entropy of the shares; topics_a_document : 1 / E|theta|^2
    """

    coherence: Floats
    exclusivity: Floats
    diversity: float
    best_topic: float
    effective_topics: float
    topics_a_document: float


def quality_of(mixture: Mixture, moments: Moments | None) -> Quality:
    """Quality of the topics, with coherence if there are moments."""
    shares = mixture.shares
    joint = mixture.topics * shares[:, None]
    total = mixture.topics.sum(axis=0)
    top = np.argsort(-mixture.topics, axis=1, kind="stable")[:, :10]
    own = np.take_along_axis(mixture.topics, top, axis=1)
    some = shares[shares > 0]
    return Quality(
        coherence=_coherence(mixture, moments),
        exclusivity=np.asarray((own / np.where(total > 0, total, 1)[top]).mean(axis=1)),
        diversity=metrics.diversity(mixture),
        best_topic=float(joint.max(axis=0).sum() / joint.sum()),
        effective_topics=float(np.exp(-np.sum(some * np.log(some)))),
        topics_a_document=float(1 / np.trace(mixture.correlations)),
    )


def remarks_on(
    mixture: Mixture, distances: Floats, quality: Quality, n_documents: int | None, unknown_words: int = 0
) -> list[Remark]:
    """What to look at, the most important first."""
    found = [
        _few_documents(mixture, n_documents),
        _dominating_words(mixture),
        _near_copies(distances),
        _background(mixture),
        _one_word(mixture),
        _incoherent(quality),
        _unreliable(mixture),
        _tiny(mixture, n_documents),
        _unknown(mixture, unknown_words),
    ]
    return [remark for remark in found if remark is not None]


def _coherence(mixture: Mixture, moments: Moments | None) -> Floats:
    unknown = np.full(mixture.n_topics, np.nan)
    if moments is None:
        return unknown
    try:
        return np.asarray(metrics.coherence(mixture, moments).topics)
    except ValueError:  # no topic has two words that the moments have
        return unknown


def _few_documents(mixture: Mixture, n_documents: int | None) -> Remark | None:
    if n_documents is None or n_documents >= FEW_DOCUMENTS_A_TOPIC * mixture.n_topics:
        return None
    return Remark(
        "Few documents",
        f"{n_documents:,} documents for {mixture.n_topics:,} topics are {n_documents / mixture.n_topics:.1f} "
        "documents per topic. Topics may be accidents of the sample: fit fewer topics, or give more text.",
    )


def _dominating_words(mixture: Mixture) -> Remark | None:
    if mixture.vocabulary is None:
        return None
    place = {word: u for u, word in enumerate(mixture.vocabulary)}
    words = [place[word] for word in metrics.dominating_words(mixture)][:MAX_LISTED]
    if not words:
        return None
    return Remark(
        "Words that are on top everywhere",
        "These words are among the first ten of at least half of the topics and do not tell topics apart. "
        "Read the text again with these as stop words (--add-stop-words).",
        words=words,
    )


def _near_copies(distances: Floats) -> Remark | None:
    near = np.argwhere(np.triu(distances < NEAR_COPY, 1))
    if not near.size:
        return None
    order = np.argsort(distances[near[:, 0], near[:, 1]], kind="stable")
    return Remark(
        "Topics that are nearly the same",
        "These topics have almost the same words. One topic was split: fit fewer topics, or read them as one.",
        topics=near[order].tolist(),
    )


def _background(mixture: Mixture) -> Remark | None:
    if mixture.n_topics < MIN_TOPICS_FOR_BACKGROUND:
        return None
    corpus = mixture.shares @ mixture.topics
    overlap = np.sqrt(mixture.topics) @ np.sqrt(corpus)
    distance = np.sqrt(np.maximum(1 - overlap, 0))
    found = np.flatnonzero(distance < BACKGROUND)
    if not found.size:
        return None
    return Remark(
        "Topics without a subject",
        "The words of these topics are spread almost like those of the whole text: they collect what is said "
        "everywhere. Leave them out of what you tell about the topics.",
        topics=[[t] for t in found.tolist()],
    )


def _one_word(mixture: Mixture) -> Remark | None:
    found = np.flatnonzero(mixture.topics.max(axis=1) > ONE_WORD)
    if not found.size or mixture.n_words < 20:
        return None
    return Remark(
        "Topics made of one word",
        "More than half of each of these topics is a single word: boilerplate, a name, or a stop word.",
        topics=[[t] for t in found.tolist()],
    )


def _incoherent(quality: Quality) -> Remark | None:
    found = np.flatnonzero(quality.coherence < INCOHERENT)
    if not found.size:
        return None
    order = np.argsort(quality.coherence[found], kind="stable")
    return Remark(
        "Topics whose words do not belong together",
        "The top words of these topics occur together less often than by chance (their coherence is below 0). "
        "They may mix several subjects.",
        topics=[[t] for t in found[order].tolist()],
    )


def _unreliable(mixture: Mixture) -> Remark | None:
    sure = mixture.reliability
    found = np.array([], int) if sure is None else np.flatnonzero(sure.returned < UNRELIABLE)
    if sure is None or not found.size:
        return None
    order = np.argsort(sure.returned[found], kind="stable")
    return Remark(
        "Topics that do not come back",
        f"These topics were found again in fewer than half of {sure.n_refits} fits to resampled documents. Other "
        "documents of the same kind would have given other topics: fit fewer topics, or give more text.",
        topics=[[t] for t in found[order].tolist()],
    )


def _tiny(mixture: Mixture, n_documents: int | None) -> Remark | None:
    if n_documents is None:
        return None
    found = np.flatnonzero(mixture.shares * n_documents < TINY_TOPIC_DOCUMENTS)
    if not found.size:
        return None
    return Remark(
        "Very small topics",
        f"These topics make up less text than {TINY_TOPIC_DOCUMENTS:.0f} documents: a few unusual documents may be "
        "all that they describe.",
        topics=[[t] for t in found.tolist()],
    )


def _unknown(mixture: Mixture, unknown_words: int) -> Remark | None:
    if not unknown_words:
        return None
    return Remark(
        "Moments of another text",
        f"The moments do not have {unknown_words:,} of the model's {mixture.n_words:,} words. Coherence and pairs "
        "describe the words that both have.",
    )
