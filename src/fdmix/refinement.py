"""The last polish of topics: leave-one-out passes over documents, as many as help documents that were set aside."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.assignment import aligned_counts, matched_prior
from fdmix.corpus import Corpus
from fdmix.counting import content_hashes
from fdmix.kernels.threads import Workers, one_blas_thread, thread_count
from fdmix.memory import available_bytes, in_words
from fdmix.mixture import Mixture
from fdmix.visits import STRENGTHS, Sampler, Tally, Visits

MOST_DOCUMENTS, MOST_TOKENS = 1_000_000, 20_000_000  # of a larger corpus, a random sample is enough
SET_ASIDE = 0.05  # of the documents,
MOST_ASIDE = 4_000  # and no more than so many
FEWEST = 40  # documents with which anything can be chosen
MOST_PASSES = 12  # of passes="auto"
SWEEPS = 10  # of sampling that go by, and as many or more, whose mean is judged
SWEEPS_IN_ALL = 300, 900  # at least and at most: (so many draws / those of a sweep)^1.5,
DRAWS = 1.2e8  # half a minute for 60,000 paragraphs; small corpora need more sweeps, which are cheap
LONGER = 4  # once the prior is chosen, each step takes one part in four of all sweeps before it
STRONGEST = 0.45  # prior of sampling, in lengths of a document: it should not outweigh the document
HALVINGS = 3  # of the prior, before it is judged whether weaker ones are better
GAIN = 0.001  # in worth; less is none
DESCRIPTION = 0.45  # the hold-out score's weight in the worth: it can be won with wrong topics; completion has 1
BLENDS = 0.0, 0.05, 0.15  # shares of the topics before in those sampled, which have too few of the rare words
BYTES_A_COUNT, BYTES_A_SHARE, BYTES_A_TOKEN = (
    150,
    16,
    40,
)  # of memory: a word in a topic, the same in a document, a token
FACTOR = 1.7  # between the strengths of the prior that are tried
BACKGROUNDS = np.array([1e-4, 1e-3, 3e-3, 1e-2, 3e-2])  # shares of the unigram, made even, in the topics


@dataclass(frozen=True)
class Refinement:
    """What a callback is told after each pass over the documents, after each twenty or more sweeps of sampling, and
    at the end.

    passes : so far; in sampling, sweeps, also those with a prior that is then given up
    score : completion, the log-probability of a token; phase : "passes" or "sampling"
    """

    passes: int
    score: float
    concentration: float
    background: float
    seconds: float
    phase: str = "passes"


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
    document completion: the log-probability of one half of a document, given the other. From there the topics of
    single tokens are drawn, sweep after sweep (Gibbs sampling in which all documents see the topics of the sweep
    before), with a strong prior or, if they are better, weaker and weaker ones. Taken is the mean of those sweeps
    that complete and describe documents best, completion + 0.45 times the hold-out score, with up to 15 % of the
    topics it began with.

    Parameters
    ----------
    mixture : topics to begin with; words with probability 0 in a topic keep it, but for the unigram's share
    corpus : Corpus (aligned by word if it has a vocabulary) or table of whole counts
    passes : "auto", or a number of passes, without sampling
    unseen : documents that the mixture was not fitted to, to choose by. Without any, some of the corpus are set aside
        and their words subtracted from the topics, which does not undo all that the topics learned from them: the
        choice is then on the side of too few passes
    max_documents : of a larger corpus, or one of more than 20 million tokens, a random sample is used
    callback : called with a `Refinement` after each pass, and now and then while sampling; returning True stops, with
        what is refined so far, and so does Ctrl-C
    seed : of the sample of documents, the halves of those set aside, and the draws
    n_threads : the result is the same with any number

    >>> from fdmix import Moments, fit_mixture, worlds
    >>> corpus = worlds.intervals().sample(2000, length=20)
    >>> refine(fit_mixture(Moments.of(corpus), 3).mixture, corpus)
    Mixture(3 topics over 100 words)
    """
    if passes != "auto" and (type(passes) is not int or passes < 0):
        raise ValueError(f"passes is 'auto' or a whole number from 0 upwards, not {passes!r}")
    run = begin_refinement(mixture, corpus, unseen, max_documents, seed, n_threads)
    if run is None or passes == 0:
        return mixture
    with one_blas_thread:
        with suppress(KeyboardInterrupt):
            if not run.loop(passes, callback) and passes == "auto":
                run.sample(callback)
        return replace(run.mixture(), correlations=run.correlations())


