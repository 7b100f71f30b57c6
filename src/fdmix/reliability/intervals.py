"""Refits on resampled folds: which topics come back, and intervals for shares, alpha and top words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix.corpus.corpus import Corpus
from fdmix.fit.fitting import fit_mixture
from fdmix.metrics.matching import matching_distance
from fdmix.mixture.labels import topics_digest
from fdmix.mixture.mixture import Mixture
from fdmix.mixture.reliability import Reliability
from fdmix.moments.moments import Moments
from fdmix.moments.resampled import ResampledFolds, poisson_draws
from fdmix.reliability.pair_check import check_pairs
from fdmix.runtime.whole_numbers import whole_number
from fdmix.solvers.described import solver_of

FOLDS = 16
FEWEST_FOLDS = 5  # fewer give intervals that are mostly the t-quantile
REFITS = 20
WARM_PASSES = 200  # of a refit that begins at the topics, which is rarely stopped by this
CAME_BACK = 0.5  # l1 distance: at most a quarter of the topic's probability is elsewhere
N_WORDS = 10  # most probable words of each topic that get intervals

Floats = np.ndarray[Any, np.dtype[np.float64]]


def reliability(
    mixture: Mixture,
    data: Moments | Any,
    *,
    n_refits: int = REFITS,
    level: float = 0.9,
    distance: float = CAME_BACK,
    warm: bool = False,
    seed: int = 0,
    n_threads: int | None = None,
    report: Callable[[str, int, int | None], Any] | None = None,
) -> Mixture:
    """The same mixture with `mixture.reliability`: how sure its topics are, and whether the pairs look like it.

    The folds of the documents are resampled, each counting a Poisson number of times (a bootstrap), topics are fitted
    from scratch with the model's solver, and matched with those of the mixture. Intervals are

        value +- t sqrt(mean over refits of (refit - reference)^2)

    where the reference is a fit to all documents, and t is Student's quantile for the number of folds and refits.
    A resample has twice the noise of the documents themselves, as if there were half as many, and it says so: a fit
    shrinks by the noise that it expects. Refits are then off by the bias of the fit once more; the mean square around
    the reference holds this bias as well as the spread. Refits that began at the topics
    would stay near them, and show neither the bias nor all of the spread (docs/how-to/choosing.md has both).

    Parameters
    ----------
    data : Moments with folds that have the mixture's words; or a Corpus or table of counts
    n_refits : refits, each on its own resample; 20 or more
    level : of the intervals
    distance : l1 distance, from 0 to 2, within which a topic came back
    warm : begin refits at the mixture's topics. For models whose topics no fit from scratch would find, because they
        were edited. What comes out is then the variation between refits, and no interval that covers the truth
    seed : of the resamples. Same seed, same result, on any number of threads
    report : called as `report("refits", done, total)`

    >>> from fdmix import worlds
    >>> moments = Moments.of(worlds.intervals().sample(2000, length=20), folds=8)
    >>> sure = reliability(fit_mixture(moments, 3).mixture, moments, n_refits=5).reliability
    >>> sure.returned
    array([1., 1., 1.])
    """
    n_refits, seed = whole_number("n_refits", n_refits, least=2), whole_number("seed", seed)
    if not 0 < level < 1:
        raise ValueError(f"the level of intervals is above 0 and below 1, such as 0.9, not {level!r}")
    if not 0 < distance <= 2:
        raise ValueError(f"distances of topics are above 0 and at most 2, not {distance!r}")
    moments = _over_words_of(mixture, _moments(data))
    settings: dict[str, Any] = {"solver": solver_of(mixture.provenance), "n_threads": n_threads}
    settings |= {"start": replace(mixture, reliability=None), "max_passes": WARM_PASSES} if warm else {}
    folds = ResampledFolds(moments)
    filled = _filled_folds(moments)
    draws = np.zeros((n_refits, len(moments.folds)), np.int64)
    draws[:, filled] = poisson_draws(filled.size, n_refits, np.random.default_rng(seed))
    refits: list[Mixture] = []
    reference = _refit(mixture, folds, np.ones(len(moments.folds), int), settings)
    for done, draw in enumerate(draws):
        if report is not None:
            report("refits", done, n_refits)
        refits.append(_refit(mixture, folds, draw, settings))
    found = _summary(mixture, reference, refits, filled.size, level, distance)
    check = check_pairs(mixture, moments, n_threads=n_threads)
    return replace(mixture, reliability=replace(found, warm=bool(warm), check=check))


def _refit(mixture: Mixture, folds: ResampledFolds, draw: Any, settings: dict[str, Any]) -> Mixture:
    """Topics of a resample, numbered as those of the mixture."""
    found = fit_mixture(folds.sums(draw), mixture.n_topics, **settings).mixture
    matched = matching_distance(mixture.topics, found.topics)
    order = np.empty(mixture.n_topics, np.int64)
    order[matched.left] = matched.right
    return Mixture(found.topics[order], found.correlations[np.ix_(order, order)])


def _summary(
    mixture: Mixture, reference: Mixture, refits: Sequence[Mixture], n_folds: int, level: float, distance: float
) -> Reliability:
    """What the refits say about the topics."""
    moved = np.array([np.abs(refit.topics - reference.topics).sum(axis=1) for refit in refits])
    words = mixture.top_columns(min(N_WORDS, mixture.n_words), "probability")

    def of_words(one: Mixture) -> Floats:
        return np.take_along_axis(one.topics, words, axis=1)

    def interval(value: Callable[[Mixture], Floats]) -> tuple[Floats, Floats]:
        squares = np.mean([(value(refit) - value(reference)) ** 2 for refit in refits], axis=0)
        half = _quantile(level, n_folds, len(refits)) * np.sqrt(squares * n_folds / (n_folds - 1))
        return np.maximum(value(mixture) - half, 0), np.minimum(value(mixture) + half, 1)

    top = [refit.top_columns(words.shape[1], "probability") for refit in refits]
    kept = np.mean([(words[:, :, None] == found[:, None, :]).any(axis=2) for found in top], axis=0)
    return Reliability(
        returned=(moved < distance).mean(axis=0),
        moved=moved.mean(axis=0),
        shares=np.stack(interval(lambda one: one.shares), axis=-1),
        correlations=np.stack(interval(lambda one: one.correlations)),
        words=words,
        probabilities=np.stack(interval(of_words), axis=-1),
        kept=kept,
        level=float(level),
        n_refits=len(refits),
        n_folds=n_folds,
        distance=float(distance),
        digest=topics_digest(mixture.topics),
    )


def _quantile(level: float, n_folds: int, n_refits: int) -> float:
    """Student's quantile: the error itself is known only as well as some folds and some refits tell it."""
    from scipy.special import stdtrit  # noqa: PLC0415  (slow to import)

    freedom = 1 / (1 / (n_folds - 1) + 1 / n_refits)
    return float(stdtrit(freedom, (1 + level) / 2))


