"""Read text as words in their order, for scores that look at neighbouring words."""

from __future__ import annotations

from typing import Any

import numpy as np

from fdmix.corpus.sequences import TokenSequences
from fdmix.text.layouts import Layout
from fdmix.text.notices import with_notices
from fdmix.text.recipe import Recipe, recipe_like
from fdmix.text.sources import source_of
from fdmix.text.tokenising import Report, TokenBatch, token_batches


def read_sequences(
    source: Any,
    like: Any,
    *,
    column: str | int | None = None,
    n_threads: int | None = None,
    report: Report | None = None,
) -> TokenSequences:
    """The documents that `read_corpus(source, like=like)` counts, as words in the order of the text.

    Only the words that are counted stay: words that the cleaning leaves out, such as stop words, and words outside
    the vocabulary take up no place between the others. Joined phrases count as one word; other n-grams have no place
    of their own and are left out.

    like : a Corpus, Moments or Mixture that knows how its text was cleaned

    >>> from fdmix import read_corpus
    >>> texts = ["The cat sat on the mat.", "A mat and a cat."]
    >>> list(read_sequences(texts, read_corpus(texts, stop_words="english")))
    [['cat', 'sat', 'mat'], ['mat', 'cat']]
    """
    given = source_of(source, Layout(None if column is None else str(column)))
    recipe = recipe_like(like)
    numbers, lengths = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    for batch in with_notices(token_batches(given, recipe.cleaning, n_threads, report)):
        words, sizes = _words(recipe, batch)
        document = np.repeat(np.arange(sizes.size), sizes)
        known = words >= 0
        sizes = np.bincount(document[known], minlength=sizes.size)
        if recipe.cleaning.min_tokens:
            keep = recipe.counts(batch)[1]
            known &= keep[document]
            sizes = sizes[keep]
        numbers.append(words[known].astype(np.int32))
        lengths.append(sizes)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
    return TokenSequences(recipe.vocabulary, np.concatenate(numbers), offsets)


def _words(recipe: Recipe, batch: TokenBatch) -> tuple[Any, Any]:
    """(numbers of words, -1 for what is left out; number of them in each document)."""
    words = recipe.words.of(batch.lexicon, batch.ids)
    if recipe.ngrams is not None and recipe.cleaning.phrases:
        return recipe.ngrams.joined(words, batch.lengths)
    return np.where(words < recipe.n_words, words, -1), batch.lengths
