"""Hashes of documents by their words and counts: the same in every shard, order and process."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.vocabulary import Vocabulary
from fdmix.corpus.word_hashes import Hashes, word_hashes

COPY_STEP = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no two copies of a document get the same hash


def content_hashes(counts: sp.csr_array, vocabulary: Vocabulary | None = None) -> Hashes:
    """For each document mix(sum_u c_d(u) hash(word u)): it does not depend on the order of words or of documents.

    Without a vocabulary, words are known by their position.
    """
    words = _position_hashes(counts.shape[1]) if vocabulary is None else word_hashes(vocabulary).ravel()
    with np.errstate(over="ignore"):
        contributions = counts.data.astype(np.uint64) * words[counts.indices]
        running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(contributions, dtype=np.uint64)])
        return _mixed(np.diff(running[counts.indptr]))


def in_order_of_content(counts: sp.csr_array) -> sp.csr_array:
    """The documents in an order that depends on their contents only: the same however they arrived."""
    return sp.csr_array(counts[np.argsort(content_hashes(counts), kind="stable")])


def copy_hashes(contents: Hashes) -> Hashes:
    """A hash for every document, from its content and how many copies come before it: copies get different ones.

    Copies are all alike, so the same contents get the same hashes in any order of the documents.
    """
    order = np.argsort(contents, kind="stable")
    inside = np.concatenate([[False], contents[order][1:] == contents[order][:-1]])  # a copy of the one before
    position = np.arange(contents.size, dtype=np.uint64)
    first = np.maximum.accumulate(np.where(inside, np.uint64(0), position))
    hashes = np.empty_like(contents)
    with np.errstate(over="ignore"):
        hashes[order] = _mixed(contents[order] + (position - first + np.uint64(1)) * COPY_STEP)
    return hashes


def numbered_hashes(hashes: Hashes, numbers: Hashes) -> Hashes:
    """A hash for each pair of a hash and a number, such as a document's and a position in it."""
    with np.errstate(over="ignore"):
        return _mixed(hashes + (numbers + np.uint64(1)) * COPY_STEP)


def _position_hashes(n_words: int) -> Hashes:
    return _mixed(np.arange(1, n_words + 1, dtype=np.uint64))


def _mixed(numbers: Hashes) -> Hashes:
    """The finaliser of splitmix64: every input bit moves every output bit."""
    with np.errstate(over="ignore"):
        numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return numbers ^ (numbers >> np.uint64(31))