def _moments(data: Any) -> Moments:
    """Moments with enough folds."""
    if not isinstance(data, Moments):
        if isinstance(data, str):
            raise TypeError("reliability takes Moments with folds, a Corpus or a table of counts: use read_corpus")
        return Moments.of(data if isinstance(data, Corpus) else Corpus(data), folds=FOLDS)
    if len(data.folds) < FEWEST_FOLDS:
        raise ValueError(
            f"these moments keep {len(data.folds) or 'no'} folds, and refits resample at least {FEWEST_FOLDS}: count "
            f"with Moments.of(..., folds={FOLDS}), or fdmix count --folds {FOLDS}"
        )
    return data


def _filled_folds(moments: Moments) -> Any:
    """Positions of the folds that have pairs: a resample of empty folds only would have nothing to fit."""
    filled = np.flatnonzero([fold.n_pairs > 0 for fold in moments.folds])
    if filled.size < FEWEST_FOLDS:
        raise ValueError(
            f"only {filled.size} of the {len(moments.folds)} folds have word pairs, and refits resample at least "
            f"{FEWEST_FOLDS}: these documents are too few to tell how sure their topics are"
        )
    return filled


def _over_words_of(mixture: Mixture, moments: Moments) -> Moments:
    """The moments of the mixture's words, in its order."""
    if mixture.vocabulary is None or moments.vocabulary is None:
        if mixture.n_words != moments.n_words:
            raise ValueError(
                f"the mixture has {mixture.n_words:,} words, the moments {moments.n_words:,}, and no names to match"
            )
        return moments
    if mixture.vocabulary == moments.vocabulary:
        return moments
    missing = len(set(mixture.vocabulary) - set(moments.vocabulary))
    if missing:
        raise ValueError(
            f"the moments do not have {missing:,} of the mixture's {mixture.n_words:,} words: count the text that "
            "the topics were fitted to, with the model's words"
        )
    return moments.restrict(mixture.vocabulary)
