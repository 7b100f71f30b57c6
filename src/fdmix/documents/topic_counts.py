"""Topics as expected counts of words: the form in which passes over documents learn them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.mixture.mixture import Mixture

Floats = np.ndarray[Any, np.dtype[np.float64]]
SMALLEST_COUNT = 1e-6  # tokens; a smaller count becomes zero, so that topics stay sparse
SMALLEST_SHARE = 1e-8  # of a topic in the prior: a Dirichlet's parameters must be positive


@dataclass(frozen=True, eq=False)
class TopicCounts:
    """K[u, t], how many tokens of word u belong to topic t: mu_t(u) = K[u, t] / K_t, and E[theta_t] ~ K_t.

    counts : (words, topics), sparse
    """

    counts: sp.csr_array

    @classmethod
    def of(cls, mixture: Mixture, n_tokens: float) -> TopicCounts:
        """The counts that a mixture expects of n_tokens tokens."""
        return cls(sp.csr_array((mixture.topics * (mixture.shares * n_tokens)[:, None]).T))

    @classmethod
    def with_values(cls, pattern: sp.csr_array, values: Floats) -> TopicCounts:
        """Counts with these values where `pattern` has entries; very small ones become zero."""
        kept = np.where(values > SMALLEST_COUNT, values, 0.0)
        counts = sp.csr_array((kept, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)
        counts.eliminate_zeros()
        return cls(counts)

    @cached_property
    def totals(self) -> Floats:
        """K_t, the tokens of each topic."""
        return np.asarray(self.counts.sum(axis=0), np.float64).ravel()

    @cached_property
    def entries(self) -> tuple[Any, Any, Any]:
        """(first, topic, mu_topic(word)) by word, for the kernels."""
        probability = self.counts.data / self.totals[self.counts.indices]
        return self.counts.indptr.astype(np.int64), self.counts.indices.astype(np.int32), probability

    def topics(self, where_empty: Floats | None = None) -> Floats:
        """mu, (topics, words); a topic without a token is zero, or as in `where_empty`."""
        counts = self.counts.toarray().T
        totals = counts.sum(axis=1, keepdims=True)
        found = counts / np.where(totals > 0, totals, 1.0)
        return found if where_empty is None else np.where(totals > 0, found, where_empty)

    def with_tokens_of(self, mixture: Mixture, n_tokens: float) -> TopicCounts:
        """These counts and n_tokens more of every word, shared out among topics as the mixture does.

        Rare words follow the mixture then, and frequent words, which these counts know well, hardly change.
        """
        joint = mixture.topics * mixture.shares[:, None]
        totals = joint.sum(axis=0)
        shares = np.divide(joint, totals, out=np.zeros_like(joint), where=totals > 0)
        return TopicCounts(sp.csr_array(self.counts + n_tokens * sp.csr_array(shares.T)))

    def prior(self, concentration: float) -> Floats:
        """The Dirichlet parameters a = A E[theta] of a document's topics."""
        return concentration * np.maximum(self.totals / self.totals.sum(), SMALLEST_SHARE)
