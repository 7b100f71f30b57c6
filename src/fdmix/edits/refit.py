"""A few warm passes of EM after edits, with the constraints in force; topics keep their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.edits.constraints import Constraints
from fdmix.edits.workspace import Workspace, with_hidden_topic
from fdmix.mixture.mixture import Mixture
from fdmix.runtime.threads import one_blas_thread
from fdmix.solvers.em_settings import LIKELIHOOD, OVER_RELAXATION, SPARSE

Floats = np.ndarray[Any, np.dtype[np.float64]]
SHARP = 0.5  # share of non-zero topic entries below which a model counts as sharp; smooth topics have fewer zeros


@dataclass(frozen=True, eq=False)
class Refit:
    """Topics and alpha after the passes, and their likelihood."""

    topics: Floats
    alpha: Floats
    log_likelihood: float


def refit(
    workspace: Workspace, topics: Floats, alpha: Floats, constraints: Constraints, passes: int, shrinkage: float
) -> Refit:
    """EM from edited topics: over-relaxed steps and a plain one at the end, then a pass for the likelihood.

    topics : over the words that have pairs; constraints hold in them already
    shrinkage : subtracted from expected counts, for sharp models; 0 for smooth ones
    """
    n_topics, engine = len(topics), workspace.engine(len(topics))
    start = Mixture(*with_hidden_topic(topics, alpha, workspace.unigram))
    free = np.append(constraints.free, np.arange(n_topics, start.n_topics))
    with one_blas_thread:
        first = state = engine.place(start)
        for number in range(passes):
            power = 1.0 if number == passes - 1 else OVER_RELAXATION.first_power
            now = engine.expect(state, joint=number % LIKELIHOOD.alpha_every == 0)
            state = engine.maximise(state, now, shrinkage, power)
            if constraints.hold_each_step:
                moved = engine.topics_of(state, free)
                moved[: constraints.free.size] = constraints.hold(moved[: constraints.free.size])
                state = engine.assembled(first, state, free, moved)
        likelihood = engine.expect(state, joint=False).log_likelihood
        fitted = engine.mixture(state)
    found = fitted.topics[:n_topics].copy()
    if constraints.hold_each_step:
        found[constraints.free] = moved[: constraints.free.size]
        found[constraints.still] = topics[constraints.still]  # the same bits, not those of float32
    among = fitted.correlations[:n_topics, :n_topics]
    return Refit(found, among / among.sum(), likelihood)


def shrinkage_for(mixture: Mixture, n_tokens: int) -> float:
    """The shrinkage that keeps a sharp model sharp, and 0 for a smooth one."""
    n_used = int(mixture.topics.any(axis=0).sum())
    active = int(np.count_nonzero(mixture.topics)) / (mixture.n_topics * n_used)
    return SPARSE.shrinkage / max(n_tokens, 1) if active < SHARP else 0.0
