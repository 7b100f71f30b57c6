"""Which words to count, chosen from the tokens of a spool; and how tokens become counts of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.forms import FormCounts
from fdmix.corpus.preparation import Cleaning, Preparation
from fdmix.kernels.tokens import count_rows
from fdmix.text.lexicon import Lexicon
from fdmix.text.phrases import LEAST, CodeCounts, Runs, sticky
from fdmix.text.token_store import Spool, TokenBatch
from fdmix.text.words import Counted, WordNumbers


class Recipe:
    """From batches of tokens to counts over one vocabulary."""

    def __init__(self, vocabulary: tuple[str, ...], cleaning: Cleaning) -> None:
        self.vocabulary, self.cleaning = vocabulary, cleaning
        self.words = WordNumbers(vocabulary, cleaning)
        self.runs = None
        if any(" " in word for word in vocabulary):
            self.runs = Runs(vocabulary, self.words.parts, self.words.numbers)

    @property
    def n_words(self) -> int:
        """Columns."""
        return len(self.vocabulary)

    def learn(self, lexicons: list[Lexicon]) -> None:
        """Look up all tokens of the lexicons; after this, `counts` may be called from several threads."""
        for lexicon in lexicons:
            self.words.of(lexicon, np.empty(0, np.int64))

    def counts(self, batch: TokenBatch) -> tuple[Any, Any]:
        """The counts of a batch's documents, and which of them are long enough."""
        numbers, lengths = self.words.of(batch.lexicon, batch.ids), batch.lengths
        if self.runs is None:
            table = rows_of(numbers, lengths, self.n_words)
        elif self.cleaning.phrases:
            table = rows_of(*self.runs.joined(numbers, lengths), self.n_words)
        else:
            table = rows_of(*self.runs.applied(numbers, lengths, self.cleaning.ngrams), self.n_words)
        if self.cleaning.min_tokens == 0:
            return table, np.ones(table.shape[0], bool)
        tokens = np.asarray(table.sum(axis=1)).ravel()
        return table, tokens >= self.cleaning.min_tokens

    def forms(self, batch: TokenBatch) -> Any:
        """How often each document writes which form: (documents, forms), or None where words are not stemmed."""
        if not self.cleaning.stem:
            return None
        numbers = self.words.forms_of(batch.lexicon, batch.ids)
        return rows_of(numbers, batch.lengths, len(self.words.forms))

    def form_totals(self, batch: TokenBatch, keep: Any) -> Any:
        """The same, added up over the documents that are kept."""
        if not self.cleaning.stem:
            return np.empty(0, np.int64)
        numbers = self.words.forms_of(batch.lexicon, batch.ids)
        if not keep.all():
            numbers = numbers[np.repeat(keep, batch.lengths)]
        return np.bincount(numbers + 1, minlength=1)[1:]

    def corpus(self, counts: list[Any], documents: Any = None, forms: FormCounts | None = None) -> Corpus:
        """A corpus of these rows."""
        whole = stacked(counts, self.n_words)
        preparation = Preparation(self.cleaning, {} if forms is None else forms)
        return Corpus.trusting(whole, self.vocabulary, documents, preparation)


def stacked(tables: list[Any], n_columns: int) -> sp.csr_array:
    """One table of all rows; those with fewer columns are filled up with zeros."""
    if not tables:
        return sp.csr_array((0, n_columns), dtype=np.int32)
    wide = [
        table
        if table.shape[1] == n_columns
        else sp.csr_array((table.data, table.indices, table.indptr), shape=(table.shape[0], n_columns))
        for table in tables
    ]
    return wide[0] if len(wide) == 1 else sp.csr_array(sp.vstack(wide, format="csr"))


def rows_of(numbers: Any, lengths: Any, n_words: int) -> sp.csr_array:
    """Canonical CSR counts of documents given as word numbers (-1: none)."""
    indptr = np.zeros(lengths.size + 1, np.int32)
    indices, data = np.empty(numbers.size, np.int32), np.empty(numbers.size, np.int32)
    stored = count_rows(numbers, lengths, np.zeros(max(1, n_words), np.int64), indptr, indices, data)
    return sp.csr_array((data[:stored], indices[:stored], indptr), shape=(lengths.size, n_words))


