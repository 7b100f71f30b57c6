"""From token numbers to word counts: a vocabulary and a cleaning, ready to count the words of any text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.forms import FormCounts
from fdmix.corpus.preparation import Cleaning, Preparation
from fdmix.kernels.tokens import count_rows
from fdmix.moments.moments import Moments
from fdmix.text.cleaning import cleaning_of
from fdmix.text.lexicon import Lexicon
from fdmix.text.ngrams import Ngrams
from fdmix.text.tokenising import TokenBatch
from fdmix.text.words import WordNumbers

VOCABULARY_STEPS = (
    "min_count",
    "drop_most_common",
    "max_words",
    "max_share",
    "open_vocabulary",
)  # the steps of a cleaning that choose the words


class Recipe:
    """Counts the words of a fixed vocabulary in batches of tokens, by the steps of one cleaning.

    Texts that are counted by the same recipe are cleaned in the same way and have the same columns.
    """

    def __init__(self, vocabulary: tuple[str, ...], cleaning: Cleaning) -> None:
        self.vocabulary, self.cleaning = vocabulary, cleaning
        self.words = WordNumbers(vocabulary, cleaning)
        self.ngrams = None
        if any(" " in word for word in vocabulary):
            self.ngrams = Ngrams(vocabulary, self.words.parts, self.words.numbers)

    @property
    def n_words(self) -> int:
        """The number of words in the vocabulary."""
        return len(self.vocabulary)

    def learn(self, lexicons: list[Lexicon]) -> None:
        """Look up all tokens of the lexicons; after this, several threads may call `counts`."""
        for lexicon in lexicons:
            self.words.of(lexicon, np.empty(0, np.int64))

    def counts(self, batch: TokenBatch) -> tuple[Any, Any]:
        """(word counts of the documents, which documents have at least min_tokens tokens)."""
        numbers, lengths = self.words.of(batch.lexicon, batch.ids), batch.lengths
        if self.ngrams is None:
            table = count_matrix(numbers, lengths, self.n_words)
        elif self.cleaning.phrases:
            table = count_matrix(*self.ngrams.joined(numbers, lengths), self.n_words)
        else:
            table = count_matrix(*self.ngrams.added(numbers, lengths, self.cleaning.ngrams), self.n_words)
        if self.cleaning.min_tokens == 0:
            return table, np.ones(table.shape[0], bool)
        tokens = np.asarray(table.sum(axis=1)).ravel()
        return table, tokens >= self.cleaning.min_tokens

    def forms(self, batch: TokenBatch) -> Any:
        """How often each document contains each form, as a (documents, forms) matrix; None without stemming."""
        if not self.cleaning.stem:
            return None
        numbers = self.words.forms_of(batch.lexicon, batch.ids)
        return count_matrix(numbers, batch.lengths, len(self.words.forms))

    def form_totals(self, batch: TokenBatch, keep: Any) -> Any:
        """How often each form occurs in the documents to keep; empty without stemming."""
        if not self.cleaning.stem:
            return np.empty(0, np.int64)
        numbers = self.words.forms_of(batch.lexicon, batch.ids)
        if not keep.all():
            numbers = numbers[np.repeat(keep, batch.lengths)]
        return np.bincount(numbers + 1, minlength=1)[1:]

    def corpus(self, counts: list[Any], documents: Any = None, forms: FormCounts | None = None) -> Corpus:
        """The corpus with these rows of counts."""
        whole = stacked(counts, self.n_words)
        preparation = Preparation(self.cleaning, {} if forms is None else forms)
        return Corpus.trusting(whole, self.vocabulary, documents, preparation)


def recipe_like(like: Any, preset: Any = None, steps: dict[str, Any] | None = None) -> Recipe:
    """The recipe with the words and the cleaning of a Corpus, Moments or Mixture.

    min_tokens alone does not say how text was cleaned: it only leaves documents out.
    """
    preparation, vocabulary = getattr(like, "preparation", None), getattr(like, "vocabulary", None)
    if chosen := [name for name in VOCABULARY_STEPS if name in (steps or {})]:
        raise ValueError(f"with like= the words are given: {', '.join(chosen)} cannot choose them")
    if vocabulary is None:
        raise ValueError(f"this {type(like).__name__} has no vocabulary, so new text cannot be matched to it")
    if preparation is None:
        if preset is None and not set(steps or {}) - {"min_tokens"}:
            raise ValueError(
                f"this {type(like).__name__} does not know how its text was cleaned: say so, by preset= or by steps"
            )
        return Recipe(vocabulary, cleaning_of(preset, steps or {}))
    return Recipe(vocabulary, cleaning_of(preset or preparation.cleaning, steps or {}))


def cleaning_and_recipe(
    like: Any, preset: Any = None, steps: dict[str, Any] | None = None
) -> tuple[Cleaning, Recipe | None]:
    """(cleaning of new text, recipe if its words are known before the text is read).

    Without `like`, or if the vocabulary of `like` is open, the words are chosen from the new text, so there is no
    recipe yet.
    """
    if like is None:
        return cleaning_of(preset, steps or {}), None
    if isinstance(like, Moments | Corpus) and like.preparation is not None:
        own = like.preparation.cleaning
        if own.open_vocabulary:
            return replace(cleaning_of(preset or own, steps or {}), open_vocabulary=True), None
    recipe = recipe_like(like, preset, steps)
    return recipe.cleaning, recipe


def count_matrix(numbers: Any, lengths: Any, n_words: int) -> sp.csr_array:
    """The counts of documents that are given as word numbers (-1: not a word), as a canonical CSR matrix."""
    indptr = np.zeros(lengths.size + 1, np.int32)
    indices, data = np.empty(numbers.size, np.int32), np.empty(numbers.size, np.int32)
    stored = count_rows(numbers, lengths, np.zeros(max(1, n_words), np.int64), indptr, indices, data)
    return sp.csr_array((data[:stored], indices[:stored], indptr), shape=(lengths.size, n_words))


def stacked(tables: list[Any], n_columns: int) -> sp.csr_array:
    """One matrix with the rows of all tables; tables with fewer columns get columns of zeros."""
    if not tables:
        return sp.csr_array((0, n_columns), dtype=np.int32)
    wide = [
        table
        if table.shape[1] == n_columns
        else sp.csr_array((table.data, table.indices, table.indptr), shape=(table.shape[0], n_columns))
        for table in tables
    ]
    return wide[0] if len(wide) == 1 else sp.csr_array(sp.vstack(wide, format="csr"))
