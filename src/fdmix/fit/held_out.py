"""The documents that a fit judges by: which moments to learn from, and which to hold out."""

from __future__ import annotations

from fdmix.moments.contract import PairMoments
from fdmix.moments.moments import Moments

FEWEST_JUDGES = 30  # documents to judge by; fewer cannot tell topics apart


def enough(judges: PairMoments) -> PairMoments | None:
    """The moments to judge by, or None if too few documents are in them."""
    n_documents = getattr(judges, "n_documents", FEWEST_JUDGES)  # weighted moments do not count documents
    return judges if n_documents >= FEWEST_JUDGES and judges.n_tokens > 0 else None


def held_apart(moments: PairMoments) -> tuple[PairMoments, PairMoments | None]:
    """(the moments to learn from first, those to judge by); all of them and None if there are too few to judge by."""
    if not isinstance(moments, Moments):
        return moments, None
    judges = moments.judges if moments.judges is None else enough(moments.judges)
    if judges is None:
        return moments, None
    rest = moments.without_judges()
    return (rest, judges) if rest.n_documents > moments.n_documents / 2 else (moments, None)
