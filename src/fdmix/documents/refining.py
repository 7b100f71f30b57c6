"""The last polish of topics: leave-one-out passes over documents, as many as help documents that were set aside."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.splits import MIN_DOCUMENTS, held_out_split, with_pairs
from fdmix.documents.heldout import Choice, Judge
from fdmix.documents.schedule import Sweeps
from fdmix.documents.visits import STRENGTHS, Tally, Visits
from fdmix.fit.fitting import fit_correlations
from fdmix.mixture.assignment import aligned_counts, matched_prior
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.runtime.interruption import INTERRUPTED, completed, deferred_ctrl_c
from fdmix.runtime.memory import available_bytes, in_words
from fdmix.runtime.threads import Workers, one_blas_thread, thread_count
from fdmix.runtime.whole_numbers import whole_number

log = logging.getLogger("fdmix")
MOST_DOCUMENTS, MOST_TOKENS = 1_000_000, 20_000_000  # of a larger corpus, a random sample is enough
MOST_PASSES = 12  # of passes="auto"
BYTES_A_COUNT, BYTES_A_SHARE = 150, 16  # of memory, for a word in a topic and for the same in a document
BYTES_A_TOKEN = 40
WELL_KNOWN = 0.5  # share of the tokens; text of which the mixture knows less is probably not its own kind of text


@dataclass(frozen=True)
class Refinement:
    """What a callback is told after each pass over the documents, after each twenty or more sweeps of sampling, once
    a second if they take longer, and at the end.

    passes : so far; in sampling, sweeps, also those with a prior that is then given up
    score : completion, the log-probability of a token
    phase : "passes", "sampling" or, in `fit_documents`, "correlations"
    of : how many passes or sweeps the phase takes at most
    judged : whether the score is that of these passes or sweeps; otherwise it is the last one known
    """

    passes: int
    score: float
    concentration: float
    background: float
    seconds: float
    phase: str = "passes"
    of: int | None = None
    judged: bool = True


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
    corpus : Corpus (aligned by word if it has a vocabulary) or table of whole counts. ValueError if no document has
        two tokens that the mixture knows; a warning in the log if the mixture knows less than half of the tokens
    passes : "auto", or a number of passes, without sampling
    unseen : documents that the mixture was not fitted to, to choose by. Without any, some of the corpus are set aside
        and their words subtracted from the topics, which does not undo all that the topics learned from them: the
        choice is then on the side of too few passes
    max_documents : of a larger corpus, or one of more than 20 million tokens, a random sample is used
    callback : called with a `Refinement` after each pass, and now and then while sampling; returning True stops, with
        what is refined so far, and so does Ctrl-C, at any moment: `mixture.provenance["refined"]["stopped"]` says so.
        Before anything is refined, the mixture itself is returned
    seed : of the sample of documents, the halves of those set aside, and the draws
    n_threads : the result is the same with any number

    >>> from fdmix import Moments, fit_mixture, worlds
    >>> corpus = worlds.intervals().sample(2000, length=20)
    >>> refine(fit_mixture(Moments.of(corpus), 3).mixture, corpus)
    Mixture(3 topics over 100 words)
    """
    passes = passes if isinstance(passes, str) and passes == "auto" else whole_number("passes", passes)
    with deferred_ctrl_c, one_blas_thread:
        run = begin_refinement(mixture, corpus, unseen, max_documents, seed, n_threads)
        if run is None or passes == 0:
            return mixture
        interrupted = stopped = False
        try:
            stopped = run.loop(passes, callback) or (passes == "auto" and run.sample(callback))
        except KeyboardInterrupt:
            interrupted = stopped = True
        if not run.begun:
            return mixture
        refined, late = completed(run.mixture)
        alpha, last = refined.correlations, True  # Ctrl-C was pressed, unless the next step ends
        with suppress(KeyboardInterrupt):
            moments = Moments.of(run.visits.table, n_threads=n_threads)
            tell = None if stopped else run.correlations_teller(callback)
            alpha, _, last = fit_correlations(refined, moments, n_threads, tell)
        refined = replace(refined, correlations=alpha)
    return _stopped(refined) if interrupted or late or last else refined


def _stopped(mixture: Mixture) -> Mixture:
    """With a note that Ctrl-C ended the refinement."""
    told = dict(mixture.provenance)
    return replace(mixture, provenance=told | {"refined": told["refined"] | {"stopped": INTERRUPTED}})


def begin_refinement(
    mixture: Mixture, corpus: Any, unseen: Any, max_documents: int, seed: int, n_threads: int | None
) -> RefinementRun | None:
    """A refinement that is ready for its first pass; None if there is one topic only, the unigram."""
    max_documents, seed = whole_number("max_documents", max_documents, least=1), whole_number("seed", seed)
    thread_count(n_threads)
    table = _known(mixture, corpus, "the corpus")
    table = table[with_pairs(table)]
    if mixture.n_topics == 1:
        return None
    rng = np.random.default_rng(seed)
    share = min(max_documents / max(table.shape[0], 1), MOST_TOKENS / max(table.sum(), 1))
    if share < 1:
        n_documents = max(1, round(share * table.shape[0]))
        log.info(
            "passes over documents use a sample of %s of %s documents", f"{n_documents:,}", f"{table.shape[0]:,}"
        )
        table = table[np.sort(rng.choice(table.shape[0], n_documents, replace=False))]
    mind_the_memory(table, mixture.n_topics, max_documents)
    judges = None if unseen is None else _known(mixture, unseen, "the unseen text")
    forget = judges is None and table.shape[0] >= MIN_DOCUMENTS
    if forget:
        judges, table = (table[some] for some in held_out_split(table))
    run = RefinementRun(mixture, Visits(table, judges, Workers(n_threads), seed), seed)
    if forget:
        run.forget()
    return run


