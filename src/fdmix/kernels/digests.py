"""128-bit digests of sets of documents: two sums, modulo 2^64, of hashes. Digests of disjoint sets can be added."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit

FIRST_START, SECOND_START = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
FIRST_PRIME, SECOND_PRIME = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
WORD = 8  # bytes that are hashed at a time


@njit
def mixed(h):
    """The finaliser of splitmix64: every input bit influences every output bit."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@njit
def add_texts(data, offsets, total):
    """total += the hash of each text data[offsets[d] : offsets[d + 1]], read as little-endian words of 8 bytes."""
    for d in range(offsets.size - 1):
        i, end = offsets[d], offsets[d + 1]
        a = FIRST_START ^ np.uint64(end - i)
        b = SECOND_START ^ np.uint64(end - i)
        while i < end:
            word = np.uint64(0)
            for k in range(min(WORD, end - i)):
                word |= np.uint64(data[i + k]) << np.uint64(8 * k)
            a = (a ^ word) * FIRST_PRIME
            b = (b ^ word) * SECOND_PRIME
            a ^= a >> np.uint64(32)
            b ^= b >> np.uint64(29)
            i += WORD
        total[0] += mixed(a)
        total[1] += mixed(b)


@njit
def add_counts(begin, end, indptr, indices, counts, copies, words, total):
    """total += copies_d times the two hashes of document d, mixes of sum_u c_d(u) words[u, 0] and ... words[u, 1]."""
    for d in range(begin, end):
        if copies[d] == 0:
            continue
        a, b = FIRST_START, SECOND_START
        for place in range(indptr[d], indptr[d + 1]):
            n = np.uint64(counts[place])
            a += n * words[indices[place], 0]
            b += n * words[indices[place], 1]
        total[0] += np.uint64(copies[d]) * mixed(a)
        total[1] += np.uint64(copies[d]) * mixed(b)
