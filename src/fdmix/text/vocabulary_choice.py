"""Choose the words to count: frequent enough, not too common, and phrases or n-grams if the user wants them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from fdmix.corpus.preparation import Cleaning, least_count
from fdmix.text.lexicon import Lexicon
from fdmix.text.ngrams import MIN_PHRASE_COUNT, are_phrases
from fdmix.text.recipe import Recipe
from fdmix.text.statistics import NgramQuestion, StoredText, TextStatistics, WordQuestion, token_totals
from fdmix.text.stop_words import detected_language
from fdmix.text.token_store import TokenStore
from fdmix.text.words import Cleaner


def chosen_recipe(store: TokenStore) -> Recipe:
    """The recipe that counts the words chosen from stored tokens."""
    return chosen_words(StoredText(store))


def chosen_words(text: TextStatistics) -> Recipe:
    """The recipe that counts the words chosen from a text, by the rules of its cleaning.

    An open vocabulary has every word.
    """
    seen = text.token_totals()
    cleaning = _with_language(text.cleaning, seen)
    if not cleaning.open_vocabulary:
        cleaning = replace(cleaning, min_count=least_count(cleaning.min_count, text.n_documents))
    totals = dict(_word_totals(cleaning, seen))
    words = sorted(word for word, n in totals.items() if n >= _min_count(cleaning))
    if cleaning.phrases or cleaning.ngrams > 1:
        ngrams = _frequent_ngrams(text, words, cleaning)
        totals |= ngrams
        words = sorted([*words, *ngrams])
    if cleaning.open_vocabulary:
        return Recipe(tuple(words), cleaning)
    every = words
    if cleaning.max_share < 1 or cleaning.phrases:  # a token in a phrase no longer counts as a word by itself
        tokens, documents = text.ask(WordQuestion(tuple(words), cleaning))
        totals = dict(zip(words, tokens.tolist(), strict=True))
        most, least = cleaning.max_share * text.n_documents, _min_count(cleaning)
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
    seen = token_totals(lexicons)
    return _word_totals(_with_language(cleaning, seen), seen)


def _with_language(cleaning: Cleaning, seen: Mapping[str, int]) -> Cleaning:
    """The cleaning with the language of the text in place of stop_words="auto"."""
    if cleaning.stop_words != "auto":
        return cleaning
    lowered: Mapping[str, int] = seen
    if not cleaning.lowercase:
        lowered = folded = Counter[str]()
        for token, n in seen.items():
            folded[token.lower()] += n
    return replace(cleaning, stop_words=detected_language(lowered))


def _word_totals(cleaning: Cleaning, seen: Mapping[str, int]) -> Counter[str]:
    """How often each word was seen."""
    cleaner = Cleaner(cleaning)
    words = cleaner.words(cleaner.forms(seen))
    totals: Counter[str] = Counter()
    for word, n in zip(words, seen.values(), strict=True):
        if word is not None:
            totals[word] += n
    return totals


def _min_count(cleaning: Cleaning) -> int:
    return 1 if cleaning.open_vocabulary else int(cleaning.min_count)


def _frequent_ngrams(text: TextStatistics, words: list[str], cleaning: Cleaning) -> dict[str, int]:
    """The n-grams that are seen often enough, with their counts; if the cleaning asks for phrases, only phrases.

    An n-gram is found only if its first n - 1 words are a frequent n-gram. So the n-grams of n words are counted in
    the n-th pass over the tokens.
    """
    min_count = max(_min_count(cleaning), MIN_PHRASE_COUNT if cleaning.phrases else 1)
    found: dict[str, int] = {}
    for n in range(2, (2 if cleaning.phrases else cleaning.ngrams) + 1):
        question = NgramQuestion(tuple(words), tuple(found), cleaning, n)
        totals = text.ask(question)
        code, count = totals.codes.at_least(min_count)
        left, right = code // max(1, len(words)), code % max(1, len(words))
        if cleaning.phrases and code.size:
            kept = are_phrases(count, totals.words[left], totals.words[right], int(totals.words.sum()))
            left, right, count = left[kept], right[kept], count[kept]
        beginnings = question.names()
        pairs = zip(left.tolist(), right.tolist(), count.tolist(), strict=True)
        found |= {f"{beginnings[u]} {words[v]}": c for u, v, c in pairs}
    return found
