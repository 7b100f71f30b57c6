"""Refine topics on documents: passes and sampling that fetch what word pairs do not tell."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.content_hashes import in_order_of_content
from fdmix.corpus.corpus import Corpus
from fdmix.corpus.splits import MIN_DOCUMENTS, held_out_split, with_pairs
from fdmix.documents.document_fit import DocumentFit, Refinement
from fdmix.documents.training import TrainingDocuments
from fdmix.engines import checked_engine
from fdmix.fit.correlations import fit_correlations
from fdmix.fit.stopping import Stop, Stopping
from fdmix.fit.word_ranking import with_word_ranking
from fdmix.mixture.assignment import aligned_counts
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.runtime.interruption import completed, deferred_ctrl_c
from fdmix.runtime.memory import available_bytes, in_words
from fdmix.runtime.threads import Workers, one_blas_thread, thread_count
from fdmix.runtime.whole_numbers import whole_number

log = logging.getLogger("fdmix")
MAX_DOCUMENTS, MAX_TOKENS = 1_000_000, 20_000_000  # of a larger corpus, a random sample is enough
BYTES_PER_WORD_AND_TOPIC = 150  # measured; topic counts in several forms
BYTES_PER_WORD_OF_A_DOCUMENT = 16  # and topic: the shares of a document's words while it is scored
BYTES_PER_TOKEN = 40  # its word, its topic and its place
MIN_KNOWN_SHARE = 0.5  # of the tokens; text of which a mixture knows less is probably another kind of text


def refine(
    mixture: Mixture,
    corpus: Any,
    passes: int | str = "auto",
    *,
    unseen: Any = None,
    max_documents: int = MAX_DOCUMENTS,
    engine: str = "auto",
    device: str = "auto",
    seed: int = 0,
    callback: Callable[[Refinement], Any] | None = None,
    n_threads: int | None = None,
) -> Mixture:
    """A mixture with better topics, from CVB0 passes over documents and Gibbs sampling.

    r_ut ~ (a_t + n_dt - r_ut) mu_t(u),    mu_t(u) <- sum_d c_d(u) r_ut, normalised     (CVB0; Asuncion et al. 2009)

    In a pass every token is shared among topics, its own share left out. A few passes fetch what word pairs do not
    tell; too many overfit. So held-out documents choose, by how well one half of a document predicts the other: how
    many passes, how strong the Dirichlet prior a is, and how much the topics are smoothed. Gibbs sampling goes on
    from there and learns the prior: a_t for each topic, or one for all if that completes about as well. The result is
    the mean of the sweeps that complete held-out documents best, or the topics of the passes if no sweep does better.
    In the end the held-out documents are learned from, too, unless they are `unseen`.

    This is LDA, started from the mixture's topics: it assumes that documents follow a Dirichlet prior.

    Parameters
    ----------
    mixture : topics to begin with; words with probability 0 in a topic keep it, but for the smoothing
    corpus : Corpus (aligned by word if it has a vocabulary) or table of whole counts. ValueError if no document has
        two tokens that the mixture knows; a warning in the log if the mixture knows less than half of the tokens
    passes : "auto", or a number of passes without sampling
    unseen : held-out documents that the mixture was not fitted to. Without any, some of the corpus are held out and
        what the topics expect of them is subtracted. That does not undo all that the topics learned from them, so
        the choice is then on the side of too few passes
    max_documents : of a larger corpus, or one of more than 20 million tokens, a random sample is used
    engine, device : of the passes over pairs that fit the correlations, as in `fit_mixture`
    callback : called with a `Refinement` after each pass, and about once a second while sampling. Returning True
        stops with the best topics so far, and so does Ctrl-C, at any moment:
        `mixture.provenance["refined"]["stopped"]` says so. Before anything is refined, the mixture itself is returned
    seed : of the sample of documents, the halves of held-out documents, and the draws
    n_threads : the result is the same with any number

    The order of the documents changes nothing either.

    >>> from fdmix import Moments, fit_mixture, worlds
    >>> corpus = worlds.intervals().sample(2000, length=20)
    >>> refine(fit_mixture(Moments.of(corpus), 3).mixture, corpus)
    Mixture(3 topics over 100 words)
    """
    passes = passes if isinstance(passes, str) and passes == "auto" else whole_number("passes", passes)
    if not isinstance(mixture, Mixture):
        raise TypeError(f"refine improves a Mixture, not {type(mixture).__name__}: use fit_mixture(...).mixture")
    checked_engine(engine, device)
    corpus = _known_corpus(mixture, corpus, "the corpus")
    unseen = None if unseen is None else _known_corpus(mixture, unseen, "the unseen text")
    stopping = Stopping(callback)
    with deferred_ctrl_c, one_blas_thread:
        try:
            fit = begin_document_fit(mixture, corpus, unseen, max_documents, seed, n_threads, stopping)
        except KeyboardInterrupt:
            return mixture
        if fit is None or passes == 0:
            return mixture
        interrupted = stopped = False
        try:
            stopped = fit.run_passes(passes) or (passes == "auto" and fit.run_sampling())
            fit.learn_from_left_out()
        except KeyboardInterrupt:
            interrupted = stopped = True
        if not fit.has_result:
            return mixture
        refined, late = completed(fit.mixture)
        alpha, last = refined.correlations, True  # Ctrl-C was pressed, unless the next step ends
        with suppress(KeyboardInterrupt):
            moments = Moments.of(fit.learned_from, n_threads=n_threads)
            tell = None if stopped else fit.tell_of_correlations
            alpha, _, last = fit_correlations(refined, moments, n_threads, tell, engine=engine, device=device)
            refined = with_word_ranking(refined, moments.matrix, moments.n_tokens)
        refined = replace(refined, correlations=alpha)
    return _marked_as_stopped(refined) if interrupted or late or last else refined


def _marked_as_stopped(mixture: Mixture) -> Mixture:
    """With a note in the provenance that Ctrl-C ended the refinement."""
    known = dict(mixture.provenance)
    return replace(mixture, provenance=known | {"refined": known["refined"] | {"stopped": Stop.INTERRUPTED.value}})


def begin_document_fit(
    mixture: Mixture,
    corpus: Any,
    unseen: Any,
    max_documents: int,
    seed: int,
    n_threads: int | None,
    stopping: Stopping,
    left_out: Any = None,
) -> DocumentFit | None:
    """A fit to documents, ready for its first pass; None if there is nothing to refine, or nothing to learn from.

    left_out : documents to learn from at the end, of a corpus that `unseen` documents were taken from
    """
    max_documents, seed = whole_number("max_documents", max_documents, least=1), whole_number("seed", seed)
    workers, table = Workers(n_threads), _aligned(corpus, mixture)
    table = in_order_of_content(table[with_pairs(table)])  # any order gives the same topics
    if mixture.n_topics == 1 or table.nnz == 0:
        return None
    table = _sampled(table, max_documents, seed)
    require_memory(table, mixture.n_topics, max_documents, n_threads)
    if unseen is not None:
        held_out = in_order_of_content(_aligned(unseen, mixture))
        left_out = None if left_out is None else in_order_of_content(_aligned(left_out, mixture))
        return DocumentFit(mixture, TrainingDocuments(table), held_out, workers, seed, stopping, left_out)
    if table.shape[0] < MIN_DOCUMENTS:
        return DocumentFit(mixture, TrainingDocuments(table), None, workers, seed, stopping)
    chosen, rest = held_out_split(table)
    others = np.setdiff1d(np.arange(table.shape[0]), rest)
    fit = DocumentFit(mixture, TrainingDocuments(table[rest]), table[chosen], workers, seed, stopping, table[others])
    fit.forget_held_out()
    return fit


def _aligned(corpus: Any, mixture: Mixture) -> sp.csr_array:
    """The counts of a corpus over the mixture's words."""
    return aligned_counts(corpus, mixture.vocabulary, mixture.n_words)[0]


