"""In how many sliding windows of a text the top words of topics occur, alone and together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from fdmix.corpus.sequences import TokenSequences
from fdmix.corpus.vocabulary import positions
from fdmix.kernels.windows import count_windows

Floats = np.ndarray[Any, np.dtype[np.float64]]
DOCUMENTS_AT_A_TIME = 10_000  # of a stream of token lists; bounds the memory
WORDS_AT_A_TIME = 4_000  # distinct top words counted in one pass over the text; bounds the table of pairs to 128 MB


def window_counts(
    topics: Sequence[Sequence[str]], documents: Any, size: int, *, forget_repeats: bool
) -> tuple[list[Floats], list[Floats], float]:
    """(windows with each known word of a topic, windows with each pair of them, all windows).

    documents : a TokenSequences, or lists of tokens, of which a stream is read once
    """
    groups = list(_groups(topics))
    if len(groups) > 1 and isinstance(documents, Iterator):
        documents = TokenSequences.of(documents, tuple(dict.fromkeys(chain.from_iterable(topics))))
    single: list[Floats] = []
    joint: list[Floats] = []
    total = 0
    for group in groups:
        words = tuple(dict.fromkeys(chain.from_iterable(group)))
        counts, total = _pair_counts(words, documents, size, forget_repeats)
        number = {word: i for i, word in enumerate(words)}
        for topic in group:
            places = np.array([number[word] for word in topic], np.int64)
            places = places[np.diag(counts)[places] > 0]
            table = counts[np.ix_(places, places)].astype(np.float64)
            single.append(np.diag(table).copy())
            joint.append(table)
    return single, joint, float(total)


def _groups(topics: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """The topics in their order, in groups of at most WORDS_AT_A_TIME distinct words."""
    group: list[Sequence[str]] = []
    words: set[str] = set()
    for topic in topics:
        if group and len(words | set(topic)) > WORDS_AT_A_TIME:
            yield group
            group, words = [], set()
        group.append(topic)
        words |= set(topic)
    if group:
        yield group


def _pair_counts(words: tuple[str, ...], documents: Any, size: int, forget_repeats: bool) -> tuple[Any, int]:
    """(windows with both words of each pair, all windows); the diagonal has the windows with each word."""
    joint = np.zeros((len(words), len(words)), np.int64)
    total = 0
    for part in _parts(documents, words):
        total += count_windows(part.numbers, part.offsets, size, forget_repeats, joint)
    return joint + joint.T - np.diag(np.diag(joint)), total


def _parts(documents: Any, words: tuple[str, ...]) -> Iterator[TokenSequences]:
    """The documents with the numbers of these words, -1 for all others."""
    if isinstance(documents, TokenSequences):
        where = np.append(positions(documents.vocabulary, words), -1).astype(np.int32)
        yield TokenSequences(words, where[documents.numbers], documents.offsets)
        return
    stream = iter(documents)
    while some := list(islice(stream, DOCUMENTS_AT_A_TIME)):
        yield TokenSequences.of(some, words)
