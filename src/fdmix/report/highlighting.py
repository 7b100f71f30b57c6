"""Find the tokens of a document in its raw text, and mark those that speak for a topic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from fdmix.corpus.preparation import Cleaning
from fdmix.text.batches import Batch
from fdmix.text.lexicon import Lexicon
from fdmix.text.recipe import Recipe

URL = re.compile(r"(?:https?://|www\.)[^\s]*", re.IGNORECASE)
MENTION = re.compile(r"(?<!\w)@\w+")
ENTITY = re.compile(r"&#?\w{1,8};")
MAX_CHARACTERS = 700  # of a passage that is shown
LEAD_IN = 120  # characters before the first marked token of a passage from the middle of a document

Span = tuple[int, int]


class Highlighter:
    """Says which parts of a text speak for a topic; texts are cut and cleaned as the model's text was."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.lexicon = Lexicon(recipe.cleaning)
        self.reach = 2 if recipe.cleaning.phrases else recipe.cleaning.ngrams

    def words_of(self, text: str) -> tuple[list[Span], list[list[int]]]:
        """(where each token is in the text, the columns of the words that it is or that it is part of)."""
        ids, lengths = self.lexicon.read(Batch.of([text]))
        known = self.lexicon.tokens()
        spans = list(_spans(text, [known[i] for i in ids.tolist()], self.recipe.cleaning))
        numbers = self.recipe.words.of(self.lexicon, ids)
        columns: list[list[int]] = [[] for _ in spans]
        if self.recipe.ngrams is None:
            for place, number in enumerate(numbers.tolist()):
                columns[place] += [number] if number >= 0 else []
            return spans, columns
        for reach, (_, found) in enumerate(self.recipe.ngrams.by_length(numbers, lengths, self.reach)):
            for place in np.flatnonzero(found >= 0).tolist():
                column = int(self.recipe.ngrams.columns[found[place]])
                for part in range(place, place + reach + 1 if column >= 0 else place):
                    columns[part].append(column)
        return spans, columns

    def marked(self, text: str, speaks: Any) -> list[Span]:
        """Where the tokens are whose word u has speaks[u]; neighbours with a blank between them are joined."""
        spans, columns = self.words_of(text)
        found = [
            span for span, words in zip(spans, columns, strict=True) if span[1] and any(speaks[u] for u in words)
        ]
        joined: list[Span] = []
        for begin, end in found:
            if joined and text[joined[-1][1] : begin] in ("", " "):
                joined[-1] = joined[-1][0], end
            else:
                joined.append((begin, end))
        return joined


def passage(text: str, marks: list[Span], most: int = MAX_CHARACTERS) -> tuple[str, list[Span]]:
    """The part of a text that holds most marks, and where the marks are in it; "…" stands for what is left out.

    >>> passage("a cat and a dog", [(2, 5)])
    ('a cat and a dog', [(2, 5)])
    """
    if len(text) <= most:
        return text, marks
    begins = [0, *(max(0, begin - LEAD_IN) for begin, _ in marks)]
    inside = [sum(begin <= a and b <= begin + most for a, b in marks) for begin in begins]
    begin = begins[inside.index(max(inside))]
    begin = text.rfind(" ", 0, begin) + 1 if begin else 0
    end = min(begin + most, len(text))
    shown, before = text[begin:end], "… " if begin else ""
    kept = [(a - begin + len(before), b - begin + len(before)) for a, b in marks if begin <= a and b <= end]
    return before + shown + (" …" if end < len(text) else ""), kept


def _spans(text: str, tokens: list[str], cleaning: Cleaning) -> Iterator[Span]:
    """Where each token is in the text: tokens stand there in their order; (0, 0) for one that is not found."""
    folded = _without_dropped(_lowered(text) if cleaning.lowercase else text, cleaning)
    at = 0
    for token in tokens:
        sought = _lowered(token) if cleaning.lowercase else token
        begin = _find_run(folded, sought, at) if cleaning.tokenizer is None else folded.find(sought, at)
        if begin < 0 or not sought:
            yield 0, 0
            continue
        at = begin + len(sought)
        yield begin, at


def _lowered(text: str) -> str:
    """ASCII capitals as small letters: the text keeps its length."""
    return re.sub("[A-Z]+", lambda found: found[0].lower(), text)


def _without_dropped(text: str, cleaning: Cleaning) -> str:
    """Blanks in place of URLs, mentions and entities, so that no token is found inside them."""
    for pattern, is_dropped in (
        (URL, cleaning.drop_urls),
        (MENTION, cleaning.drop_mentions),
        (ENTITY, cleaning.drop_entities),
    ):
        if is_dropped and cleaning.tokenizer is None:
            text = pattern.sub(lambda found: " " * len(found[0]), text)
    return text


def _find_run(text: str, token: str, at: int) -> int:
    """Where the token stands as a whole run of letters, from `at` on; where it merely begins, if there is none."""
    begin = first = text.find(token, at)
    while begin >= 0:
        end = begin + len(token)
        if not _is_word(text[begin - 1 : begin]) and not _is_word(text[end : end + 1]):
            return begin
        begin = text.find(token, begin + 1)
    return first


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()


def segments(text: str, marks: list[Span]) -> list[str]:
    """The text in pieces, in turn not marked and marked; the first piece may be empty.

    >>> segments("a cat sat", [(2, 5)])
    ['a ', 'cat', ' sat']
    """
    edges = [0, *(edge for mark in marks for edge in mark), len(text)]
    return [text[a:b] for a, b in pairwise(edges)]
