"""Choose the number of topics by documents that were left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fdmix import metrics
from fdmix.choice.candidates import numbers_of_topics
from fdmix.choice.choice import COMPLETION, PAIRS, Choice
from fdmix.choice.fold_path import fold_path
from fdmix.corpus.content_hashes import content_hashes
from fdmix.corpus.corpus import Corpus
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.moments.weighted import WeightedMoments
from fdmix.runtime.memory import available_bytes
from fdmix.runtime.side_by_side import side_by_side
from fdmix.runtime.threads import one_blas_thread, thread_count
from fdmix.runtime.whole_numbers import whole_number

FOLDS = 10
FEWEST_FOLDS = 3  # of two, the standard error itself is a guess
FEWEST_DOCUMENTS = 20  # in a fold; fewer cannot tell numbers of topics apart
BYTES_PER_PAIR = 100  # of a fold: sums, Mhat with both halves as read and as rearranged, tiles of the engine
MAX_COMPLETED = 4_000  # documents to complete, over all folds; more take time and settle nothing

Report = Callable[[str, int, int | None], Any]


def choose_n_topics(
    data: Moments | Corpus | Any,
    candidates: str | Iterable[int],
    *,
    criterion: str = PAIRS,
    folds: int = FOLDS,
    seed: int = 0,
    n_threads: int | None = None,
    report: Report | None = None,
) -> Choice:
    """The number of topics that explains documents that were left out, and how all numbers tried compare.

    For each fold of the documents and each number of topics T, topics are fitted without the fold. What they gain on
    the fold over one topic, the word frequencies alone, is averaged over the folds. The choice is the smallest T
    whose gain is within one standard error of the largest.

    Parameters
    ----------
    data : Moments with folds, `Moments.of(counts, folds=10)`; or a Corpus or table of counts, whose documents are
        then completed, too
    candidates : numbers of topics, or text such as "10..300"; 1 is always tried
    criterion : what decides: "pairs", the likelihood of the fold's word pairs; or "completion", the likelihood of one
        half of the tokens of the fold's documents, given the other half (needs documents)
    folds : parts of the documents; moments bring their own
    seed : of the halves of documents; nothing else is drawn. Same seed, same result, on any number of threads
    report : called as `report("folds", done, total)`

    >>> from fdmix import worlds
    >>> counts = worlds.intervals().sample(2000, length=20)
    >>> choose_n_topics(counts, [2, 3, 4, 6], folds=5).n_topics
    3
    """
    numbers = (1, *(number for number in numbers_of_topics(candidates) if number > 1))
    moments, documents = _parts(data, folds)
    _check(moments, numbers, criterion, documents is not None)
    halves = whole_number("seed", seed)
    scoring = _Scoring(WeightedMoments.from_moments(moments), documents, halves)
    threads = thread_count(n_threads)
    at_a_time = _folds_at_a_time(moments, threads)

    def fits(fold: int) -> Iterator[tuple[Mixture, dict[str, float]]]:
        """The fits without a fold and their scores, from the largest number of topics to the smallest."""
        left_out = moments.folds[fold]
        learned = replace(moments, folds=(), held_out=None) - left_out
        for fitted in fold_path(learned, left_out, numbers, threads // at_a_time):
            yield fitted.mixture, scoring.scores(fold, fitted.mixture, fitted.score)

    n_folds, done = len(moments.folds), 0
    scores: dict[str, Any] = {}
    alike = _Stability(n_folds, len(numbers))
    places = [len(numbers)] * n_folds
    with one_blas_thread:
        for fold, (mixture, found) in side_by_side(fits, n_folds, at_a_time):
            places[fold] -= 1
            for name, value in found.items():
                scores.setdefault(name, np.full((n_folds, len(numbers)), np.nan))[fold, places[fold]] = value
            alike.add(fold, places[fold], mixture)
            done += 1
            if report is not None:
                report("folds", done, n_folds * len(numbers))
    return Choice(numbers, scores | {"stability": alike.values}, criterion, moments.n_documents)


def _folds_at_a_time(moments: Moments, n_threads: int) -> int:
    """How many folds are fitted at a time: as many as there are threads, if half of the free memory holds them.

    A fold for each thread is faster than all threads for each fold: small fits leave threads without work.
    """
    a_fold = BYTES_PER_PAIR * max(1, moments.n_pairs)
    return max(1, min(n_threads, len(moments.folds), int(available_bytes() / 2 / a_fold)))


@dataclass
class _Scoring:
    """Scores of a fit: of the fold that it has not seen, and of its topics."""

    reference: WeightedMoments
    documents: Any
    seed: int

    def scores(self, fold: int, mixture: Mixture, pairs: float) -> dict[str, float]:
        """The scores of a fit, by name; NaN where there is none."""
        found = {PAIRS: pairs}
        if self.documents is not None:
            held = self.documents[fold]
            found[COMPLETION] = metrics.completion_log_likelihood(
                mixture, held, prior="dirichlet", seed=self.seed
            ).mean
        several = mixture.n_topics > 1
        found["coherence"] = self._coherence(mixture) if several else np.nan
        found["exclusivity"] = metrics.exclusivity(mixture) if several else np.nan
        return found

    def _coherence(self, mixture: Mixture) -> float:
        try:
            return metrics.coherence(mixture, self.reference).mean
        except ValueError:  # no topic has two words
            return float("nan")


class _Stability:
    """How alike the fits of each fold and of the one before are; a fit is kept until its neighbours were compared.

    values : (folds, numbers of topics), NaN for the first fold and for one topic
    """

    def __init__(self, n_folds: int, n_numbers: int) -> None:
        self.values = np.full((n_folds, n_numbers), np.nan)
        self._kept: dict[tuple[int, int], Mixture] = {}
        self._compared: dict[tuple[int, int], int] = {}

    def add(self, fold: int, place: int, mixture: Mixture) -> None:
        """Compare a fit with those of the folds beside it that are there."""
        self._kept[fold, place] = mixture
        for one in (fold - 1, fold):
            first, second = (one, place), (one + 1, place)
            if first in self._kept and second in self._kept:
                if mixture.n_topics > 1:
                    self.values[one + 1, place] = stability(self._kept[first], self._kept[second])
                for each in (first, second):
                    self._count(*each)

    def _count(self, fold: int, place: int) -> None:
        """Forget a fit that was compared with both neighbours, or with the only one that it has."""
        self._compared[fold, place] = self._compared.get((fold, place), 0) + 1
        if self._compared[fold, place] == (fold > 0) + (fold < len(self.values) - 1):
            del self._kept[fold, place]


def stability(one: Mixture, other: Mixture) -> float:
    """How alike two fits are: the mean of sum_u sqrt(mu_t(u) nu_t(u)) over matched topics, at most 1."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  (slow to import)

    first, second = (np.sqrt(each.topics, dtype=np.float32) for each in (one, other))  # half the time of float64
    alike = first @ second.T
    return float(alike[linear_sum_assignment(-alike)].mean())


