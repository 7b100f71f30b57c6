"""Moments that are kept of parts of the documents: the folds, and the documents that a fit judges by."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdmix.moments.moments import Moments


def of(moments: Moments) -> tuple[Moments, ...]:
    """All parts: the folds, then the part held out."""
    return moments.folds if moments.held_out is None else (*moments.folds, moments.held_out)


def each(moments: Moments, change: Callable[[Moments], Moments]) -> dict[str, Any]:
    """The fields `folds` and `held_out` after the same change of every part."""
    held_out = None if moments.held_out is None else change(moments.held_out)
    return {"folds": tuple(change(fold) for fold in moments.folds), "held_out": held_out}


def check(moments: Moments) -> None:
    """Refuse parts that cannot be parts of these moments."""
    for part in of(moments):
        if part.n_words != moments.n_words or part.vocabulary != moments.vocabulary or of(part):
            raise ValueError("the folds must have the words of the whole, and no folds of their own")
        if part.weighting != moments.weighting:
            raise ValueError("the folds must weigh documents as the whole does")
    if moments.folds and sum(fold.n_documents for fold in moments.folds) != moments.n_documents:
        raise ValueError("the folds' documents must add up to the whole")


def without_judges(moments: Moments) -> Moments:
    """The moments of all documents but those that a fit judges by."""
    judges = moments.judges
    return moments if judges is None else replace(moments, folds=(), held_out=None) - judges


def without_fold(moments: Moments, fold: int) -> Moments:
    """The moments of all documents outside one fold."""
    folds = moments.folds
    if not folds:
        raise ValueError("these moments keep no folds: count with Moments.of(..., folds=10)")
    if not 0 <= fold < len(folds):
        raise ValueError(f"there are folds 0 to {len(folds) - 1}, but no fold {fold}")
    rest = reduce(operator.add, [part for k, part in enumerate(folds) if k != fold])
    return rest.prepared(moments.preparation)  # its forms are those of all folds: they only choose what is shown
