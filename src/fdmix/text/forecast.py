"""What counting files will take, from a sample of them: documents, words, pairs, memory and time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fdmix.corpus.preparation import Cleaning
from fdmix.moments.moments import Moments
from fdmix.moments.pair_sums import BYTES_PER_PAIR
from fdmix.runtime.memory import in_words
from fdmix.text.batches import Batch
from fdmix.text.reading import Report, counted, treatment
from fdmix.text.recipe import chosen_recipe
from fdmix.text.sources import Files, Source
from fdmix.text.token_store import Spool

SAMPLE_BYTES = 64_000_000
COPIES_OF_SUMS = 3  # while two sums of pairs are added: both of them and the result
FIXED_BYTES = 600_000_000  # the program itself, tokens and counts that are worked on


@dataclass(frozen=True)
class Forecast:
    """What a count will take; all numbers are estimates unless the sample is the whole.

    share : of the files' bytes that were read for it
    """

    documents: int
    words: int
    pairs: int
    file_bytes: int
    memory_bytes: int
    seconds: float
    share: float

    def __str__(self) -> str:
        exact = "" if self.share < 1 else " (all of it was read: these numbers are exact)"
        return (
            f"about {self.documents:,} documents, {self.words:,} words and {self.pairs:,} word pairs{exact}; "
            f"a file of {in_words(self.file_bytes)}, {in_words(self.memory_bytes)} of memory, "
            f"{self.seconds:,.0f} seconds; from {self.share:.0%} of the text"
        )


def forecast(
    files: Files,
    cleaning: Cleaning,
    like: Any = None,
    *,
    n_threads: int | None = None,
    report: Report | None = None,
    sample_bytes: int = SAMPLE_BYTES,
) -> Forecast:
    """Count the beginning of the files, once half of it and once all, and extrapolate.

    Documents and seconds grow with the bytes. Words and pairs grow as a power of them, which the two counts tell.
    """
    half, _, _ = _count(files, cleaning, like, sample_bytes // 2, n_threads, report)  # compiles, too
    begin = time.perf_counter()
    whole, consumed, ended = _count(files, cleaning, like, sample_bytes, n_threads, report)
    seconds = time.perf_counter() - begin
    if whole.n_pairs == 0:
        raise ValueError("no document of the sample has two or more words: there is nothing to extrapolate from")
    total = files.size or consumed
    times = 1.0 if ended else max(1.0, total / max(consumed, 1))
    words = _extrapolated(half.n_words, whole.n_words, times)
    if like is None and cleaning.max_words is not None:
        words = min(words, cleaning.max_words)
    pairs = min(_extrapolated(half.n_pairs, whole.n_pairs, times), words * (words + 1) // 2)
    file_bytes = BYTES_PER_PAIR * pairs + 100 * words
    return Forecast(
        documents=round(whole.n_documents * times),
        words=words,
        pairs=pairs,
        file_bytes=file_bytes,
        memory_bytes=FIXED_BYTES + COPIES_OF_SUMS * file_bytes,
        seconds=seconds * times,
        share=1 / times,
    )


def _extrapolated(half: int, whole: int, times: float) -> int:
    """whole times^b, where the sample's two halves tell b: from 0 (saturated) to 1 (linear)."""
    power = min(1.0, math.log2(whole / half)) if 0 < half < whole else 0.0
    return round(whole * times**power)


def _count(
    files: Files, cleaning: Cleaning, like: Any, most_bytes: int, n_threads: int | None, report: Report | None
) -> tuple[Moments, int, bool]:
    """(moments of the beginning, bytes that were read, whether that was everything)."""
    beginning = _Beginning(files, most_bytes)
    used, recipe = treatment(like, cleaning if like is None else None)
    spool = Spool.in_memory(used)
    spool.fill(beginning, n_threads, report)
    moments = counted(spool, recipe or chosen_recipe(spool), 0, n_threads)
    return moments, beginning.consumed, beginning.ended


class _Beginning(Source):
    """The first documents of some files, of about this many bytes."""

    def __init__(self, files: Files, most_bytes: int) -> None:
        self.files, self.size, self.consumed, self.ended = files, most_bytes, 0, False

    def batches(self) -> Iterator[Batch]:
        """At least one batch, if there is any."""
        for batch in self.files.batches():
            self.consumed = batch.consumed
            yield batch
            if batch.consumed >= (self.size or 0):
                return
        self.ended = True
