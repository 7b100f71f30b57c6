"""Scores and typical documents of a model on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from fdmix.corpus.splits import halves_by_content
from fdmix.distributed.engines import opened
from fdmix.distributed.partitions import Report
from fdmix.distributed.tokens import source_of_partition
from fdmix.metrics.likelihood import Score, completion_of_halves, holdout_log_likelihood
from fdmix.mixture.mixture import Mixture
from fdmix.report.representatives import Best, Representative, candidates, chosen
from fdmix.runtime.whole_numbers import whole_number
from fdmix.text.layouts import Layout
from fdmix.text.reading import read_corpus
from fdmix.text.sources import Files

FIXED_POINT = 1 << 40  # scores are added as whole multiples of 2^-40, so that sums do not depend on their order
SCORES = (
    "hold-out log-likelihood",
    "completion log-likelihood, most likely topics",
    "completion log-likelihood, Dirichlet prior",
)  # as `fdmix evaluate` calls them


def evaluate(
    documents: Any,
    model: Mixture,
    *,
    column: str | None = None,
    engine: str | None = None,
    cluster: str | None = None,
    report: Report | None = None,
) -> dict[str, float]:
    """Means over documents of the log-probability of a token, as in `fdmix evaluate`; the same for any partitions.

    Completion splits each document by a hash of its content, not by a seed, so it differs a little from that of one
    machine. Coherence needs moments: `metrics.coherence(model, count_moments(documents, like=model))`.

    documents, column, engine, cluster, report : as in `count_moments`
    """
    layout = documents.layouts[0] if isinstance(documents, Files) else Layout(column)
    work = ScorePartition(model, layout)
    with opened(documents, layout, engine=engine, cluster=cluster, report=report) as partitions:
        (total,) = partitions.summed(work, "evaluating") or work(None)
    n_documents, n_tokens, *sums = total.tolist()
    means = [sums[k] / FIXED_POINT / sums[k + 1] if sums[k + 1] else nan for k in range(0, len(sums), 2)]
    return {"documents": n_documents, "tokens": n_tokens} | dict(zip(SCORES, means, strict=True))


def representatives(
    documents: Any,
    model: Mixture,
    n: int = 20,
    *,
    column: str | None = None,
    engine: str | None = None,
    cluster: str | None = None,
    report: Report | None = None,
) -> list[list[Representative]]:
    """The n most typical documents of each topic, as `fdmix.representatives` finds them; numbers are in partitions.

    documents, column, engine, cluster, report : as in `count_moments`
    """
    layout = documents.layouts[0] if isinstance(documents, Files) else Layout(column)
    n = whole_number("n", n, least=1)
    work = TypicalDocuments(model, layout, n)
    with opened(documents, layout, engine=engine, cluster=cluster, report=report) as partitions:
        best = partitions.summed(work, "reading", model.n_topics) or work(None)
    return chosen(model, best, n)


@dataclass(frozen=True)
class ScorePartition:
    """Sums of scores: documents, tokens, and for each score its sum in fixed point and its number of documents."""

    model: Mixture
    layout: Layout

    def __call__(self, content: Any) -> list[Any]:
        """The sums of one partition, as Python integers, which cannot overflow."""
        corpus = read_corpus(source_of_partition(content, self.layout), like=self.model, n_threads=1)
        given, held = halves_by_content(corpus.counts)
        scores: list[Callable[[], Score]] = [
            lambda: holdout_log_likelihood(self.model, corpus),
            lambda: completion_of_halves(self.model, given, held),
            lambda: completion_of_halves(self.model, given, held, "dirichlet"),
        ]
        values: list[int] = []
        for score, scored in zip(scores, (corpus.counts, held, held), strict=True):
            found = score().values if scored.nnz else np.empty(0)  # no document may have a token, or two
            values += [sum(np.rint(found * FIXED_POINT).astype(np.int64).tolist()), found.size]
        return [np.array([corpus.n_documents, corpus.n_tokens, *values], object)]


@dataclass(frozen=True)
class TypicalDocuments:
    """The candidates of one partition for each topic."""

    model: Mixture
    layout: Layout
    n: int

    def __call__(self, content: Any) -> list[Best]:
        """For each topic, the documents of the partition that may be among the most typical ones."""
        return candidates(self.model, source_of_partition(content, self.layout), self.n, n_threads=1)