def mind_the_memory(table: sp.csr_array, n_topics: int, max_documents: int) -> None:
    """Refuse what does not fit: words in topics, the topic of every token, what judging a long document takes."""
    n_tokens = min(int(table.sum()) * min(1.0, max_documents / max(table.shape[0], 1)), MOST_TOKENS)
    longest = int(np.diff(table.indptr).max(initial=0)) * thread_count()
    needed = int(n_topics) * (BYTES_A_COUNT * table.shape[1] + BYTES_A_SHARE * longest) + BYTES_A_TOKEN * n_tokens
    if needed > available_bytes():
        raise MemoryError(
            f"passes over documents would need about {in_words(needed)} but {in_words(available_bytes())} are free: "
            "use fewer topics or words, fewer documents (max_documents), or pairs alone (fit_mixture, refine=False)"
        )


class RefinementRun:
    """A refinement in progress; `best` is what it has arrived at."""

    def __init__(self, mixture: Mixture, visits: Visits, seed: int = 0) -> None:
        self.before, self.visits, self.seed, self.begin = mixture, visits, seed, time.monotonic()
        self.judge = Judge(visits)
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
        self.best = self.judge.choose(self.best.tally, self.best.concentration)
        most = MOST_PASSES if passes == "auto" else int(passes)
        for done in range(1, most + 1):
            tally, concentration = self.best.tally, self.best.concentration
            there = self.judge.choose(self.visits.learn(tally, tally.prior(concentration)), concentration)
            stop = self._tell(callback, there, done, "passes", most)
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
        sweeps = Sweeps(self.judge, self.before, partial(self._tell_of_sweeps, callback))
        begin = sweeps.begin(passes, self.seed)
        try:
            best = sweeps.settled(sweeps.with_the_right_prior(begin))
        except KeyboardInterrupt:
            self.best = sweeps.best.choice
            raise
        if best.worth < begin.worth and best.choice.score < passes.score:
            return sweeps.stop
        self.best = best.choice
        self.best = sweeps.blended(best)
        return sweeps.stop or self._tell(callback, self.best, sweeps.done, "sampling", sweeps.in_all)

    @property
    def begun(self) -> bool:
        """Whether anything was chosen that is worth keeping."""
        return not np.isneginf(self.best.score)

    def correlations_teller(self, callback: Callable[[Refinement], Any] | None) -> Callable[[int, int], Any]:
        """Tells the callback about passes that fit alpha."""
        return lambda done, of: self._tell(callback, self.best, done, "correlations", of)

    def _tell_of_sweeps(
        self, callback: Callable[[Refinement], Any] | None, choice: Choice, done: int, of: int, judged: bool = True
    ) -> bool:
        return self._tell(callback, choice, done, "sampling", of, judged)

    def _tell(
        self,
        callback: Callable[[Refinement], Any] | None,
        choice: Choice,
        done: int,
        phase: str,
        of: int | None = None,
        judged: bool = True,
    ) -> bool:
        seconds = time.monotonic() - self.begin
        said = Refinement(done, choice.score, choice.concentration, choice.background, seconds, phase, of, judged)
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


def _known(mixture: Mixture, counts: Any, what: str) -> sp.csr_array:
    """Documents over the mixture's words; ValueError if none has two tokens, because one says nothing about others.

    Tokens that no topic has are left out by the visits.
    """
    if not isinstance(mixture, Mixture):
        raise TypeError(f"refine improves a Mixture, not {type(mixture).__name__}: use fit_mixture(...).mixture")
    corpus = counts if isinstance(counts, Corpus) else Corpus(counts)
    if corpus.n_tokens == 0:
        raise ValueError(
            f"{what} has no token: it is empty, or it was read with like= and holds no word that the mixture knows"
        )
    table, _ = aligned_counts(corpus, mixture.vocabulary, mixture.n_words)
    n_known = int(table.sum(axis=0)[mixture.topics.any(axis=0)].sum())
    if n_known == 0:
        raise ValueError(f"the mixture knows no word of {what}: give text like the text that it was fitted to")
    if not with_pairs(table).size:
        raise ValueError(f"no document of {what} has two tokens that the mixture knows")
    if sentence := little_known(n_known / corpus.n_tokens, what):
        log.warning(sentence)
    return table


def little_known(share: float, what: str = "the text") -> str | None:
    """A sentence of warning if a mixture knows only a small share of the tokens of a text; otherwise None."""
    if share >= WELL_KNOWN:
        return None
    return (
        f"The mixture knows only {share:.1%} of the tokens of {what}, so it learns nothing from the others: "
        "is this text like the text that it was fitted to?"
    )
