"""Hashes of words by their spelling: the same in every vocabulary, process and version."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from fdmix.corpus.vocabulary import Vocabulary

Hashes = np.ndarray[Any, np.dtype[np.uint64]]


@lru_cache(maxsize=8)
def word_hashes(vocabulary: Vocabulary, n_hashes: int = 1) -> Hashes:
    """(words, n_hashes): all hashes of a word lie side by side, so that one look-up finds them."""
    digests = b"".join(blake2b(word.encode(), digest_size=8 * n_hashes).digest() for word in vocabulary)
    return np.frombuffer(digests, "<u8").astype(np.uint64).reshape(-1, n_hashes)
