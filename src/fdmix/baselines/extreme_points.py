"""EP: topics from anchor words (Arora et al., ICML 2013)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.fit.starts import anchors
from fdmix.kernels.anchor_recovery import recover_kl, recover_l2
from fdmix.mixture.assignment import assign
from fdmix.mixture.mixture import Mixture
from fdmix.moments.full_matrix import rearranged
from fdmix.moments.moments import Moments
from fdmix.runtime.threads import in_threads
from fdmix.runtime.whole_numbers import whole_number

Floats = np.ndarray[Any, np.dtype[np.float64]]
WORDS_AT_A_TIME = 64  # words in one task of a thread
MAX_ROUNDS = 2_000  # steps of exponentiated gradient, or of EM, for a word
LOOSE_TOLERANCE = 1e-4  # from here on EM in float32 is exact enough for the KL loss, and far faster with many topics
SMOOTHING = 1e-6  # share of the uniform distribution in the anchors' rows under the KL loss: no word is impossible
ANCHOR_DOCUMENTS = 50  # documents that an anchor word is in at least: rows of rarer words are noise
ANCHOR_SHARE = 0.004  # the same as a share of all documents (docs/explanation/scores.md, "Baselines")


def extreme_points(
    moments: Moments,
    n_topics: int,
    loss: str = "kl",
    *,
    min_documents: int | None = None,
    tolerance: float = 1e-6,
    seed: int = 0,
    n_threads: int | None = None,
) -> Mixture:
    """Topics by EP: every word's row of Mhat as a mixture of the rows of T anchor words, then Bayes' rule.

    With Q_u the row of word u, normalised, and s_1, ..., s_T the anchors: C_u = argmin over the simplex of
    loss(Q_u, sum_t C_u(t) Q_s(t)), so C_u(t) = p(topic t | word u) and mu_t(u) ~ C_u(t) p(u); alpha by least squares.

    loss : "kl", which is the problem of assigning topics to documents, solved to a certified duality gap; or "l2",
        solved by exponentiated gradient and stopped by the Frank-Wolfe gap
    min_documents : the number of documents that an anchor word is in at least. By default 50, or 0.4 % of all
        documents if that is more: the rows of rarer words are noisy, and noise looks extreme
    tolerance : of the gap, see `loss`. With hundreds of topics use 1e-3 for "kl": from 1e-4 on over-relaxed EM solves
        it, dozens of times as fast as the exact solver
    """
    if loss not in ("kl", "l2"):
        raise ValueError(f"loss is 'kl' or 'l2', not {loss!r}")
    n_topics, seed = whole_number("n_topics", n_topics, least=1), whole_number("seed", seed)
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, but is {tolerance}")
    whole, unigram = moments.matrix, moments.unigram
    seen = np.flatnonzero(unigram > 0)
    if n_topics > seen.size:
        raise ValueError(f"EP needs from 1 to {seen.size:,} topics, one for each anchor word, not {n_topics}")
    mhat = rearranged(whole, seen)
    rows = sp.csr_array(sp.diags_array(1 / unigram[seen]) @ mhat)
    enough = max(ANCHOR_DOCUMENTS, ANCHOR_SHARE * moments.n_documents) if min_documents is None else min_documents
    rng = np.random.default_rng(seed)
    chosen = anchors(mhat, n_topics, moments.document_frequencies[seen], rng, enough)
    basis = rows[chosen].toarray()
    if loss == "kl" and tolerance >= LOOSE_TOLERANCE:
        shares = _kullback_leibler(basis, rows, tolerance, n_threads)
    elif loss == "kl":
        even = np.eye(n_topics) / n_topics
        shares = assign(basis, even, rows, tolerance=tolerance, smoothing=SMOOTHING, n_threads=n_threads).theta
    else:
        shares = _least_squares(basis, rows, tolerance, n_threads)
    topics = np.zeros((n_topics, moments.n_words))
    topics[:, seen] = shares.T * unigram[seen]
    topics /= topics.sum(axis=1, keepdims=True)
    return Mixture(topics, _correlations(topics, whole), moments.vocabulary, moments.preparation)


def _least_squares(basis: Floats, rows: sp.csr_array, tolerance: float, n_threads: int | None) -> Floats:
    gram = basis @ basis.T
    targets = np.asarray(rows @ basis.T)
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    shares = np.full(targets.shape, 1 / len(basis))

    def work(begin: int) -> None:
        end = min(begin + WORDS_AT_A_TIME, len(targets))
        recover_l2(begin, end, gram, targets, squares, tolerance, MAX_ROUNDS, shares)

    list(in_threads(work, range(0, len(targets), WORDS_AT_A_TIME), n_threads))
    return shares


def _kullback_leibler(basis: Floats, rows: sp.csr_array, tolerance: float, n_threads: int | None) -> Floats:
    smooth = ((1 - SMOOTHING) * basis + SMOOTHING / basis.shape[1]).T
    partners = np.ascontiguousarray(smooth, np.float32)
    shares, gaps = np.empty((rows.shape[0], len(basis))), np.empty(rows.shape[0])
    table = rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float32)

    def work(begin: int) -> None:
        end = min(begin + WORDS_AT_A_TIME, rows.shape[0])
        recover_kl(begin, end, *table, partners, tolerance, MAX_ROUNDS, shares, gaps)

    list(in_threads(work, range(0, rows.shape[0], WORDS_AT_A_TIME), n_threads))
    return shares


def _correlations(topics: Floats, mhat: sp.csr_array) -> Floats:
    """alpha = argmin |Mhat - mu' alpha mu|^2, with negative entries set to 0."""
    inverse = np.linalg.pinv(topics)  # (N, T)
    alpha = inverse.T @ (mhat @ inverse)
    alpha = np.maximum((alpha + alpha.T) / 2, 0)
    if alpha.sum() == 0:
        alpha = np.eye(len(topics))
    return alpha / alpha.sum()
