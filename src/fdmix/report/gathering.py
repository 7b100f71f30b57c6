"""Everything that the page shows, gathered from a model and from what else is given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fdmix.corpus.preparation import Cleaning
from fdmix.display import for_terminal, shown_word
from fdmix.mixture.labels import topics_digest
from fdmix.mixture.mixture import Mixture
from fdmix.mixture.placement import (
    families,
    hellinger_distances,
    lift_distances,
    positions_in_network,
    positions_on_map,
    seriated,
)
from fdmix.mixture.ranking import WordRanking, relevance_weight
from fdmix.moments.moments import Moments
from fdmix.report.encoding import as_logarithms, as_signed_logarithms
from fdmix.report.quality import Quality, quality_of, remarks_on
from fdmix.report.word_pairs import WordPairs, word_pairs
from fdmix.tree import grow_tree

MAX_ENTRIES = 125_000  # probabilities of words in topics that the page holds, about 330 KB of it
ALWAYS_KEPT = 60  # words of each topic that are never left out
LIFT_STEP = math.log(2) / 20  # lifts are precise to 2 %
RATIO_STEP = 0.04
N_NODE_WORDS = 5  # that describe merged topics in the tree
N_TYPICAL = 12  # words that describe a topic, as in page/model.js

Arrays = dict[str, Any]
Facts = dict[str, Any]


def gathered(mixture: Mixture, title: str, moments: Moments | None = None) -> tuple[Facts, Arrays]:
    """(facts, arrays) of the page, without documents and comparisons."""
    distances = hellinger_distances(mixture.topics)
    pairs = None if moments is None else word_pairs(mixture, moments)
    quality = quality_of(mixture, moments)
    n_documents = _number_of_documents(mixture, moments)
    n_unknown = 0 if pairs is None else pairs.n_unknown
    remarks = remarks_on(mixture, distances, quality, n_documents, n_unknown)
    tree, branches = (None, {}) if moments is None else _tree(mixture, moments)
    words, corpus = _names(mixture), _word_shares(mixture, moments)
    kept, arrays = _topics(mixture)
    arrays |= {"wordShares": as_logarithms(corpus)} | branches
    arrays |= _typical(mixture) | _places(mixture, distances) | ({} if pairs is None else _pairs(pairs))
    facts: Facts = {
        "title": for_terminal(title),
        "nTopics": mixture.n_topics,
        "nWords": mixture.n_words,
        "words": words,
        "shares": [_short(share) for share in mixture.shares],
        "labels": {str(topic): label for topic, label in mixture.labels.items()},
        "digest": topics_digest(mixture.topics),
        "keptProbability": _short(kept),
        "quality": _quality(quality) | {"reliability": _reliability(mixture)},
        "remarks": [remark.facts() for remark in remarks],
        "source": _source(mixture, moments, n_documents),
        "fit": _fit(mixture.provenance),
        "hasPairs": pairs is not None,
        "tree": tree,
        "ranking": _ranking(mixture),
        "steps": {"lift": LIFT_STEP, "ratio": RATIO_STEP},
    }
    return facts, arrays


def _names(mixture: Mixture) -> list[str]:
    """The words as people read them; hidden characters are written out, so that no word can hide or reorder text."""
    return [shown_word(mixture.word(u)) for u in range(mixture.n_words)]


def _relevance(mixture: Mixture) -> float:
    """lambda of the words that name topics: the one that the fit has chosen, if it has."""
    return relevance_weight("relevance", mixture.relevance)


def _ranking(mixture: Mixture) -> Facts:
    """How the page ranks words: as the model does."""
    least = WordRanking(mixture.topics, mixture.shares, mixture.n_tokens).least
    return {"relevance": _relevance(mixture), "least": [_short(value) for value in least]}


def _typical(mixture: Mixture) -> Arrays:
    """The words that describe each topic, in the order in which every other output shows them."""
    columns = [
        order[topic[order] > 0]
        for topic, order in zip(mixture.topics, mixture.top_columns(N_TYPICAL, _relevance(mixture)), strict=True)
    ]
    return {
        "typicalSizes": np.array([len(order) for order in columns], np.uint8),
        "typicalWords": np.concatenate(columns).astype(np.uint32),
    }


def _word_shares(mixture: Mixture, moments: Moments | None) -> Any:
    """How much of the corpus each word makes up: as counted, or else as the model has it."""
    if moments is not None and moments.vocabulary == mixture.vocabulary and moments.n_words == mixture.n_words:
        return moments.unigram
    return mixture.shares @ mixture.topics


def _topics(mixture: Mixture) -> tuple[float, Arrays]:
    """(share of the probability that is kept, entries of the topics by word).

    If there are too many entries, those stay that are in the first 60 words of a topic, and those where a topic makes
    up the largest part of a word.
    """
    topics, shares = mixture.topics, mixture.shares
    word, topic = np.nonzero(topics.T)
    value = topics[topic, word]
    if word.size > MAX_ENTRIES:
        joint = value * shares[topic]
        part = joint / np.bincount(word, joint, mixture.n_words)[word]
        least = np.sort(topics, axis=1)[:, -min(ALWAYS_KEPT, mixture.n_words)]
        score = np.where(value >= least[topic], 2.0, part)
        kept = np.sort(np.argpartition(-score, MAX_ENTRIES - 1)[:MAX_ENTRIES])
        word, topic, value = word[kept], topic[kept], value[kept]
    count = np.bincount(word, minlength=mixture.n_words)
    first = np.zeros(word.size, bool)
    first[(np.cumsum(count) - count)[count > 0]] = True
    step = np.where(first, topic, topic - np.concatenate([[0], topic[:-1]]))
    arrays = {
        "topicsOfWord": count.astype(np.uint16),
        "topicSteps": step.astype(np.uint16),
        "probabilities": as_logarithms(value),
    }
    return float(value @ shares[topic]), arrays


def _places(mixture: Mixture, distances: Any) -> Arrays:
    """Lift of all pairs of topics, positions in pictures, orders and colours."""
    upper = np.triu_indices(mixture.n_topics)
    places = positions_on_map(distances)
    return {
        "lift": as_signed_logarithms(mixture.lift()[upper], LIFT_STEP),
        "map": _as_coordinates(places),
        "network": _as_coordinates(positions_in_network(mixture.correlations)),
        "order": seriated(lift_distances(mixture.correlations)).astype(np.uint16),
        "family": families(places, mixture.shares).astype(np.uint8),
        "nearest": _nearest(distances),
    }


def _as_coordinates(places: Any) -> Any:
    return np.rint(np.clip(places, 0, 1) * 0xFFFF).astype(np.uint16).ravel()


def _nearest(distances: Any, n: int = 5) -> Any:
    """The topics with the most similar words, n for each topic (fewer if there are fewer)."""
    order = np.argsort(distances + np.diag(np.full(len(distances), np.inf)), axis=1, kind="stable")
    return order[:, : min(n, len(distances) - 1)].astype(np.uint16).ravel()


def _tree(mixture: Mixture, moments: Moments) -> tuple[Facts | None, Arrays]:
    """Merges of topics, what they cost, and words of the merged ones; nothing for a single topic."""
    if mixture.n_topics < 2:
        return None, {}
    tree = grow_tree(mixture, moments)
    words = tree.top_columns(N_NODE_WORDS, _relevance(mixture))[mixture.n_topics :]
    return {"costs": [float(f"{cost:.4g}") for cost in tree.costs]}, {
        "merges": tree.merges.astype(np.uint32).ravel(),
        "nodeSizes": np.array([len(columns) for columns in words], np.uint8),
        "nodeWords": np.array([u for columns in words for u in columns], np.uint32),
    }


def _pairs(pairs: WordPairs) -> Arrays:
    first = np.diff(pairs.first, prepend=0)
    return {
        "pairFirst": first.astype(np.uint32),
        "pairSecond": pairs.second.astype(np.uint32),
        "pairSeen": as_logarithms(pairs.seen),
        "pairRatio": as_signed_logarithms(pairs.ratio, RATIO_STEP),
        "unexplained": pairs.unexplained.astype(np.uint32),
    }


def _quality(quality: Quality) -> Facts:
    return {
        "coherence": [_short(value) for value in quality.coherence],
        "exclusivity": [_short(value) for value in quality.exclusivity],
        "diversity": _short(quality.diversity),
        "bestTopic": _short(quality.best_topic),
        "effectiveTopics": _short(quality.effective_topics),
        "topicsADocument": _short(quality.topics_a_document),
    }


def _reliability(mixture: Mixture) -> Facts | None:
    """How often each topic came back in refits, how far it moved, and the interval of its share."""
    sure = mixture.reliability
    if sure is None:
        return None
    return {
        "returned": [_short(value) for value in sure.returned],
        "moved": [_short(value) for value in sure.moved],
        "low": [_short(value) for value in sure.shares[:, 0]],
        "high": [_short(value) for value in sure.shares[:, 1]],
        "interval": sure.name_of_intervals,
        "refits": sure.n_refits,
        "check": sure.check.verdict,
    }


def _number_of_documents(mixture: Mixture, moments: Moments | None) -> int | None:
    if moments is not None:
        return moments.n_documents
    return _whole(_counted(mixture).get("documents"))


def _counted(mixture: Mixture) -> Mapping[str, Any]:
    counted = mixture.provenance.get("moments")
    return counted if isinstance(counted, Mapping) else {}


def _source(mixture: Mixture, moments: Moments | None, n_documents: int | None) -> Facts:
    """What was read and how it was cleaned, as far as it is known."""
    counted = _counted(mixture)
    preparation = mixture.preparation or (moments.preparation if moments is not None else None)
    files = [] if moments is None else sorted((s.name, s.documents) for s in moments.ledger.sources.values())
    return {
        "documents": n_documents,
        "skipped": None if moments is None else moments.n_skipped,
        "tokens": _whole(counted.get("tokens")) if moments is None else moments.n_tokens,
        "pairs": _whole(counted.get("pairs")) if moments is None else moments.n_pairs,
        "files": [[for_terminal(str(name)), documents] for name, documents in files[:50]],
        "nFiles": len(files),
        "cleaning": [] if preparation is None else cleaning_in_words(preparation.cleaning),
        "version": for_terminal(str(mixture.provenance.get("fdmix", ""))),
        "solver": for_terminal(str(mixture.provenance.get("solver", ""))),
        "seed": _whole(mixture.provenance.get("seed")),
        "refined": "refined" in mixture.provenance,
    }


def cleaning_in_words(cleaning: Cleaning) -> list[str]:
    """The steps of a cleaning as short sentences."""
    dropped = [
        name
        for name, is_dropped in (
            ("numbers", cleaning.drop_numbers),
            ("URLs", cleaning.drop_urls),
            ("@mentions", cleaning.drop_mentions),
            ("HTML entities", cleaning.drop_entities),
            ("words that are not ASCII", cleaning.drop_non_ascii),
        )
        if is_dropped
    ]
    stops = cleaning.stop_words
    own = f"{len(stops):,} words of your own" if isinstance(stops, tuple) else f"stop words ({stops})"
    least = str(cleaning.min_count)
    if cleaning.min_count == "auto":
        least = "5 (1 under 1,000 documents)"
    elif isinstance(cleaning.min_count, float):
        least = f"{cleaning.min_count:g} x documents"
    said = [
        "upper and lower case are the same" if cleaning.lowercase else "upper and lower case differ",
        f"left out: {', '.join(dropped)}" if dropped else "",
        f"words of at least {cleaning.min_letters} letters" if cleaning.min_letters > 1 else "",
        f"left out: {own}" if stops else "no stop words left out",
        f"{len(cleaning.add_stop_words):,} more stop words" if cleaning.add_stop_words else "",
        f"stemmed ({cleaning.stem}), shown in the most frequent form" if cleaning.stem else "",
        f"words seen at least {least} times" if least != "1" else "",
        f"left out: the {cleaning.drop_most_common:,} most frequent words" if cleaning.drop_most_common else "",
        f"the {cleaning.max_words:,} most frequent words" if cleaning.max_words else "",
        f"words in at most {cleaning.max_share:.0%} of the documents" if cleaning.max_share < 1 else "",
        f"documents of at least {cleaning.min_tokens} tokens" if cleaning.min_tokens else "",
        f"runs of up to {cleaning.ngrams} words count as words" if cleaning.ngrams > 1 else "",
        "words that stick together are joined into phrases" if cleaning.phrases else "",
    ]
    return [for_terminal(text) for text in said if text]


def _fit(provenance: Mapping[str, Any]) -> Facts | None:
    """The curve of the fit and why it ended, if the model knows; anything unexpected in the file is left out."""
    told = provenance.get("fit")
    if not isinstance(told, Mapping):
        return None
    curve = told.get("curve")
    points = [
        [_whole(point[0]), _short(point[1])]
        for point in (curve if isinstance(curve, list) else [])
        if isinstance(point, list) and len(point) == 2 and all(isinstance(x, int | float) for x in point)
    ]
    return {
        "curve": [point for point in points if None not in point],
        "passes": _whole(told.get("passes")),
        "converged": told.get("converged") is True,
        "reason": for_terminal(str(told.get("reason", ""))),
    }


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None


def _short(value: float) -> float | None:
    """Seven digits; None for NaN and infinities, which JSON does not have."""
    return float(f"{value:.7g}") if math.isfinite(value) else None