def chosen_recipe(spool: Spool) -> Recipe:
    """Choose the vocabulary: often enough, not too common, the most frequent; and phrases, if wanted.

    An open vocabulary has every word.
    """
    counted = Counted(spool.cleaning, spool.lexicons, spool.n_documents)
    cleaning = counted.cleaning
    words = counted.common()
    totals = dict(counted.totals)
    if cleaning.phrases or cleaning.ngrams > 1:
        runs = _runs(spool, words, cleaning)
        totals |= runs
        words = sorted([*words, *runs])
    if cleaning.open_vocabulary:
        return Recipe(tuple(words), cleaning)
    if cleaning.max_share < 1 or cleaning.phrases:  # a word that is mostly a part of phrases is rarer than it seemed
        counts, frequencies = _tallied(spool, tuple(words), cleaning)
        totals = dict(zip(words, counts.tolist(), strict=True))
        most, least = cleaning.max_share * spool.n_documents, int(cleaning.min_count)
        words = [word for word, n in zip(words, frequencies, strict=True) if n <= most and totals[word] >= least]
    if cleaning.max_words is not None:
        words = sorted(sorted(words, key=lambda word: (-totals[word], word))[: cleaning.max_words])
    return Recipe(tuple(words), cleaning)


def _tallied(spool: Spool, words: tuple[str, ...], cleaning: Cleaning) -> tuple[Any, Any]:
    """(tokens of each word, documents that hold it)."""
    recipe = Recipe(words, cleaning)
    tokens, documents = np.zeros(len(words), np.int64), np.zeros(len(words), np.int64)
    for batch in spool:
        counts, _ = recipe.counts(batch)
        tokens += np.bincount(counts.indices, counts.data, minlength=len(words)).astype(np.int64)
        documents += np.bincount(counts.indices, minlength=len(words))
    return tokens, documents


def _runs(spool: Spool, words: list[str], cleaning: Cleaning) -> dict[str, int]:
    """Runs of neighbours seen often enough, with their counts; as phrases, only those that stick together."""
    numbers = WordNumbers(tuple(words), cleaning)
    least = 1 if cleaning.open_vocabulary else int(cleaning.min_count)
    found: dict[str, int] = {}
    for n in range(2, (2 if cleaning.phrases else cleaning.ngrams) + 1):
        known = Runs([*words, *found], numbers.parts, numbers.numbers)
        codes, singles = CodeCounts(), np.zeros(len(words) + 1, np.int64)
        for batch in spool:
            row = numbers.of(batch.lexicon, batch.ids)
            *_, (document, beginning) = known.levels(row, batch.lengths, n - 1)
            documents = np.repeat(np.arange(batch.lengths.size), batch.lengths)
            right, here = row[n - 1 :], beginning[: max(0, row.size - n + 1)]
            inside = (document[: here.size] == documents[n - 1 :]) & (here >= 0) & (right >= 0)
            codes.add(here[inside] * len(words) + right[inside])
            singles += np.bincount(row + 1, minlength=singles.size)
        code, count = codes.at_least(max(least, LEAST if cleaning.phrases else 1))
        left, right = code // max(1, len(words)), code % max(1, len(words))
        if cleaning.phrases and code.size:
            stick = sticky(count, singles[left + 1], singles[right + 1], int(singles[1:].sum()))
            left, right, count = left[stick], right[stick], count[stick]
        names = _names(words, known, found)
        found |= {
            f"{names[u]} {words[v]}": c for u, v, c in zip(left.tolist(), right.tolist(), count.tolist(), strict=True)
        }
    return found


def _names(words: list[str], known: Runs, found: dict[str, int]) -> list[str]:
    """What each number of a run means: parts first, then runs in the order of their numbers."""
    names = list(words) + [""] * (known.size - len(words))
    part = {word: i for i, word in enumerate(words)}
    for run in sorted(found):
        number = -1
        for piece in run.split(" "):
            if number < 0:
                number = part[piece]
            else:
                number = int(known._lookup(np.array([number * known.size + part[piece]]))[0])
        names[number] = run
    return names
