"""How much memory a fit by PyTorch takes on its device, and what would fit.

    pairs     4 bytes for each entry of the upper half of a panel, 8 for a pair of a table
    topics    5 tables of N x T float32: the topics before and after a step, the factors of the step, P alpha and H
    alpha     4 tables of T x T float64
    scratch   M and the ratios of one panel, or the gathered topic vectors of one table

Adam takes more: `adam_bytes`. docs/how-to/gpu.md has a table for common sizes. Tests compare the model with peaks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fdmix.engines.torch_pairs import BLOCK, Panel, Part, Sample
from fdmix.runtime.memory import available_bytes, in_words

FLOAT, DOUBLE = 4, 8  # bytes
TOPIC_TABLES = 5
ALPHA_TABLES = 4
SAMPLED_FLOATS = 5  # of a sampled pair: two of M, one ratio, and those of the pair and its mirror image
ADAM_TABLES = 8  # of N x T: mu', two running means, weights, the best and the present topics, and two of a pass
ALIAS_BYTES = 16  # of a pair: two chances to draw and two words
RESERVE = 0.9  # share of the free memory to plan with: the allocator leaves gaps


@dataclass(frozen=True)
class Size:
    """What the memory of a pass depends on.

    pairs : bytes of all parts; slot : of a buffer that any of them fits into
    longest_panel : columns of the largest panel
    n_listed : pairs in the largest part that is not a panel, and whether these are sampled
    streamed : whether the device has two such buffers in place of all parts
    """

    n_words: int
    n_topics: int
    pairs: int
    slot: int
    longest_panel: int
    n_listed: int = 0
    sampled: bool = False
    streamed: bool = False

    def bytes(self, width: int) -> int:
        """Of a pass over the pairs, at its peak.

        width : columns of a panel in one matrix product
        """
        n, t = self.n_words, self.n_topics
        pairs = 2 * self.slot if self.streamed else self.pairs
        columns = max(min(self.longest_panel, BLOCK), min(width, self.longest_panel - BLOCK))
        panel = 2 * FLOAT * min(BLOCK, self.longest_panel) * columns
        listed = FLOAT * self.n_listed * (SAMPLED_FLOATS if self.sampled else t + 2)
        return pairs + TOPIC_TABLES * FLOAT * n * t + ALPHA_TABLES * DOUBLE * t * t + max(panel, listed)


def part_bytes(part: Part) -> int:
    """Of one part of the pairs."""
    return sum(int(array.nbytes) for array in vars(part).values() if hasattr(array, "nbytes"))


def size_of(parts: Sequence[Part], n_words: int, n_topics: int, streamed: bool = False) -> Size:
    """The size of a pass over these parts."""
    room: dict[str, int] = {}  # most bytes of each array of a part
    for part in parts:
        for name, array in vars(part).items():
            room[name] = max(room.get(name, 0), int(getattr(array, "nbytes", 0)))
    listed = [part for part in parts if not isinstance(part, Panel)]
    return Size(
        n_words,
        n_topics,
        sum(part_bytes(part) for part in parts),
        sum(room.values()),
        max((part.last - part.begin for part in parts if isinstance(part, Panel)), default=0),
        max((part.values.size for part in listed), default=0),
        any(isinstance(part, Sample) for part in listed),
        streamed,
    )


def dense_size(n_words: int, n_topics: int, streamed: bool = False) -> Size:
    """The size of a pass if all pairs are in panels, which is about the most that they can take on a GPU."""
    panels = [FLOAT * min(BLOCK, n_words - begin) * (n_words - begin) for begin in range(0, n_words, BLOCK)]
    return Size(n_words, n_topics, sum(panels), max(panels, default=0), n_words, streamed=streamed)


def adam_bytes(size: Size, width: int, n_pairs: int, batch: int, scratch_tables: int = 1) -> int:
    """Of Algorithm 2, at its peak: a look at the likelihood of all pairs, beside parameters and pairs to draw.

    n_pairs : stored pairs, 0 if the gradient is exact; batch : pairs of a step
    scratch_tables : 1, or 0 if the update of the parameters is compiled
    """
    n, t = size.n_words, size.n_topics
    em = replace(size, n_topics=t).bytes(width) - FLOAT * TOPIC_TABLES * n * t  # pairs, alpha, scratch of a pass
    rows = 4 * batch + 1  # topic vectors of the words of a batch, and their gradient
    return em + FLOAT * t * ((ADAM_TABLES + scratch_tables) * n + rows + 4 * t) + ALIAS_BYTES * n_pairs


def free_bytes(torch: Any, device: Any) -> int:
    """Memory that is free on a device, and what PyTorch keeps of it for its next tensors, as after a fit before."""
    if device.type == "cuda":
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0] + kept)
    if device.type == "mps":
        return int(torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory())
    return available_bytes()


def most_topics(size: Size, width: int, free: int) -> int:
    """The largest number of topics whose pass fits into the free memory with streamed pairs, 0 if none does."""
    low, high = 0, max(1, math.isqrt(max(free, 1)))
    while low < high:
        middle = (low + high + 1) // 2
        fits = replace(size, n_topics=middle, streamed=True).bytes(width) <= free
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def adam_too_large(size: Size, needed: int, device: Any, free: int) -> str:
    """A sentence that says that Adam does not fit on a device, and what to do."""
    return (
        f"Adam over {size.n_words:,} words with {size.n_topics:,} topics needs about {in_words(needed)} on {device}, "
        f"{_found(needed, free)}: use fewer topics, fewer words (Moments.top), or solver='em'"
    )


def too_large(size: Size, width: int, device: Any, free: int) -> str:
    """A sentence that says what does not fit on a device, and what would."""
    needed, fitting = replace(size, streamed=True).bytes(width), most_topics(size, width, free)
    advice = f"about {fitting:,} topics would fit" if fitting else "not even one topic would fit"
    if needed <= free:
        advice = "other programs may have used it"
    elsewhere = "" if device.type == "cpu" else ", or engine='numba', which uses the memory of the computer"
    return (
        f"a pass over {size.n_words:,} words with {size.n_topics:,} topics needs about {in_words(needed)} on "
        f"{device}, even with its pairs streamed, {_found(needed, free)}; {advice}: use fewer topics or fewer words "
        f"(Moments.top){elsewhere}"
    )


def _found(needed: int, free: int) -> str:
    """How much memory there is; a device can run out of it although its free memory seems enough."""
    if needed <= free:
        return f"and ran out of memory, though {in_words(free)} are free now"
    return f"but {in_words(free)} can be used"
