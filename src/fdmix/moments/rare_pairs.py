"""Leave out the rarest pairs of moments, on request: a smaller file and faster fits, for some of the pairs' weight.

What each word loses is reported, because words that only occur in rare pairs lose most.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fdmix.moments import parts
from fdmix.moments.pair_sums import LARGEST_SUM, PairSums
from fdmix.moments.word_edits import fingerprint

if TYPE_CHECKING:
    from fdmix.moments.moments import Moments

BINS = 1 << 16  # of a histogram of sums; four rounds find any 64-bit number


class WithoutRarePairs(NamedTuple):
    """Moments without their rarest pairs.

    lost : for each word, the share of the weight of its pairs that is gone; NaN for words without pairs
    n_dropped : pairs that are gone; share : of the weight of all pairs
    """

    moments: Moments
    lost: np.ndarray[Any, np.dtype[np.float64]]
    n_dropped: int
    share: float


def without_rare_pairs(moments: Moments, share: float) -> WithoutRarePairs:
    """Leave out all pairs below some weight, as many as have at most `share` of the weight of all pairs together."""
    if not 0 <= share < 1:
        raise ValueError(f"the share of the pairs' weight to leave out is from 0 to below 1, not {share}")
    whole = moments.pairs
    least = _least_weight(whole, share * whole.total())
    kept = whole.kept_where(whole, least)
    before, after = whole.row_sums(), kept.row_sums()
    with np.errstate(invalid="ignore"):
        lost = 1 - after / before
    edits = (
        fingerprint(moments.edits, "drop pairs", int(least)) if kept.n_entries < whole.n_entries else moments.edits
    )
    result = replace(
        moments,
        pairs=kept,
        edits=edits,
        **parts.each(moments, lambda part: replace(part, pairs=part.pairs.kept_where(whole, least), edits=edits)),
    )
    gone = 1 - after.sum() / before.sum() if whole.n_entries else 0.0
    return WithoutRarePairs(result, lost, whole.n_entries - kept.n_entries, float(gone))


def _least_weight(pairs: PairSums, most: float) -> int:
    """The largest number such that the sums below it have at most the weight `most` together."""
    low, width, below = 0, LARGEST_SUM + 1, 0.0
    while width > 1:
        step = max(1, width // BINS)
        weights = np.zeros(-(-width // step))
        pairs.add_weights(low, step, weights)
        reached = below + np.cumsum(weights)
        bin_ = int(np.searchsorted(reached, most, side="right"))
        if bin_ == weights.size:
            return low + width
        below = float(reached[bin_ - 1]) if bin_ else below
        low, width = low + bin_ * step, step
    return low