def begin_refinement(
    mixture: Mixture, corpus: Any, unseen: Any, max_documents: int, seed: int, n_threads: int | None
) -> RefinementRun | None:
    """A refinement that is ready for its first pass; None if there is nothing to refine."""
    if type(max_documents) is not int or max_documents < 1:
        raise ValueError(f"max_documents must be a whole number from 1 upwards, not {max_documents!r}")
    thread_count(n_threads)
    table = _known(mixture, corpus)
    table = table[with_pairs(table)]
    rng = np.random.default_rng(seed)
    share = min(max_documents / max(table.shape[0], 1), MOST_TOKENS / max(table.sum(), 1))
    if share < 1:
        n_documents = max(1, round(share * table.shape[0]))
        table = table[np.sort(rng.choice(table.shape[0], n_documents, replace=False))]
    if mixture.n_topics == 1 or table.nnz == 0:
        return None
    mind_the_memory(table, mixture.n_topics, max_documents)
    judges = None if unseen is None else _known(mixture, unseen)
    if judges is not None and with_pairs(judges).size == 0:
        raise ValueError("no unseen document has two tokens that the mixture knows")
    forget = judges is None and table.shape[0] >= FEWEST
    if forget:
        judges, table = (table[some] for some in set_aside(table))
    run = RefinementRun(mixture, Visits(table, judges, Workers(n_threads), seed), seed)
    if forget:
        run.forget()
    return run


def mind_the_memory(table: sp.csr_array, n_topics: int, max_documents: int) -> None:
    """Refuse what does not fit: counts of words in topics, dense and sparse, the topic of every token, and what judging
    the longest document takes.
    """
    n_tokens = min(int(table.sum()) * min(1.0, max_documents / max(table.shape[0], 1)), MOST_TOKENS)
    longest = int(np.diff(table.indptr).max(initial=0)) * thread_count()
    needed = int(n_topics) * (BYTES_A_COUNT * table.shape[1] + BYTES_A_SHARE * longest) + BYTES_A_TOKEN * n_tokens
    if needed > available_bytes():
        raise MemoryError(
            f"passes over documents would need about {in_words(needed)} but {in_words(available_bytes())} are free: "
            "use fewer topics or words, fewer documents (max_documents), or pairs alone (fit_mixture, refine=False)"
        )


def with_pairs(table: sp.csr_array) -> Any:
    """Which documents have two tokens or more: one token says nothing about others, and cannot be halved."""
    return np.flatnonzero(np.asarray(table.sum(axis=1)).ravel() >= 2)


