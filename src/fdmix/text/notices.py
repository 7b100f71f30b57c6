"""Warn about a text that was read: tokens too long to be words, languages written without spaces."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from fdmix.kernels.tokens import LONGEST_TOKEN, letters_by_script
from fdmix.text.lexicon import END_OF_LETTERS, Lexicon

log = logging.getLogger("fdmix")
MIN_SHARE_OF_LETTERS = 0.1  # a language with a smaller share appears only in quotations
MIN_KANA_SHARE = 0.1  # with more kana than this per Chinese character, a text is Japanese
MAX_MEAN_LETTERS = {"Chinese": 3.5, "Japanese": 3.5}  # letters per token; longer tokens are whole phrases
MAX_MEAN_LETTERS_ALPHABETIC = 8.0  # the same for the other languages
SCRIPTS: dict[str, tuple[tuple[int, int], ...]] = {  # ranges of code points: first, end
    "Thai": ((0x0E00, 0x0E80),),
    "Lao": ((0x0E80, 0x0F00),),
    "Burmese": ((0x1000, 0x10A0), (0xA9E0, 0xAA00), (0xAA60, 0xAA80)),
    "Khmer": ((0x1780, 0x1800), (0x19E0, 0x1A00)),
    "Japanese": ((0x3040, 0x3100), (0x31F0, 0x3200), (0xFF66, 0xFFA0)),  # kana; Japanese also uses Chinese characters
    "Chinese": ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, END_OF_LETTERS)),
}
TOKENIZERS = {  # the package to install, and the code that makes a tokenizer
    "Thai": ("pythainlp", "from pythainlp import word_tokenize as tokenizer"),
    "Lao": ("laonlp", "from laonlp import word_tokenize as tokenizer"),
    "Burmese": ("pyidaungsu", "import pyidaungsu\ntokenizer = lambda text: pyidaungsu.tokenize(text, form='word')"),
    "Khmer": ("khmer-nltk", "from khmernltk import word_tokenize as tokenizer"),
    "Japanese": (
        "'fugashi[unidic-lite]'",
        "import fugashi\ntagger = fugashi.Tagger()\ntokenizer = lambda text: [word.surface for word in tagger(text)]",
    ),
    "Chinese": ("jieba", "from jieba import lcut as tokenizer"),
}


def with_notices(batches: Iterable[Any]) -> Iterator[Any]:
    """The same batches of tokens; after the last one, warnings about their text are logged."""
    lexicons: dict[int, Lexicon] = {}
    for batch in batches:
        lexicons[id(batch.lexicon)] = batch.lexicon
        yield batch
    log_notices(lexicons.values())


def log_notices(lexicons: Iterable[Lexicon]) -> None:
    """Log warnings about the text of these lexicons."""
    lexicons = list(lexicons)
    if n := sum(lexicon.n_too_long for lexicon in lexicons):
        tokens, were = ("token", "was") if n == 1 else ("tokens", "were")
        log.warning(
            f"{n:,} {tokens} of more than {LONGEST_TOKEN} characters {were} left out: they are data, or a "
            "language written without spaces."
        )
    for language, share in unspaced(lexicons).items():
        package, code = TOKENIZERS[language]
        lines = (f"pip install {package}", *code.splitlines(), "corpus = read_corpus(..., tokenizer=tokenizer)")
        log.warning(
            f"{share:.0%} of the letters are {language}, which is written without spaces between words, so whole "
            "phrases were taken for words. Cut the text into words with a tokenizer, in Python:\n    "
            + "\n    ".join(lines)
        )


def unspaced(lexicons: Iterable[Lexicon]) -> dict[str, float]:
    """The languages written without spaces that a text contains, with the share of all letters that each has.

    Languages with a small share are left out. So are languages with short tokens: a tokenizer has cut their text.
    """
    letters, tokens = np.zeros(len(SCRIPTS) + 1, np.int64), np.zeros(len(SCRIPTS) + 1, np.int64)
    for lexicon in lexicons:
        if lexicon.cleaning.tokenizer is None and not lexicon.cleaning.drop_non_ascii:
            arrays = (lexicon.pool, lexicon.starts, lexicon.counts, lexicon.size)
            letters_by_script(*arrays, _script_numbers(), letters, tokens)
    total = max(1, int(letters.sum()))
    found = {name: (n, t) for name, n, t in zip(SCRIPTS, letters[1:].tolist(), tokens[1:].tolist(), strict=True)}
    if found["Japanese"][0] > MIN_KANA_SHARE * found["Chinese"][0]:
        both = found["Japanese"], found.pop("Chinese")
        found["Japanese"] = (sum(n for n, _ in both), sum(t for _, t in both))
    return {
        name: n / total
        for name, (n, t) in found.items()
        if n >= MIN_SHARE_OF_LETTERS * total and n > MAX_MEAN_LETTERS.get(name, MAX_MEAN_LETTERS_ALPHABETIC) * t
    }


@cache
def _script_numbers() -> Any:
    """For each code point, the number of its script in SCRIPTS, counted from 1; 0 for other scripts."""
    numbers = np.zeros(END_OF_LETTERS, np.uint8)
    for number, ranges in enumerate(SCRIPTS.values(), start=1):
        for first, end in ranges:
            numbers[first:end] = number
    return numbers
