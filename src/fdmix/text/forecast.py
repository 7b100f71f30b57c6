"""Estimate what counting files will take, from a sample: documents, words, pairs, memory and time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fdmix.corpus.preparation import Cleaning
from fdmix.moments.pair_rows import BYTES_PER_PAIR
from fdmix.runtime.memory import in_words
from fdmix.text.batches import Batch
from fdmix.text.reading import moments_of_batches
from fdmix.text.recipe import cleaning_and_recipe
from fdmix.text.sources import Files, Source
from fdmix.text.token_store import TokenStore
from fdmix.text.tokenising import Report
from fdmix.text.vocabulary_choice import chosen_recipe

SAMPLE_BYTES = 64_000_000  # read in seconds
COPIES_OF_SUMS = 3  # adding two sums of pairs holds both of them and the result
FIXED_BYTES = 600_000_000  # the program itself, and the tokens and counts of the current chunk
COPIES_ON_DISK = 3  # of the file, if pairs go to the disk: runs, which share pairs, and their sum
BYTES_PER_TOKEN = 5  # numbers of tokens, kept until the vocabulary is known; some are not counted in the end
BYTES_PER_WORD = 100  # of the file of moments: the word itself and its counts


@dataclass(frozen=True)
class Forecast:
    """What a count will take. All numbers are estimates unless the sample is the whole text.

    file_bytes, memory_bytes : the size of the file of moments, and the memory needed to count it
    disk_bytes : temporary files, while it is counted
    share : the share of the text, in bytes, that the sample has
    """

    documents: int
    words: int
    pairs: int
    file_bytes: int
    memory_bytes: int
    seconds: float
    share: float
    disk_bytes: int

    def __str__(self) -> str:
        exact = "" if self.share < 1 else " (all of it was read: these numbers are exact)"
        return (
            f"about {self.documents:,} documents, {self.words:,} words and {self.pairs:,} word pairs{exact}; "
            f"a file of {in_words(self.file_bytes)}, {in_words(self.memory_bytes)} of memory, "
            f"{in_words(self.disk_bytes)} of temporary files, {self.seconds:,.0f} seconds; "
            f"from {self.share:.0%} of the text"
        )


def forecast(
    files: Files,
    cleaning: Cleaning,
    like: Any = None,
    *,
    n_threads: int | None = None,
    report: Report | None = None,
    sample_bytes: int = SAMPLE_BYTES,
    memory: float | None = None,
) -> Forecast:
    """Count a sample, the beginning of the files, and extrapolate to the whole text.

    Documents and seconds grow in proportion to the bytes. Words and pairs grow as a power of the bytes. Half of the
    sample is counted by itself, too, which gives the exponent.

    memory : the limit of the count in bytes, if it has one; the sample is counted within it, too
    """
    how = n_threads, report, memory
    half = _count(files, cleaning, like, sample_bytes // 2, *how)
    begin = time.perf_counter()  # not before: the first count also compiles
    whole = _count(files, cleaning, like, sample_bytes, *how)
    seconds = time.perf_counter() - begin
    if whole.n_pairs == 0:
        raise ValueError("no document of the sample has two or more words: there is nothing to extrapolate from")
    total = files.size or whole.consumed
    times = 1.0 if whole.is_all else max(1.0, total / max(whole.consumed, 1))
    words = _extrapolated(half.n_words, whole.n_words, times)
    if like is None and cleaning.max_words is not None and not cleaning.open_vocabulary:
        words = min(words, cleaning.max_words)
    pairs = min(_extrapolated(half.n_pairs, whole.n_pairs, times), words * (words + 1) // 2)
    file_bytes = BYTES_PER_PAIR * pairs + BYTES_PER_WORD * words
    in_memory = FIXED_BYTES + COPIES_OF_SUMS * file_bytes
    spills = memory is not None and in_memory > memory
    return Forecast(
        documents=round(whole.n_documents * times),
        words=words,
        pairs=pairs,
        file_bytes=file_bytes,
        memory_bytes=round(in_memory if memory is None else min(memory, in_memory)),
        seconds=seconds * times,
        share=1 / times,
        disk_bytes=round(BYTES_PER_TOKEN * whole.n_tokens * times) + (COPIES_ON_DISK * file_bytes if spills else 0),
    )


def _extrapolated(half: int, whole: int, times: float) -> int:
    """whole x times^b, with the exponent b = log2(whole / half) between 0 (saturated) and 1 (linear)."""
    power = min(1.0, math.log2(whole / half)) if 0 < half < whole else 0.0
    return round(whole * times**power)


@dataclass(frozen=True)
class _Sample:
    """What a sample has: the bytes that were read of it, whether that was everything, and its numbers."""

    consumed: int
    is_all: bool
    n_documents: int
    n_tokens: int
    n_words: int
    n_pairs: int


def _count(
    files: Files, cleaning: Cleaning, like: Any, max_bytes: int, n_threads: int | None, report: Report | None,
    memory: float | None,
) -> _Sample:  # fmt: skip
    """The numbers of the first `max_bytes` or so; the moments themselves may fill the memory and are not kept."""
    beginning = _Beginning(files, max_bytes)
    used, recipe = cleaning_and_recipe(like, cleaning if like is None else None)
    store = TokenStore.in_memory(used)
    store.fill(beginning, n_threads, report)
    found = moments_of_batches(store, recipe or chosen_recipe(store), memory=memory, n_threads=n_threads)
    numbers = found.n_documents, found.n_tokens, found.n_words, found.n_pairs
    return _Sample(beginning.consumed, beginning.exhausted, *numbers)


class _Beginning(Source):
    """The first documents of some files, about `max_bytes` in all."""

    def __init__(self, files: Files, max_bytes: int) -> None:
        self.files, self.size, self.consumed, self.exhausted = files, max_bytes, 0, False

    def batches(self) -> Iterator[Batch]:
        """At least one batch, unless the files are empty."""
        for batch in self.files.batches():
            self.consumed = batch.consumed
            yield batch
            if batch.consumed >= (self.size or 0):
                return
        self.exhausted = True
