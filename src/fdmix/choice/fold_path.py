"""One fold's fits of several numbers of topics: the largest number from scratch, each smaller one by merging.

Merging the cheapest topics of a fit and some passes of EM give about the likelihood of a fit from scratch, for a
fraction of the passes (docs/how-to/choosing.md has the comparison). The documents of the fold are not looked at: a
fit that had seen them once, even as its start, would find topics in noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.engines import Engine, engine_for
from fdmix.fit.starts import starting_mixture
from fdmix.mixture.mixture import Mixture
from fdmix.moments.full_matrix import rearranged
from fdmix.moments.moments import Moments
from fdmix.solvers import EM, Problem
from fdmix.solvers.judged import Judge
from fdmix.solvers.moves import merged


@dataclass(frozen=True)
class Passes:
    """How long each fit of the path goes on.

    spare_topics : topics of the start, as a multiple of the largest number tried; merging removes those too many
    first : passes at most with the topics of the start
    after_merging : passes at most with each smaller number of topics
    tolerance : share of the likelihood gained since the last merge; a pass that gains less ends the fit
    """

    spare_topics: float = 1.3
    first: int = 25
    after_merging: int = 10
    tolerance: float = 1e-3


PASSES = Passes()


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fit without the documents of a fold, and the log-likelihood of a pair of these documents."""

    mixture: Mixture
    score: float


def fold_path(
    learned: Moments,
    left_out: Moments,
    candidates: Sequence[int],
    n_threads: int | None = None,
    *,
    cold: bool = False,
) -> Iterator[Fitted]:
    """The fits of each number of topics, from the largest to the smallest.

    cold : whether each number is fitted from scratch instead of by merging
    """
    seen = np.flatnonzero(learned.unigram)
    mhat = rearranged(learned.matrix, seen)
    frequencies = learned.document_frequencies[seen]
    unigram = learned.unigram[seen]
    engine = engine_for("auto", mhat, max(candidates), n_threads)
    judging = engine_for("auto", left_out.matrix[seen][:, seen], max(candidates), n_threads)
    judge = Judge(judging, 0.5 * unigram + 0.5 / seen.size, left_out.n_tokens)
    now: Mixture | None = None
    for n_topics in sorted(candidates, reverse=True):
        if n_topics == 1:
            now = Mixture(unigram[None] / unigram.sum(), np.ones((1, 1)))
        elif now is None or cold:
            n_first = min(max(n_topics, round(PASSES.spare_topics * n_topics)), max(n_topics, seen.size))
            start = starting_mixture("anchors", mhat, n_first, frequencies, 0)
            now = _improved(engine, mhat, merged(_improved(engine, mhat, start, PASSES.first), n_topics))
        else:
            now = _improved(engine, mhat, merged(now, n_topics))
        yield Fitted(_over_all_words(now, seen, learned), judge.score(now))


def _improved(engine: Engine, mhat: Any, start: Mixture, most: int = PASSES.after_merging) -> Mixture:
    """The mixture after over-relaxed EM on the pairs, without shrinkage."""
    tolerance = 100 * PASSES.tolerance  # plain EM takes a hundredth of the tolerance that it is given
    problem = Problem(engine, mhat, start.n_topics, 1, tolerance, np.random.default_rng(0), keep_numbers=True)
    run = EM(sparsity=0).begin(problem, start)
    for _ in range(most - 1):
        run.step()
        if run.settled is not None:
            return run.mixture()
    run.last_step()
    return run.mixture()


def _over_all_words(mixture: Mixture, seen: Any, moments: Moments) -> Mixture:
    topics = np.zeros((mixture.n_topics, moments.n_words))
    topics[:, seen] = mixture.topics
    return Mixture(topics, mixture.correlations, moments.vocabulary)