def set_aside(table: sp.csr_array) -> tuple[Any, Any]:
    """Which documents are set aside to judge by, and which are left to learn from: the same ones with any seed.

    Other documents to learn from make more of a difference than another start and other draws. A copy of a document
    that judges is not learned from: judges must be unseen.
    """
    n_documents = table.shape[0]
    n_aside = min(MOST_ASIDE, max(FEWEST // 4, round(SET_ASIDE * n_documents)))
    aside, rest = np.split(np.random.default_rng([0, 2]).permutation(n_documents), [n_aside])
    contents = content_hashes(table)
    unlike = rest[~np.isin(contents[rest], contents[aside])]
    return np.sort(aside), np.sort(unlike if unlike.size else rest)


@dataclass(frozen=True)
class Choice:
    """Topics as a tally, the strength of the prior and the background that go with them, and their completion."""

    tally: Tally
    concentration: float
    background: float = 0.0
    score: float = -np.inf


@dataclass(frozen=True)
class _Stage:
    """Where sampling is, the mean of its last sweeps, what was chosen to go with it, and what that is worth."""

    sampler: Sampler
    mean: Tally
    choice: Choice
    worth: float


class RefinementRun:
    """A refinement in progress; `best` is what it has arrived at."""

    def __init__(self, mixture: Mixture, visits: Visits, seed: int = 0) -> None:
        self.before, self.visits, self.seed, self.begin = mixture, visits, seed, time.monotonic()
        self.matched = float(np.clip(matched_prior(mixture.correlations).sum(), *STRENGTHS))
        self.best = Choice(Tally.of(mixture, visits.n_tokens), self.matched)

    def forget(self) -> None:
        """Take the judges' tokens out of the tally: what they are judged by should not know them."""
        judges = self.visits.judges
        assert judges is not None
        tally = self.best.tally
        learned = self.visits.learn(tally, tally.prior(self.matched), judges)
        n_judged = judges.sum()
        grown = tally.counts * ((self.visits.n_tokens + n_judged) / max(self.visits.n_tokens, 1.0))
        left = sp.csr_array(grown - learned.counts)
        if left.sum() > 0:
            self.best = Choice(Tally.with_entries(left, np.maximum(left.data, 0.0)), self.matched)

    def loop(self, passes: int | str, callback: Callable[[Refinement], Any] | None) -> bool:
        """Pass after pass; "auto" ends with the first one that does not improve, and keeps the one before.

        Whether the callback asked to stop.
        """
        self.best = self.choose(self.best.tally, self.best.concentration)
        for done in range(1, (MOST_PASSES if passes == "auto" else int(passes)) + 1):
            tally, concentration = self.best.tally, self.best.concentration
            there = self.choose(self.visits.learn(tally, tally.prior(concentration)), concentration)
            stop = self._tell(callback, there, done, "passes")
            worse = there.score <= self.best.score
            if passes != "auto" or not worse:
                self.best = there
            if stop or (passes == "auto" and (worse or np.isnan(there.score))):
                return stop
        return False

    def sample(self, callback: Callable[[Refinement], Any] | None) -> bool:
        """Sweeps of sampling from where the passes ended, kept if they are worth more or complete better.

        Whether the callback asked to stop.
        """
        passes = self.best
        if np.isnan(passes.score):
            return False
        strong = STRONGEST * self.visits.mean_length
        begin = _Stage(
            Sampler(self.visits, passes.tally, strong, self.seed), passes.tally, passes, self.worth(passes)
        )
        sweeps = _Sweeps(self, callback)
        best = sweeps.settled(sweeps.with_the_right_prior(begin))
        if best.worth < begin.worth and best.choice.score < passes.score:
            return sweeps.stop
        self.best = best.choice
        for blend in sorted(BLENDS)[:-1]:  # the largest one was judged
            if not sweeps.stop:
                there = self.choose(best.mean.blended(self.before, blend), best.choice.concentration)
                self.best = there if there.score > self.best.score else self.best
        sweeps.stop = sweeps.stop or self._tell(callback, self.best, sweeps.done, "sampling")
        return sweeps.stop

    def worth(self, choice: Choice) -> float:
        """Completion and, with less weight, the hold-out score, for which theta is fitted to the whole document."""
        return choice.score + DESCRIPTION * self.visits.description(choice.tally, choice.background)

    def choose(self, tally: Tally, concentration: float) -> Choice:
        """The strength A of the prior and the background that complete the judges best; the score is NaN without any.

        Completion rises with A up to its best, and then falls: so A is followed from where it was.
        """
        if self.visits.halves is None:
            return replace(self.best, tally=tally, score=float("nan"))
        here = self._best_background(tally, concentration)
        for factor in (FACTOR, 1 / FACTOR):
            while STRENGTHS[0] <= factor * here.concentration <= STRENGTHS[1]:
                there = self._best_background(tally, factor * here.concentration)
                if there.score <= here.score:
                    break
                here = there
        return here

    def _best_background(self, tally: Tally, concentration: float) -> Choice:
        scores = self.visits.scores(tally, tally.prior(concentration), BACKGROUNDS)
        return Choice(tally, concentration, float(BACKGROUNDS[scores.argmax()]), float(scores.max()))

    def _tell(self, callback: Callable[[Refinement], Any] | None, choice: Choice, done: int, phase: str) -> bool:
        seconds = time.monotonic() - self.begin
        said = Refinement(done, choice.score, choice.concentration, choice.background, seconds, phase)
        return callback is not None and bool(callback(said))

    def mixture(self) -> Mixture:
        """The topics with their background, alpha as it was; a topic that lost all stays as it was."""
        tally, background = self.best.tally, self.best.background
        counts = tally.counts.toarray().T
        totals = counts.sum(axis=1, keepdims=True)
        topics = np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), self.before.topics)
        topics = (1 - background) * topics + background * self.visits.background
        told = None if np.isnan(self.best.score) else self.best.concentration
        return replace(
            self.before,
            topics=topics / topics.sum(axis=1, keepdims=True),
            concentration=told,
            provenance=dict(self.before.provenance) | {"refined": {"background": background}},
        )

    def correlations(self) -> Any:
        """alpha from the documents."""
        tally = self.best.tally
        return self.visits.correlations(tally, tally.prior(self.matched))


