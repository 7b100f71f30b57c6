"""Topics being fitted to documents: CVB0 passes, then Gibbs sampling, as far as held-out documents gain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.documents.cvb0 import cvb0_pass
from fdmix.documents.dirichlet import STRONGEST_PRIOR, WEAKEST_PRIOR
from fdmix.documents.heldout import Choice, HeldOutDocuments
from fdmix.documents.schedule import Sampling
from fdmix.documents.topic_counts import TopicCounts
from fdmix.documents.training import TrainingDocuments
from fdmix.fit.stopping import Stopping
from fdmix.mixture.assignment import matched_prior
from fdmix.mixture.mixture import Mixture
from fdmix.runtime.threads import Workers

Floats = np.ndarray[Any, np.dtype[np.float64]]
MAX_PASSES = 12  # CVB0 passes of passes="auto"; held-out documents ended them after one to six on all corpora
NO_MORE_GAIN = "held-out documents stopped improving"
BUDGET_RAN_OUT = "all sweeps of the sampling schedule were made"


@dataclass(frozen=True)
class Refinement:
    """What a callback is told of a fit to documents: after each pass, after steps of sampling, and once a second.

    passes : so far in this phase; in sampling, sweeps, also those with a prior that is then given up
    score : completion of held-out documents, the log-probability of a token
    phase : "passes", "sampling" or "correlations"
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


class DocumentFit:
    """A fit to documents in progress; `best` is the best choice so far.

    mixture : the topics it begins with
    heldout : documents to choose by, if there are any
    left_out : documents to learn from at the end: held-out ones and their copies, unless somebody else needs them
    reason : why it ended by itself, a sentence
    """

    def __init__(
        self,
        mixture: Mixture,
        training: TrainingDocuments,
        heldout_table: sp.csr_array | None,
        workers: Workers,
        seed: int,
        stopping: Stopping,
        left_out: sp.csr_array | None = None,
    ) -> None:
        self.left_out = left_out
        self.start, self.training, self.workers, self.seed, self.stopping = mixture, training, workers, seed, stopping
        self.reason = NO_MORE_GAIN
        self.heldout = None
        if heldout_table is not None:
            self.heldout = HeldOutDocuments(heldout_table, training.background, workers, seed)
        concentration = float(np.clip(matched_prior(mixture.correlations).sum(), WEAKEST_PRIOR, STRONGEST_PRIOR))
        counts = TopicCounts.of(mixture, training.n_tokens)
        self.best = Choice(counts, counts.prior(concentration))

    def forget_held_out(self) -> None:
        """Subtract what the topics expect of the held-out documents, if the topics were fitted to them, too."""
        assert self.heldout is not None
        counts, held_out = self.best.counts, self.heldout.table
        learned = cvb0_pass(counts, self.best.prior, held_out, self.workers)
        n_tokens = self.training.n_tokens
        grown = counts.counts * ((n_tokens + held_out.sum()) / max(n_tokens, 1.0))
        left = sp.csr_array(grown - learned.counts)
        if left.sum() > 0:
            self.best = replace(self.best, counts=TopicCounts.with_values(left, np.maximum(left.data, 0.0)))

    @property
    def learned_from(self) -> sp.csr_array:
        """All documents that the result was learned from."""
        some = self.training.table
        return some if self.left_out is None else sp.csr_array(sp.vstack([some, self.left_out], format="csr"))

    @property
    def has_result(self) -> bool:
        """Whether anything was chosen that is worth keeping."""
        return not np.isneginf(self.best.completion)

    def run_passes(self, passes: int | str = "auto") -> bool:
        """CVB0 passes; "auto" ends with the first one that does not improve completion, and keeps the one before.

        Whether somebody asked to stop.
        """
        self.best = self._choose(self.best.counts, self.best.prior)
        most = MAX_PASSES if passes == "auto" else int(passes)
        for done in range(1, most + 1):
            learned = cvb0_pass(self.best.counts, self.best.prior, self.training.table, self.workers)
            there = self._choose(learned, learned.prior(self.best.concentration))
            stop = self._tell(there, done, "passes", most)
            worse = there.completion <= self.best.completion
            if passes != "auto" or not worse:
                self.best = there
            if stop or (passes == "auto" and (worse or np.isnan(there.completion))):
                return stop
        return False

    def run_sampling(self) -> bool:
        """Gibbs sampling from where the passes ended, kept if it completes held-out documents better.

        Whether somebody asked to stop.
        """
        before = self.best
        if self.heldout is None:
            return False
        sampling = Sampling(before, self.start, self.training, self.heldout, self.seed, self._tell_of_sweeps)
        try:
            best = sampling.run()
            self.reason = BUDGET_RAN_OUT if sampling.budget_ran_out else NO_MORE_GAIN
        except KeyboardInterrupt:
            self.best = sampling.best.choice
            raise
        if best.choice is before:
            return sampling.stopped
        self.best = best.choice
        self.best = sampling.smoothed(best).choice
        return sampling.stopped or self._tell(self.best, sampling.done, "sampling", sampling.n_sweeps)

    def learn_from_left_out(self) -> None:
        """Add what the best topics expect of the documents that were left out to choose by; nothing is chosen anew.

        A word that only these documents have is shared out by its company, since the topics are smoothed for it.
        """
        if self.left_out is None or not self.left_out.nnz or np.isnan(self.best.completion):
            return
        counts, background = self.best.counts, self.best.background
        everywhere = np.outer(self.training.background, counts.totals)
        smooth = TopicCounts(sp.csr_array((1 - background) * counts.counts + background * everywhere))
        learned = cvb0_pass(smooth, self.best.prior, self.left_out, self.workers)
        self.best = replace(self.best, counts=TopicCounts(sp.csr_array(counts.counts + learned.counts)))

    def mixture(self) -> Mixture:
        """The best topics, smoothed with the background, and alpha of the start; a topic without a token stays."""
        background = self.best.background
        topics = self.best.counts.topics(where_empty=self.start.topics)
        topics = (1 - background) * topics + background * self.training.background
        known = None if np.isnan(self.best.completion) else self.best.prior
        return replace(
            self.start,
            topics=topics / topics.sum(axis=1, keepdims=True),
            prior=known,
            provenance=dict(self.start.provenance) | {"refined": {"background": background}},
        )

    def tell_of_correlations(self, done: int, of: int) -> Any:
        """Tell the callback of passes that fit alpha; it cannot stop them."""
        return self._tell(self.best, done, "correlations", of)

    def _choose(self, counts: TopicCounts, prior: Floats) -> Choice:
        if self.heldout is None:
            return Choice(counts, prior, completion=float("nan"))
        return self.heldout.choose(counts, prior)

    def _tell_of_sweeps(self, choice: Choice, done: int, of: int, scored: bool = True) -> bool:
        return self._tell(choice, done, "sampling", of, scored)

    def _tell(self, choice: Choice, done: int, phase: str, of: int | None = None, scored: bool = True) -> bool:
        chosen = choice.completion, choice.concentration, choice.background
        return self.stopping.asked(lambda: Refinement(done, *chosen, self.stopping.seconds, phase, of, scored))
