"""What a fit needs to know about a corpus: the contract of `Moments` and `WeightedMoments`."""

from __future__ import annotations

from typing import Any, Protocol

import scipy.sparse as sp

from fdmix.corpus.preparation import Preparation
from fdmix.corpus.vocabulary import Vocabulary


class PairMoments(Protocol):
    """Word-pair statistics of a corpus, from whole counts or from weights."""

    @property
    def matrix(self) -> sp.csr_array:
        """Mhat: symmetric, sums to 1."""

    @property
    def unigram(self) -> Any:
        """The row sums of Mhat."""

    @property
    def n_words(self) -> int:
        """Number of words."""

    @property
    def n_tokens(self) -> Any:
        """Number of tokens."""

    @property
    def document_frequencies(self) -> Any:
        """Documents that hold each word."""

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The words, if they are known."""

    @property
    def preparation(self) -> Preparation | None:
        """How text became these words, if known."""

    def provenance(self) -> dict[str, Any]:
        """What is known about them, for people."""
