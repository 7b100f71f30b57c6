"""Models that live on: documents are added or removed, and topics are fitted to the moments that are left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fdmix.edits.changes import Changes
from fdmix.edits.editor import refitted, with_constraints
from fdmix.edits.log import Edit, EditLog
from fdmix.edits.plan import Plan
from fdmix.edits.storing import LOG
from fdmix.edits.words import Words
from fdmix.edits.workspace import Workspace
from fdmix.fit.fitting import fit_mixture
from fdmix.fit.solution import Solution
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.solvers.described import solver_of
from fdmix.solvers.em_settings import SPARSE

PASSES = 5  # of EM after documents were added or removed, as a fit makes them when it goes on to all documents


def update(
    mixture: Mixture,
    moments: Moments,
    *,
    passes: int = PASSES,
    engine: str = "auto",
    n_threads: int | None = None,
) -> tuple[Mixture, Changes]:
    """(the model after some passes on other moments, what changed): numbers, labels and constraints are kept.

    moments : of all documents from now on, such as `old + new`; words that are new to the model enter its topics
    """
    workspace = Workspace(moments, engine, n_threads)
    standing = constraints_of(mixture)
    words = workspace.aligned(mixture)
    plan = Plan.of(words, standing, (), Words(words, workspace.seen))
    found, changes = refitted(
        plan, workspace, passes, "follow", workspace.log_likelihood(plan.mixture), SPARSE.revived
    )
    story = {**mixture.provenance, "moments": workspace.moments.provenance()}
    story.pop(LOG, None)
    found = replace(found, provenance=story, n_tokens=float(max(workspace.moments.n_tokens, 1)))
    return (with_constraints(found, standing) if standing else found), changes


def fitted_anew(mixture: Mixture, moments: Moments, **settings: Any) -> Solution:
    """A fit from scratch with the solver, the seed and the number of topics of a model.

    It depends on the moments alone: after documents were subtracted, it has the bits of a fit that never saw them.

    settings : of `fit_mixture`: callback=, n_threads=
    """
    require_unedited(mixture)
    solver = solver_of(mixture.provenance)
    seed = mixture.provenance.get("seed")
    seed = seed if isinstance(seed, int) else 0
    return fit_mixture(moments, mixture.n_topics, solver=solver, seed=seed, **settings)


def require_unedited(mixture: Mixture) -> None:
    """Refuse a model with edits, which a fit from scratch cannot keep."""
    if LOG in mixture.provenance:
        raise ValueError(
            "the model was edited, and edits name topics by number, which a fit from scratch gives to other topics: "
            "refit it warm (--warm), or give the model before its edits and edit the result again"
        )


def constraints_of(mixture: Mixture) -> tuple[Edit, ...]:
    """The constraints that edits left in force."""
    return EditLog.from_facts(mixture.provenance[LOG]).standing if LOG in mixture.provenance else ()
