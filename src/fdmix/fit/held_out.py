"""The documents that a fit judges by: which moments to learn from, and which to hold out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from fdmix.corpus.preparation import Preparation
from fdmix.corpus.vocabulary import Vocabulary
from fdmix.moments.contract import PairMoments
from fdmix.moments.moments import Moments
from fdmix.moments.pair_matrix import PairMatrix, ScaledSums
from fdmix.moments.resampled import ResampledMoments

FEWEST_JUDGES = 30  # documents to judge by; fewer cannot tell topics apart


@dataclass(frozen=True, eq=False)
class Remainder:
    """The moments of all documents but some: what `whole - part` gives, without the memory of its pairs."""

    whole: Moments
    part: Moments

    def pair_matrix(self) -> PairMatrix:
        """Mhat, read from the sums of both."""
        return ScaledSums(self.whole.pairs, self.part.pairs)

    @property
    def matrix(self) -> sp.csr_array:
        """Mhat."""
        return self.pair_matrix().matrix

    @property
    def unigram(self) -> Any:
        """The row sums of Mhat."""
        return self.pair_matrix().row_sums

    @property
    def n_words(self) -> int:
        """Number of words."""
        return self.whole.n_words

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.whole.n_documents - self.part.n_documents

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return self.whole.n_tokens - self.part.n_tokens

    @property
    def document_frequencies(self) -> Any:
        """Documents that hold each word."""
        return self.whole.document_frequencies - self.part.document_frequencies

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The words, if they are known."""
        return self.whole.vocabulary

    @property
    def preparation(self) -> Preparation | None:
        """How text became these words, if known."""
        return self.whole.preparation

    def provenance(self) -> dict[str, Any]:
        """What is known about them, for people."""
        return {"whole": self.whole.provenance(), "without": self.part.provenance()}


def enough(judges: PairMoments) -> PairMoments | None:
    """The moments to judge by, or None if too few documents are in them."""
    n_documents = getattr(judges, "n_documents", FEWEST_JUDGES)  # weighted moments do not count documents
    return judges if n_documents >= FEWEST_JUDGES and judges.n_tokens > 0 else None


def held_apart(moments: PairMoments) -> tuple[PairMoments, PairMoments | None]:
    """(the moments to learn from first, those to judge by); all of them and None if there are too few to judge by."""
    if not isinstance(moments, Moments | ResampledMoments):
        return moments, None
    judges, rest = _parts(moments)
    if judges is None or enough(judges) is None:
        return moments, None
    return (rest, judges) if rest.n_documents > moments.n_documents / 2 else (moments, None)


def _parts(moments: Moments | ResampledMoments) -> tuple[Any, Any]:
    """(the moments to judge by, those of all other documents)."""
    if isinstance(moments, ResampledMoments):
        return moments.judges, moments.rest
    return moments.judges, None if moments.judges is None else Remainder(moments, moments.judges)