class _Sweeps:
    """Sampling in progress: how many sweeps are left, and whether the callback asked to stop."""

    def __init__(self, run: RefinementRun, callback: Callable[[Refinement], Any] | None) -> None:
        n_topics, n_words = run.before.topics.shape
        work = run.visits.n_tokens + n_topics * n_words / 20  # of a sweep, in draws; its counts take time, too
        self.run, self.callback, self.stop = run, callback, False
        self.done, self.in_all = 0, int(np.clip((DRAWS / max(work, 1.0)) ** 1.5, *SWEEPS_IN_ALL))

    def after(self, stage: _Stage, factor: float = 1.0, sweeps: int = 2 * SWEEPS) -> _Stage:
        """Where sweeps with so many times the prior's strength lead; where we are, if there are none left."""
        left = self.in_all - self.done
        if self.stop or left < 2 * SWEEPS:
            return stage
        sweeps = sweeps if left >= 2 * sweeps else left  # a short rest is added to the last ones
        sampler = stage.sampler.times(factor)
        sampler.mean(SWEEPS)  # forgets where it began
        mean = sampler.mean(sweeps - SWEEPS)
        choice = self.run.choose(mean.blended(self.run.before, max(BLENDS)), stage.choice.concentration)
        self.done += sweeps
        self.stop = self.run._tell(self.callback, choice, self.done, "sampling")
        return _Stage(sampler, mean, choice, self.run.worth(choice))

    def with_the_right_prior(self, begin: _Stage) -> _Stage:
        """Sampled with the prior it begins with, or with weaker and weaker ones if they are worth more.

        A strong prior spreads documents over more topics. Topics move freely, become sharper, describe documents
        better and complete them worse; both count. One half of the prior may look better or worse than where it
        leads, three halvings do not (docs/research.md). Compared are always as many sweeps.
        """
        same = weaker = self.after(begin)
        for _ in range(HALVINGS):
            same = self.after(same)
            weaker = self.after(weaker, 0.5)
        while weaker.worth > same.worth + GAIN:
            same, weaker = self.after(weaker), self.after(weaker, 0.5)
        return same

    def settled(self, stage: _Stage) -> _Stage:
        """The best of what longer and longer means arrive at, until nothing is gained twice."""
        best, idle = stage, 0
        while idle < 2:
            stage = self.after(stage, 1.0, max(2 * SWEEPS, self.done // LONGER))
            idle = 0 if stage.worth > best.worth + GAIN else idle + 1
            best = max(best, stage, key=lambda one: one.worth)
        return best


def _known(mixture: Mixture, counts: Any) -> sp.csr_array:
    """Documents over the mixture's words; tokens that no topic has are left out by the visits."""
    if not isinstance(mixture, Mixture):
        raise TypeError(f"refine improves a Mixture, not {type(mixture).__name__}: use fit_mixture(...).mixture")
    corpus = counts if isinstance(counts, Corpus) else Corpus(counts)
    return aligned_counts(corpus, mixture.vocabulary, mixture.n_words)[0]