def _sampled(table: sp.csr_array, max_documents: int, seed: int) -> sp.csr_array:
    """All documents, or a random sample of a corpus that is too large."""
    share = min(max_documents / max(table.shape[0], 1), MAX_TOKENS / max(table.sum(), 1))
    if share >= 1:
        return table
    n_documents = max(1, round(share * table.shape[0]))
    log.info("passes over documents use a sample of %s of %s documents", f"{n_documents:,}", f"{table.shape[0]:,}")
    rng = np.random.default_rng(seed)
    return table[np.sort(rng.choice(table.shape[0], n_documents, replace=False))]


def require_memory(table: sp.csr_array, n_topics: int, max_documents: int, n_threads: int | None = None) -> None:
    """Raise MemoryError if topic counts, the tokens' topics and the scoring of a long document would not fit."""
    n_tokens = min(int(table.sum()) * min(1.0, max_documents / max(table.shape[0], 1)), MAX_TOKENS)
    longest = int(np.diff(table.indptr).max(initial=0)) * thread_count(n_threads)
    per_topic = BYTES_PER_WORD_AND_TOPIC * table.shape[1] + BYTES_PER_WORD_OF_A_DOCUMENT * longest
    needed = int(n_topics) * per_topic + BYTES_PER_TOKEN * n_tokens
    if needed > available_bytes():
        raise MemoryError(
            f"passes over documents would need about {in_words(needed)} but {in_words(available_bytes())} are free: "
            "use fewer topics or words, fewer documents (max_documents), or pairs alone (fit_mixture, refine=False)"
        )


def _known_corpus(mixture: Mixture, counts: Any, what: str) -> Corpus:
    """The counts as a Corpus; ValueError if no document has two tokens that the mixture knows.

    One token says nothing about others, so such a corpus would leave the mixture as it is.
    """
    corpus = counts if isinstance(counts, Corpus) else Corpus(counts)
    if corpus.n_tokens == 0:
        raise ValueError(
            f"{what} has no token: it is empty, or it was read with like= and holds no word that the mixture knows"
        )
    table, _ = aligned_counts(corpus, mixture.vocabulary, mixture.n_words)
    n_known = int(table.sum(axis=0)[mixture.topics.any(axis=0)].sum())
    if n_known == 0:
        raise ValueError(f"the mixture knows no word of {what}: give text like the text that it was fitted to")
    if not with_pairs(table).size:
        raise ValueError(f"no document of {what} has two tokens that the mixture knows")
    if sentence := little_known(n_known / corpus.n_tokens, what):
        log.warning(sentence)
    return corpus


def little_known(share: float, what: str = "the text") -> str | None:
    """A sentence of warning if a mixture knows only a small share of the tokens of a text; otherwise None."""
    if share >= MIN_KNOWN_SHARE:
        return None
    return (
        f"The mixture knows only {share:.1%} of the tokens of {what}, so it learns nothing from the others: "
        "is this text like the text that it was fitted to?"
    )
