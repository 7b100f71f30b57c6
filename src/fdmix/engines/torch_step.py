"""The EM step on the topics by PyTorch: P <- [P factors - shrinkage]+, over-relaxed and normalised.

A CPU works on a few rows at a time, which stay in its cache; a GPU on most of them. Nothing waits for the device. The
bits do not depend on the number of threads, because totals are added up piece after piece.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fdmix.engines.contract import LARGEST_FACTOR

SMALLEST = 1e-20  # smaller topic entries become exact zeros
TINY = 1e-30  # in place of a zero in a denominator


class TopicStep:
    """One step from P, with rows in pieces.

    wide : the type in which topics are added up, float64 where the device has it
    in_threads : applies a function to each piece
    """

    def __init__(
        self, torch: Any, P: Any, factors: Any, rows_at_a_time: int, wide: Any, in_threads: Callable[[Any, Any], Any]
    ) -> None:
        self.torch, self.wide, self.in_threads = torch, wide, in_threads
        self.new = torch.empty_like(P)
        self.pieces = [  # of P, of the factors, and of the result
            [table.narrow(0, begin, min(rows_at_a_time, len(P) - begin)) for table in (P, factors, self.new)]
            for begin in range(0, len(P), rows_at_a_time)
        ]

    def taken(self, shrinkage: float, power: float) -> Any:
        """The topics after the step."""
        torch = self.torch
        lost = None
        totals = self._totals(lambda piece: self._shrunk(piece, shrinkage))
        total = totals.select(0, 0)
        if shrinkage:
            lost = total == 0  # topics that would lose all their words are not shrunk
            total = torch.where(lost, totals.select(0, 1), total)
        scale = _inverse(torch, total)
        if shrinkage or power != 1:
            first = scale
            total = self._totals(lambda piece: self._relaxed(piece, first, lost, power))
            scale = _inverse(torch, total)
        self.in_threads(lambda piece: torch.threshold_(piece[2].mul_(scale), SMALLEST, 0), self.pieces)
        return self.new

    def _shrunk(self, piece: Any, shrinkage: float) -> Any:
        """[P factors - shrinkage]+; its totals and, if there is shrinkage, those without it."""
        old, factor, out = piece
        self.torch.mul(old, factor, out=out)
        if not shrinkage:
            return out.sum(dim=0, dtype=self.wide).unsqueeze(0)
        unshrunk = out.sum(dim=0, dtype=self.wide)
        most, best = out.max(dim=1, keepdim=True)
        out.sub_(shrinkage).clamp_min_(0)
        # A word whose counts would all become zero keeps its largest one.
        out.scatter_(1, best, self.torch.where(most > shrinkage, most - shrinkage, most))
        return self.torch.stack([out.sum(dim=0, dtype=self.wide), unshrunk])

    def _relaxed(self, piece: Any, scale: Any, lost: Any, power: float) -> Any:
        """new (new / P)^(power - 1), where new is the normalised piece; zeros stay zeros. Its totals."""
        old, factor, out = piece
        if lost is not None:
            self.torch.where(lost, old * factor, out, out=out)
        out.mul_(scale)
        if power != 1:
            out.mul_((out / old.clamp_min(TINY)).clamp_max_(LARGEST_FACTOR).pow_(power - 1))
        return out.sum(dim=0, dtype=self.wide)

    def _totals(self, work: Callable[[Any], Any]) -> Any:
        return self.torch.stack(self.in_threads(work, self.pieces)).sum(dim=0)


def _inverse(torch: Any, total: Any) -> Any:
    """1 / total in float32, and 0 where a total is 0."""
    return torch.where(total > 0, 1 / total, 0).to(torch.float32)