def _parts(data: Any, folds: int) -> tuple[Moments, list[Corpus] | None]:
    """The moments with their folds, and some documents of each fold if documents are given."""
    if isinstance(data, Moments):
        if not data.folds:
            raise ValueError(
                "these moments keep no folds, so no documents can be left out: count with Moments.of(..., folds=10), "
                "or fdmix count --folds 10"
            )
        return (data.prune() if data.is_open else data), None
    if isinstance(data, str | os.PathLike | WeightedMoments):
        raise TypeError("choose_n_topics takes Moments with folds, a Corpus or a table of counts: use read_corpus")
    corpus = data if isinstance(data, Corpus) else Corpus(data)
    n_folds = whole_number("folds", folds, least=FEWEST_FOLDS)
    bucket = content_hashes(corpus.counts, corpus.vocabulary) % np.uint64(n_folds)
    some = -(-MAX_COMPLETED // n_folds)
    documents = [Corpus(corpus.counts[np.flatnonzero(bucket == k)[:some]], corpus.vocabulary) for k in range(n_folds)]
    return Moments.of(corpus, folds=n_folds), documents


def _check(moments: Moments, numbers: tuple[int, ...], criterion: str, with_documents: bool) -> None:
    if criterion not in (PAIRS, COMPLETION):
        raise ValueError(f"there is no criterion {criterion!r}; there are {PAIRS} and {COMPLETION}")
    if criterion == COMPLETION and not with_documents:
        raise ValueError("moments do not keep documents, so none can be completed: give the documents, or use pairs")
    if len(moments.folds) < FEWEST_FOLDS:
        raise ValueError(f"at least {FEWEST_FOLDS} folds are needed to tell a standard error: count with folds=10")
    fewest = min(fold.n_documents for fold in moments.folds)
    if fewest < FEWEST_DOCUMENTS:
        raise ValueError(
            f"a fold has {fewest} documents of two or more words, and {FEWEST_DOCUMENTS} are needed to judge by: "
            "use fewer folds, or more documents"
        )
    n_words = int(np.count_nonzero(moments.unigram))
    if max(numbers) > n_words:
        raise ValueError(f"{max(numbers):,} topics are more than the {n_words:,} words: try fewer topics")
