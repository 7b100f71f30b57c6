"""Splits of documents: those held out to choose by, and the two halves of a document."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.content_hashes import content_hashes, copy_hashes, numbered_hashes

HELD_OUT_SHARE = 0.05  # of the documents; enough to tell scores apart, and little is lost to learn from
MAX_HELD_OUT = 4_000  # documents; scoring more takes time and settles nothing
MIN_DOCUMENTS = 40  # with fewer, a tenth of them cannot choose anything
MIN_TRAINING_SHARE = 0.8  # of the other documents; where copies are more, they are learned from all the same


def with_pairs(table: sp.csr_array) -> Any:
    """Positions of the documents with two or more tokens: one token has no pair, and cannot be halved."""
    return np.flatnonzero(np.asarray(table.sum(axis=1)).ravel() >= 2)


def held_out_split(table: sp.csr_array) -> tuple[Any, Any]:
    """(positions of the held-out documents, positions of those to learn from), chosen by hashes of the contents.

    The same documents are held out in any order, with any seed, with or without names of words. The seed plays no
    part, because other documents to learn from change the topics more than another start or other draws. Copies of
    held-out documents are not learned from, because held-out documents must be unseen. Where documents repeat so much
    that too few others would be left, as with documents of two words, copies are learned from.
    """
    n_documents = table.shape[0]
    n_held_out = min(MAX_HELD_OUT, max(MIN_DOCUMENTS // 4, round(HELD_OUT_SHARE * n_documents)))
    contents = content_hashes(table)
    held_out, rest = np.split(np.argsort(copy_hashes(contents), kind="stable"), [n_held_out])
    unlike = rest[~np.isin(contents[rest], contents[held_out])]
    return np.sort(held_out), np.sort(unlike if unlike.size >= MIN_TRAINING_SHARE * rest.size else rest)


def halves(counts: sp.csr_array, seed: int = 0) -> tuple[sp.csr_array, sp.csr_array]:
    """Put each token of a document into one of two halves, at random; an odd token goes to the first."""
    rng = np.random.default_rng(seed)
    return _halved(counts, rng.random(int(counts.sum())))


def halves_by_content(counts: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """The same by hashes of the documents' contents: a document is halved alike whatever documents are beside it."""
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    position = (np.arange(int(lengths.sum())) - first).astype(np.uint64)
    return _halved(counts, numbered_hashes(np.repeat(content_hashes(counts), lengths), position))


def _halved(counts: sp.csr_array, keys: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """The tokens with the smaller keys of each document, and the others."""
    tokens = np.repeat(counts.indices, counts.data)
    document = np.repeat(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), counts.data)
    order = np.lexsort((keys, document))
    lengths = np.bincount(document, minlength=counts.shape[0])
    rank = np.arange(tokens.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    first = rank < (lengths[document[order]] + 1) // 2

    def table(chosen: Any) -> sp.csr_array:
        ones = np.ones(chosen.size, np.int32)
        result = sp.coo_array((ones, (document[chosen], tokens[chosen])), shape=counts.shape).tocsr()
        result.sum_duplicates()
        return sp.csr_array(result)

    return table(order[first]), table(order[~first])
