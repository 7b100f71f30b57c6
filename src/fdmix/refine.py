"""The last polish of topics: leave-one-out passes over documents, as many as help documents that were set aside."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.assignment import aligned_counts, matched_prior
from fdmix.corpus import Corpus
from fdmix.kernels.threads import Workers, one_blas_thread, thread_count
from fdmix.mixture import Mixture
from fdmix.visits import Tally, Visits

MOST_DOCUMENTS = 100_000  # of a larger corpus, a random sample is enough
SET_ASIDE = 0.05  # of the documents,
MOST_ASIDE = 4_000  # and no more than so many
FEWEST = 40  # documents with which anything can be chosen
MOST_PASSES = 12  # of passes="auto"
PATIENCE = 2  # passes that may fail to improve before it stops
FACTORS = (0.6, 1.0, 1.7)  # by which the strength of the prior may change between two passes
BACKGROUNDS = np.array([1e-4, 1e-3, 3e-3, 1e-2, 3e-2])  # shares of the unigram, made even, in the topics


@dataclass(frozen=True)
class Refinement:
    """What a callback is told after each pass over the documents; score : completion, log-probability of a token."""

    passes: int
    score: float
    concentration: float
    background: float
    seconds: float


def refine(
    mixture: Mixture,
    corpus: Any,
    passes: int | str = "auto",
    *,
    unseen: Any = None,
    max_documents: int = MOST_DOCUMENTS,
    seed: int = 0,
    callback: Callable[[Refinement], Any] | None = None,
    n_threads: int | None = None,
) -> Mixture:
    """Improve the topics by passes over documents; in each, every token is shared among topics without its own vote:

    r_ut ~ (a_t + n_dt - r_ut) mu_t(u),    mu_t(u) <- sum_d c_d(u) r_ut, normalised (CVB0; Asuncion et al. 2009).

    Pairs do not tell everything that documents tell; a few passes fetch the rest, and too many would overfit. So how
    many, how strong the Dirichlet prior a = A E[theta] is, and how much of the unigram the topics get, is chosen by
    document completion: the log-probability of one half of a document, given the other.

    Parameters
    ----------
    mixture : topics to begin with; words with probability 0 in a topic keep it, but for the unigram's share
    corpus : Corpus (aligned by word if it has a vocabulary) or table of whole counts
    passes : "auto", or a number of passes
    unseen : documents that the mixture was not fitted to, to choose by. Without any, some of the corpus are set aside
        and their words subtracted from the topics, which does not undo all that the topics learned from them: the
        choice is then on the side of too few passes
    max_documents : of a larger corpus a random sample is used
    callback : called with a `Refinement` after each pass; returning True stops
    seed : of the sample and the documents set aside; the result is the same on any number of threads

    >>> from fdmix import Moments, fit_mixture, worlds
    >>> corpus = worlds.intervals().sample(2000, length=20)
    >>> refine(fit_mixture(Moments.of(corpus), 3).mixture, corpus)
    Mixture(3 topics over 100 words)
    """
    _check(passes, max_documents, n_threads)
    table = _known(mixture, corpus, "corpus")
    rng = np.random.default_rng(seed)
    if table.shape[0] > max_documents:
        table = table[np.sort(rng.choice(table.shape[0], max_documents, replace=False))]
    if mixture.n_topics == 1 or table.nnz == 0 or passes == 0:
        return mixture
    judges = None if unseen is None else _known(mixture, unseen, "unseen")
    forget = judges is None and table.shape[0] >= FEWEST
    if forget:
        chosen = rng.permutation(table.shape[0])
        n_aside = n_set_aside(table.shape[0])
        judges, table = table[np.sort(chosen[:n_aside])], table[np.sort(chosen[n_aside:])]
    with one_blas_thread:
        visits = Visits(table, judges, Workers(n_threads), seed)
        run = _Run(visits, Tally.of(mixture, visits.n_tokens), float(matched_prior(mixture.correlations).sum()))
        if forget:
            run.forget()
        run.loop(passes, callback)
        return run.mixture(mixture)


def n_set_aside(n_documents: int) -> int:
    """How many of so many documents are set aside to judge by."""
    return min(MOST_ASIDE, max(FEWEST // 4, round(SET_ASIDE * n_documents)))


class _Run:
    """A refinement in progress: the tally, the strength of the prior, and the best of both so far."""

    def __init__(self, visits: Visits, tally: Tally, concentration: float) -> None:
        self.visits, self.tally = visits, tally
        self.concentration = self.matched = concentration
        self.background = 0.0

    def forget(self) -> None:
        """Take the judges' tokens out of the tally: what they are judged by should not know them."""
        judges = self.visits.judges
        assert judges is not None
        learned = self.visits.learn(self.tally, self.tally.prior(self.matched), judges)
        n_judged = judges.sum()
        grown = self.tally.counts * ((self.visits.n_tokens + n_judged) / max(self.visits.n_tokens, 1.0))
        left = sp.csr_array(grown - learned.counts)
        if left.sum() > 0:
            self.tally = Tally.with_entries(left, np.maximum(left.data, 0.0))

    def loop(self, passes: int | str, callback: Callable[[Refinement], Any] | None) -> None:
        """Pass after pass; "auto" keeps the best one, and stops when two did not improve on it."""
        begin = time.monotonic()
        best, kept, since = -np.inf, self._settings(), 0
        for done in range(1, (MOST_PASSES if passes == "auto" else int(passes)) + 1):
            self.tally = self.visits.learn(self.tally, self.tally.prior(self.concentration))
            score = self.choose()
            said = Refinement(done, score, self.concentration, self.background, time.monotonic() - begin)
            since = 0 if score > best else since + 1
            if score > best or passes != "auto":
                best, kept = score, self._settings()
            if (callback and callback(said)) or (passes == "auto" and (since == PATIENCE or np.isnan(score))):
                break
        self.tally, self.concentration, self.background = kept

    def _settings(self) -> tuple[Tally, float, float]:
        return self.tally, self.concentration, self.background

    def choose(self) -> float:
        """The background, and the A near the present one, with the best completion: its score, NaN without judges."""
        if self.visits.halves is None:
            return float("nan")
        near = [factor * self.concentration for factor in FACTORS]
        scores = np.array([self.visits.scores(self.tally, self.tally.prior(A), BACKGROUNDS) for A in near])
        which, share = np.unravel_index(int(scores.argmax()), scores.shape)
        self.concentration, self.background = near[which], float(BACKGROUNDS[share])
        return float(scores[which, share])

    def mixture(self, before: Mixture) -> Mixture:
        """The topics with their background, alpha from the documents; a topic that lost all stays as it was."""
        counts = self.tally.counts.toarray().T
        totals = counts.sum(axis=1, keepdims=True)
        topics = np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), before.topics)
        topics = (1 - self.background) * topics + self.background * self.visits.background
        alpha = self.visits.correlations(self.tally, self.tally.prior(self.matched))
        how = {"concentration": self.concentration, "background": self.background}
        return replace(
            before,
            topics=topics / topics.sum(axis=1, keepdims=True),
            correlations=alpha,
            provenance=dict(before.provenance) | {"refined": how},
        )


def _known(mixture: Mixture, counts: Any, name: str) -> sp.csr_array:
    """Documents over the mixture's words; tokens that no topic has are left out by the visits."""
    if not isinstance(mixture, Mixture):
        raise TypeError(f"refine improves a Mixture, not {type(mixture).__name__}: use fit_mixture(...).mixture")
    corpus = counts if isinstance(counts, Corpus) else Corpus(counts)
    table = aligned_counts(corpus, mixture.vocabulary, mixture.n_words)[0]
    if name == "unseen" and int(np.diff(table.indptr).max(initial=0)) < 1:
        raise ValueError("no unseen document has a word of the mixture")
    return table


def _check(passes: int | str, max_documents: int, n_threads: int | None) -> None:
    if passes != "auto" and (type(passes) is not int or passes < 0):
        raise ValueError(f"passes is 'auto' or a whole number from 0 upwards, not {passes!r}")
    if type(max_documents) is not int or max_documents < 1:
        raise ValueError(f"max_documents must be a whole number from 1 upwards, not {max_documents!r}")
    thread_count(n_threads)
