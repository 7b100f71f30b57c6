"""What was counted: the fingerprint of every source, and a digest of all documents. Both add and subtract.

A digest is a sum over documents. So it does not depend on their order, on shards or on threads, and taking documents
out again gives the digest of a count that never saw them. It finds mistakes, not forgeries: it is not cryptographic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.vocabulary import Vocabulary
from fdmix.corpus.word_hashes import word_hashes
from fdmix.kernels.digests import add_counts, add_texts
from fdmix.runtime.threads import in_threads, thread_count
from fdmix.storage.facts import mapping, stated_number
from fdmix.storage.places import place_of

MODULUS = 1 << 64


@dataclass(frozen=True)
class Digest:
    """Two sums of 64 bits over documents.

    >>> str(Digest(1, 2) + Digest(1, 0))
    '00000000000000020000000000000002'
    """

    first: int = 0
    second: int = 0

    def __add__(self, other: Digest) -> Digest:
        return Digest((self.first + other.first) % MODULUS, (self.second + other.second) % MODULUS)

    def __sub__(self, other: Digest) -> Digest:
        return Digest((self.first - other.first) % MODULUS, (self.second - other.second) % MODULUS)

    def __str__(self) -> str:
        return f"{self.first:016x}{self.second:016x}"

    @classmethod
    def from_text(cls, text: Any) -> Digest:
        """What `str` gave."""
        if not isinstance(text, str) or len(text) != 32 or not set(text) <= set("0123456789abcdef"):
            raise ValueError(f"a digest is 32 hexadecimal digits, not {text!r}")
        return cls(int(text[:16], 16), int(text[16:], 16))

    @classmethod
    def of_texts(cls, data: Any, offsets: Any) -> Digest:
        """Of the texts data[offsets[d] : offsets[d + 1]], as bytes."""
        return cls._summed(add_texts, data, offsets)

    @classmethod
    def of_counts(
        cls, counts: sp.csr_array, copies: Any, vocabulary: Vocabulary | None, n_threads: int | None = None
    ) -> Digest:
        """Of documents as words and counts, in any order of the words; document d counts copies[d] times."""
        words = word_hashes(_positions_as_words(counts.shape[1]) if vocabulary is None else vocabulary, n_hashes=2)
        edges = np.linspace(0, counts.shape[0], thread_count(n_threads) + 1).astype(int).tolist()

        def part(documents: tuple[int, int]) -> Digest:
            return cls._summed(add_counts, *documents, counts.indptr, counts.indices, counts.data, copies, words)

        return sum(in_threads(part, pairwise(edges), n_threads), cls())

    @classmethod
    def _summed(cls, kernel: Any, *arguments: Any) -> Digest:
        total = np.zeros(2, np.uint64)
        kernel(*arguments, total)
        return cls(int(total[0]), int(total[1]))


@dataclass(frozen=True)
class Source:
    """A file or another source of text: its name, its documents, and how often it was added minus removed."""

    name: str
    documents: int
    times: int = 1


@dataclass(frozen=True)
class Ledger:
    """What moments were made of.

    digest : of the counted documents, by their words and counts; None where it is not known (words were joined or
        dropped on one side of a sum only)
    sources : what was read, by the fingerprint of its text; empty for documents that were given as counts
    """

    digest: Digest | None = None
    sources: Mapping[str, Source] = field(default_factory=dict)

    def joined(self, other: Ledger, sign: int = 1) -> Ledger:
        """The ledger of both together, or with sign = -1 of what is left."""
        digest = None
        if self.digest is not None and other.digest is not None:
            digest = self.digest + other.digest if sign > 0 else self.digest - other.digest
        sources = dict(self.sources)
        for fingerprint, theirs in other.sources.items():
            mine = sources.get(fingerprint)
            name = theirs.name if mine is None else min(mine.name, theirs.name)  # the same in any order
            times = (0 if mine is None else mine.times) + sign * theirs.times
            sources[fingerprint] = replace(theirs, name=name, times=times)
        return Ledger(digest, {key: source for key, source in sources.items() if source.times})

    def counted_twice(self) -> list[Source]:
        """The sources that were added more than once."""
        return [source for source in self.sources.values() if source.times > 1]

    def facts(self) -> dict[str, Any]:
        """For JSON, in sorted order."""
        sources = {key: [s.name, s.documents, s.times] for key, s in sorted(self.sources.items())}
        return {"digest": None if self.digest is None else str(self.digest), "sources": sources}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any] | None) -> Ledger:
        """What `facts` gave; an empty ledger for a file that has none."""
        if facts is None:
            return cls()
        stated = mapping(facts, "the ledger")
        digest = None if stated["digest"] is None else Digest.from_text(stated["digest"])
        sources = {}
        for key, source in mapping(stated["sources"], "the sources").items():
            if not isinstance(source, list) or [type(value) for value in source] != [str, int, int]:
                raise ValueError("a source must be a name and two whole numbers")
            sources[str(Digest.from_text(key))] = Source(*source)
        return cls(digest, sources)


class SourceLog:
    """Adds up the fingerprints of sources while they are read, batch by batch."""

    def __init__(self) -> None:
        self.read: dict[str, tuple[int, int, Digest]] = {}  # documents, tokens, fingerprint of each path

    def add(self, path: str, documents: int, tokens: int, digest: Digest) -> None:
        """Note some documents of a source."""
        documents_before, tokens_before, so_far = self.read.get(path, (0, 0, Digest()))
        self.read[path] = documents_before + documents, tokens_before + tokens, so_far + digest

    def finished(self) -> dict[str, int]:
        """Documents of the sources that were read to their end: all but the last, as they are read one by one."""
        return {path: documents for path, (documents, _, _) in list(self.read.items())[:-1]}

    def ledger(self, digest: Digest | None) -> Ledger:
        """The sources that have a token, by their fingerprints; of a path, the name of the file."""
        sources: dict[str, Source] = {}
        for path, (documents, tokens, fingerprint) in self.read.items():
            if not tokens:
                continue
            name, same = place_of(path).name or path, sources.get(str(fingerprint))
            if same is not None:
                name = min(name, same.name)
            sources[str(fingerprint)] = Source(name, documents, 1 if same is None else same.times + 1)
        return Ledger(digest, sources)

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {path: [documents, tokens, str(digest)] for path, (documents, tokens, digest) in self.read.items()}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> SourceLog:
        """What `facts` gave."""
        log = cls()
        for path, read in facts.items():
            if not isinstance(read, list) or len(read) != 3:
                raise ValueError("what was read of a source must be two numbers and a digest")
            documents, tokens = (stated_number(n, "a number of documents or tokens") for n in read[:2])
            log.add(path, documents, tokens, Digest.from_text(read[2]))
        return log


def shared_sources(ledgers: Iterable[Ledger]) -> list[Source]:
    """The sources that more than one of the ledgers has, and that would be counted twice in their sum."""
    total: dict[str, Source] = {}
    shared: dict[str, Source] = {}
    for ledger in ledgers:
        for key, source in ledger.sources.items():
            if source.times > 0 and key in total:
                shared[key] = source
            elif source.times > 0:
                total[key] = source
    return list(shared.values())


@lru_cache(maxsize=4)
def _positions_as_words(n_words: int) -> Vocabulary:
    return tuple(str(u) for u in range(n_words))
