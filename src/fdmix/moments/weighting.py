"""How much each document counts in Mhat, in whole numbers, so that sums are exact.

A document's weight depends on its length alone, so moments add up and documents can be removed.
docs/explanation/model.md, "Weights of documents", derives the default and has the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np

Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Weighting:
    """A rule for the weight of a document in Mhat.

    unit : the whole number that stands for weight 1. Its divisors have exact weights; others are rounded
    block : the largest weight, in all, of documents that are counted at once: their sums fit 64 bits
    by_tokens : whether a document of l tokens has weight l - 1, or weight 1
    """

    unit: int
    block: int
    by_tokens: bool

    def of(self, lengths: Integers) -> Integers:
        """The weight of documents with these numbers of tokens."""
        return np.maximum(lengths - 1, 0) if self.by_tokens else (lengths >= 2).astype(np.int64)

    def of_pairs(self, lengths: Integers) -> Integers:
        """`unit` times the weight of one ordered pair of tokens, rounded: 1 / l, or 1 / (l (l - 1))."""
        pairs = np.maximum(lengths if self.by_tokens else lengths * (lengths - 1), 1)
        return (self.unit + pairs // 2) // pairs


# "tokens": exact up to 24 tokens; for a longer document, off by a share of at most l / 2 unit, 2e-5 for the longest.
# "paper": exact up to 30 tokens, because l and l - 1 have no common divisor; 9e-3 for the longest.
WEIGHTINGS = {
    "tokens": Weighting(unit=lcm(*range(1, 25)), block=1_500_000_000, by_tokens=True),
    "paper": Weighting(unit=lcm(*range(1, 31)), block=3_000_000, by_tokens=False),
}
DEFAULT_WEIGHTING = "tokens"


def weighting_like(like: Any, weighting: str | None) -> str:
    """The weighting asked for; otherwise that of `like`, if it has one, so that the two can be added."""
    own = getattr(like, "weighting", None)
    if weighting is not None and own is not None and weighting != own:
        raise ValueError(f"with like= documents are weighted as they are there, by {own!r}, not by {weighting!r}")
    return known_weighting(weighting or own or DEFAULT_WEIGHTING)


def known_weighting(name: str) -> str:
    """The name, or a ValueError."""
    if name not in WEIGHTINGS:
        raise ValueError(
            f"there is no weighting {name!r}: it is 'tokens' (a document of l tokens counts l - 1 times) or 'paper' "
            "(every document counts once)"
        )
    return name
