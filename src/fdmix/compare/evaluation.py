"""One evaluator for all methods: it sees topics, word lists and topics of documents, not where they come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix import metrics
from fdmix.compare.documents import Documents
from fdmix.compare.found import Found
from fdmix.corpus.corpus import Corpus
from fdmix.fit.word_ranking import with_word_ranking
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments

PRIORS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # of each topic; the best is looked for from the middle outwards
MAX_CLASSIFIED = 50_000  # documents that a classifier learns from; more take time and change little
STRENGTH = 10.0  # C of the logistic regression: shares of topics are small numbers


def scores_of(found: Found, whole: Documents, train: Documents, test: Documents, n_words: int) -> dict[str, Any]:
    """All scores by their names in `scores.SCORES`; one that the method or the documents do not allow is left out.

    whole : all documents, on which coherence is measured
    """
    mixture = found.mixture(train.corpus.vocabulary)
    test = replace(test, corpus=with_seen_words(test.corpus, train.corpus))
    scores: dict[str, Any] = {}
    prior = None
    if mixture is not None:
        likelihoods, prior = _likelihoods(mixture, found.prior, test)
        scores |= likelihoods
        by_probability = _by_probability(mixture, n_words)
        scores |= {
            f"{name}_by_probability": value for name, value in of_words(by_probability, whole, n_words).items()
        }
    words = found.words if found.words is not None or mixture is None else shown_words(mixture, train, n_words)
    words = [topic[:n_words] for topic in words or [] if topic]
    scores |= of_words(words, whole, n_words) | {"topics_found": len(words)}
    if test.labels is not None:
        thetas = _thetas(found, mixture, prior, train, test)
        scores |= {} if thetas is None else of_labels(*thetas, train, test)
    return scores


def with_seen_words(test: Corpus, train: Corpus) -> Corpus:
    """Held-out documents without the tokens whose words no document to learn from has.

    No method can know anything about such a word; which small probability it gives to it would decide over the
    score. With 2,000 paragraphs of mlpapers, 4 % of the tokens made differences between methods ten times as large.
    """
    seen = np.zeros(train.n_words, bool)
    seen[train.counts.indices] = True
    table = test.counts.copy()
    table.data = np.where(seen[table.indices], table.data, 0)
    table.eliminate_zeros()
    return Corpus(table, test.vocabulary)


def _likelihoods(mixture: Mixture, own_prior: Any, test: Documents) -> tuple[dict[str, Any], float]:
    """(completion with the best symmetric prior and with the method's own, hold-out score; the best prior)."""

    def completion(prior: Any) -> float:
        return metrics.completion_log_likelihood(mixture, test.corpus, prior=prior).mean

    best, value = _best_prior(completion)
    found = {"completion": value, "best_prior": best}
    if own_prior is not None:
        found["completion_own_prior"] = completion(own_prior)
    return found | {"holdout": metrics.holdout_log_likelihood(mixture, test.corpus).mean}, best


def _best_prior(score: Callable[[float], float]) -> tuple[float, float]:
    """(prior, score): the best of PRIORS, climbing from the middle; the score has one maximum."""
    values: dict[int, float] = {}

    def at(i: int) -> float:
        if i not in values:
            values[i] = score(PRIORS[i]) if 0 <= i < len(PRIORS) else -np.inf
        return values[i]

    here = len(PRIORS) // 2 + 1
    for step in (-1, 1):
        while at(here + step) > at(here):
            here += step
    return PRIORS[here], at(here)


def shown_words(mixture: Mixture, train: Documents, n_words: int) -> list[list[str]]:
    """The words that describe each topic, chosen by the same rule for all methods (`with_word_ranking`)."""
    if mixture.relevance is None:
        moments = Moments.of(train.corpus, held_out=False)
        mixture = with_word_ranking(mixture, moments.matrix, moments.n_tokens)
    named = mixture if mixture.vocabulary else replace(mixture, vocabulary=tuple(map(str, range(mixture.n_words))))
    return named.top_words(n_words, as_shown=False)


def _by_probability(mixture: Mixture, n_words: int) -> list[list[str]]:
    """The most probable words of each topic, without words of probability 0."""
    names = mixture.vocabulary or tuple(str(u) for u in range(mixture.n_words))
    best = np.argsort(-mixture.topics, axis=1, kind="stable")[:, :n_words]
    return [[names[u] for u in top if topic[u] > 0] for topic, top in zip(mixture.topics, best.tolist(), strict=True)]


def of_words(words: list[list[str]], whole: Documents, n_words: int) -> dict[str, float]:
    """Coherence and diversity of word lists."""
    names = whole.corpus.vocabulary or tuple(str(u) for u in range(whole.corpus.n_words))
    found = {"npmi": _mean(words, whole.corpus, "npmi", n_words, names)}
    if whole.sequences is not None:
        for measure in ("c_v", "c_npmi"):
            found[measure] = _mean(words, whole.sequences, measure, n_words, names)
    found["diversity"] = metrics.diversity(words, n_words)
    if len(words) > 1:
        found["irbo"] = metrics.inverted_rank_biased_overlap(words, n_words)
    return found


def _mean(words: list[list[str]], reference: Any, measure: str, n_words: int, names: Any) -> float:
    return metrics.coherence(words, reference, measure, n_words=n_words, vocabulary=names).mean


def _thetas(
    found: Found, mixture: Mixture | None, prior: Any, train: Documents, test: Documents
) -> tuple[Any, Any] | None:
    """Topics of the documents to learn from and of those held out: the same inference for all methods with topics."""
    if mixture is not None:
        first, second = (mixture.assign(part.corpus, prior=prior) for part in (train, test))
        return first, second
    return None if found.theta is None else found.theta()


def of_labels(theta_train: Any, theta_test: Any, train: Documents, test: Documents) -> dict[str, float]:
    """How well topics of held-out documents agree with labels, and how well theta predicts the labels."""
    known = [d for d, label in enumerate(test.labels or ()) if label is not None]
    learned = [d for d, label in enumerate(train.labels or ()) if label is not None][:MAX_CLASSIFIED]
    if not known or not learned:
        return {}
    labels, classes = ([(part.labels or [])[d] for d in chosen] for part, chosen in ((test, known), (train, learned)))
    topics = np.asarray(theta_test)[known]
    found = {
        "nmi": metrics.normalised_mutual_information(topics, labels),
        "ami": metrics.adjusted_mutual_information(topics, labels),
        "purity": metrics.purity(topics, labels),
        "harmonic_purity": metrics.harmonic_purity(topics, labels),
        "fmi": metrics.fowlkes_mallows(topics, labels),
    }
    if len(set(classes)) > 1:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

        model = LogisticRegression(C=STRENGTH, max_iter=1_000).fit(np.asarray(theta_train)[learned], classes)
        found["accuracy"] = float(model.score(topics, labels))
    return found
