"""The documents of a comparison, and their split into those to learn from and those held out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fdmix.corpus.content_hashes import content_hashes
from fdmix.corpus.corpus import Corpus
from fdmix.corpus.sequences import TokenSequences

MIN_DOCUMENTS = 20  # with fewer, a fifth of them is too small to score anything
SEED_STEP = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents in all the forms that methods and scores need.

    corpus : counts, the same words for all methods
    sequences : words in their order, for c_v and c_npmi; None if only counts are known
    texts : the raw text of each document, for methods that embed sentences; None if it is unknown or not needed
    labels : the label of each document, None where it has none; None if no document has a label
    """

    corpus: Corpus
    sequences: TokenSequences | None = None
    texts: list[str] | None = None
    labels: list[str | None] | None = None

    def __post_init__(self) -> None:
        for name in ("sequences", "texts", "labels"):
            given = getattr(self, name)
            if given is not None and len(given) != self.corpus.n_documents:
                raise ValueError(f"{name} must have one entry for each of {self.corpus.n_documents:,} documents")

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        sequences: TokenSequences | None = None,
        texts: list[str] | None = None,
        labels: Any = None,
    ) -> Documents:
        """Without the documents that have none of the words: no method could say anything about them."""
        whole = cls(corpus, sequences, texts, None if labels is None else [_label(label) for label in labels])
        if whole.labels is not None and len({label for label in whole.labels if label is not None}) < 2:
            raise ValueError("labels must have at least two different values: leave them out, or name another column")
        kept = whole[np.flatnonzero(corpus.lengths > 0)]
        if kept.corpus.n_documents < MIN_DOCUMENTS:
            raise ValueError(
                f"a comparison needs at least {MIN_DOCUMENTS} documents with words, not {kept.corpus.n_documents}"
            )
        return kept

    def __getitem__(self, documents: Any) -> Documents:
        """Some of the documents, by positions."""
        places = documents.tolist()
        return Documents(
            self.corpus[documents],
            None if self.sequences is None else self.sequences[documents],
            None if self.texts is None else [self.texts[d] for d in places],
            None if self.labels is None else [self.labels[d] for d in places],
        )

    @cached_property
    def hashes(self) -> Any:
        """A number for each document that depends on its words and counts only."""
        return content_hashes(self.corpus.counts, self.corpus.vocabulary)

    def split(self, held_out: float, seed: int) -> tuple[Any, Any]:
        """(positions to learn from, positions held out), by the documents' contents and the seed.

        Copies of a document are on the same side, and the order of documents plays no part.
        """
        with np.errstate(over="ignore"):
            mixed = (self.hashes ^ (np.uint64(seed + 1) * SEED_STEP)) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
            mixed ^= mixed >> np.uint64(29)
        chosen = (mixed >> np.uint64(11)).astype(np.float64) / 2.0**53 < held_out
        if chosen.all() or not chosen.any():
            raise ValueError(
                "the documents are too few, or too many are copies of each other: none could be held out"
            )
        return np.flatnonzero(~chosen), np.flatnonzero(chosen)

    def digest(self) -> str:
        """A fingerprint of the documents, in any order, and of their labels."""
        order = np.argsort(self.hashes, kind="stable")
        found = hashlib.blake2b(self.hashes[order].tobytes(), digest_size=16)
        if self.labels is not None:
            pairs = sorted(f"{h} {label}" for h, label in zip(self.hashes.tolist(), self.labels, strict=True))
            found.update("\n".join(pairs).encode())
        return found.hexdigest()


def _label(label: Any) -> str | None:
    missing = label is None or label == "" or (isinstance(label, float) and np.isnan(label))
    return None if missing else str(label)
