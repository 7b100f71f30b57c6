"""Choose the words to count: frequent enough, not too common, and phrases or n-grams if the user wants them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix.corpus.preparation import Cleaning, least_count
from fdmix.text.lexicon import Lexicon
from fdmix.text.ngrams import MIN_PHRASE_COUNT, CodeCounts, Ngrams, are_phrases
from fdmix.text.recipe import Recipe
from fdmix.text.stop_words import detected_language
from fdmix.text.token_store import TokenStore
from fdmix.text.words import Cleaner, WordNumbers


def chosen_recipe(store: TokenStore) -> Recipe:
    """The recipe that counts the words chosen from a text, by the rules of its cleaning.

    An open vocabulary has every word.
    """
    token_totals = _token_totals(store.lexicons)
    cleaning = _with_language(store.cleaning, token_totals)
    if not cleaning.open_vocabulary:
        cleaning = replace(cleaning, min_count=least_count(cleaning.min_count, store.n_documents))
    totals = dict(_word_totals(cleaning, token_totals))
    words = sorted(word for word, n in totals.items() if n >= _min_count(cleaning))
    if cleaning.phrases or cleaning.ngrams > 1:
        ngrams = _frequent_ngrams(store, words, cleaning)
        totals |= ngrams
        words = sorted([*words, *ngrams])
    if cleaning.open_vocabulary:
        return Recipe(tuple(words), cleaning)
    every = words
    if cleaning.max_share < 1 or cleaning.phrases:  # a token in a phrase no longer counts as a word by itself
        tokens, documents = _token_and_document_counts(store, tuple(words), cleaning)
        totals = dict(zip(words, tokens.tolist(), strict=True))
        most, least = cleaning.max_share * store.n_documents, _min_count(cleaning)
        words = [word for word, n in zip(words, documents, strict=True) if n <= most and totals[word] >= least]
    common = set(_by_frequency(every, totals)[: cleaning.drop_most_common])
    words = [word for word in words if word not in common]
    if cleaning.max_words is not None:
        words = sorted(_by_frequency(words, totals)[: cleaning.max_words])
    return Recipe(tuple(words), cleaning)


def _by_frequency(words: list[str], totals: Mapping[str, int]) -> list[str]:
    """The words, those with the most tokens first; ties by name."""
    return sorted(words, key=lambda word: (-totals[word], word))


def word_totals(cleaning: Cleaning, lexicons: list[Lexicon]) -> Counter[str]:
    """How often each word was seen in the text of these lexicons."""
    token_totals = _token_totals(lexicons)
    return _word_totals(_with_language(cleaning, token_totals), token_totals)


def _token_totals(lexicons: list[Lexicon]) -> dict[str, int]:
    """How often each token was seen, over all lexicons."""
    totals: Counter[str] = Counter()
    for lexicon in lexicons:
        for token, n in zip(lexicon.tokens(), lexicon.counts.tolist(), strict=False):
            totals[token] += n
    return dict(totals)


def _with_language(cleaning: Cleaning, token_totals: Mapping[str, int]) -> Cleaning:
    """The cleaning with the language of the text in place of stop_words="auto"."""
    if cleaning.stop_words != "auto":
        return cleaning
    lowered = token_totals if cleaning.lowercase else {token.lower(): n for token, n in token_totals.items()}
    return replace(cleaning, stop_words=detected_language(lowered))


def _word_totals(cleaning: Cleaning, token_totals: Mapping[str, int]) -> Counter[str]:
    """How often each word was seen."""
    cleaner = Cleaner(cleaning)
    words = cleaner.words(cleaner.forms(token_totals))
    totals: Counter[str] = Counter()
    for word, n in zip(words, token_totals.values(), strict=True):
        if word is not None:
            totals[word] += n
    return totals


def _min_count(cleaning: Cleaning) -> int:
    return 1 if cleaning.open_vocabulary else int(cleaning.min_count)


def _token_and_document_counts(store: TokenStore, words: tuple[str, ...], cleaning: Cleaning) -> tuple[Any, Any]:
    """For each word, (the number of its tokens, the number of documents that contain it)."""
    recipe = Recipe(words, cleaning)
    tokens, documents = np.zeros(len(words), np.int64), np.zeros(len(words), np.int64)
    for batch in store:
        counts, _ = recipe.counts(batch)
        tokens += np.bincount(counts.indices, counts.data, minlength=len(words)).astype(np.int64)
        documents += np.bincount(counts.indices, minlength=len(words))
    return tokens, documents


def _frequent_ngrams(store: TokenStore, words: list[str], cleaning: Cleaning) -> dict[str, int]:
    """The n-grams that are seen often enough, with their counts; if the cleaning asks for phrases, only phrases.

    An n-gram is found only if its first n - 1 words are a frequent n-gram. So the n-grams of n words are counted in
    the n-th pass over the tokens.
    """
    numbers = WordNumbers(tuple(words), cleaning)
    min_count = max(_min_count(cleaning), MIN_PHRASE_COUNT if cleaning.phrases else 1)
    found: dict[str, int] = {}
    for n in range(2, (2 if cleaning.phrases else cleaning.ngrams) + 1):
        shorter = Ngrams([*words, *found], numbers.parts, numbers.numbers)
        codes, word_counts = _count_ngrams(store, numbers, shorter, n)
        code, count = codes.at_least(min_count)
        left, right = code // max(1, len(words)), code % max(1, len(words))
        if cleaning.phrases and code.size:
            kept = are_phrases(count, word_counts[left], word_counts[right], int(word_counts.sum()))
            left, right, count = left[kept], right[kept], count[kept]
        pairs = zip(left.tolist(), right.tolist(), count.tolist(), strict=True)
        found |= {f"{shorter.names[u]} {words[v]}": c for u, v, c in pairs}
    return found


def _count_ngrams(store: TokenStore, numbers: WordNumbers, shorter: Ngrams, n: int) -> tuple[CodeCounts, Any]:
    """(counts of all n-grams of n words whose beginning is in `shorter`, counts of single words).

    The code of an n-gram is (number of its beginning in `shorter`) x (number of words) + (number of its last word).
    """
    codes = CodeCounts()
    counts = np.zeros(numbers.n_words + 1, np.int64)  # at 0: tokens that are left out
    for batch in store:
        words = numbers.of(batch.lexicon, batch.ids)
        documents = np.repeat(np.arange(batch.lengths.size), batch.lengths)
        *_, (document, beginning) = shorter.by_length(words, batch.lengths, n - 1)
        left, right = beginning[: max(0, words.size - n + 1)], words[n - 1 :]
        inside = (document[: left.size] == documents[n - 1 :]) & (left >= 0) & (right >= 0)
        codes.add(left[inside] * numbers.n_words + right[inside])
        counts += np.bincount(words + 1, minlength=counts.size)
    return codes, counts[1:]
