"""What a user should know about a text that was read: tokens too long to be words, scripts without spaces."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from fdmix.kernels.tokens import LONGEST_TOKEN, letters_by_script
from fdmix.text.lexicon import LAST_LETTER, Lexicon

log = logging.getLogger("fdmix")
NOTICEABLE = 0.1  # of all letters
LONGEST_MEAN = {"Chinese": 3.5, "Japanese": 3.5}  # letters a word, in text that was cut into words
ALPHABETIC_MEAN = 8.0  # the same for the other scripts
SCRIPTS: dict[str, tuple[tuple[int, int], ...]] = {  # code points from, up to
    "Thai": ((0x0E00, 0x0E80),),
    "Lao": ((0x0E80, 0x0F00),),
    "Burmese": ((0x1000, 0x10A0), (0xA9E0, 0xAA00), (0xAA60, 0xAA80)),
    "Khmer": ((0x1780, 0x1800), (0x19E0, 0x1A00)),
    "Japanese": ((0x3040, 0x3100), (0x31F0, 0x3200), (0xFF66, 0xFFA0)),  # kana; its other letters are Chinese
    "Chinese": ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, LAST_LETTER)),
}
TOKENIZERS = {  # what to install, and Python that makes a tokenizer of it
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


def watched(batches: Iterable[Any]) -> Iterator[Any]:
    """The same batches of tokens; what is to be said about their lexicons is logged after the last of them."""
    lexicons: dict[int, Lexicon] = {}
    for batch in batches:
        lexicons[id(batch.lexicon)] = batch.lexicon
        yield batch
    notice(lexicons.values())


def notice(lexicons: Iterable[Lexicon]) -> None:
    """Log what a user should know about the text of these lexicons."""
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
    """The share of all letters that each language has whose words are not separated in this text.

    Languages with a small share are left out; so is text that was cut by a tokenizer before, which short tokens show.
    """
    letters, tokens = np.zeros(len(SCRIPTS) + 1, np.int64), np.zeros(len(SCRIPTS) + 1, np.int64)
    for lexicon in lexicons:
        if lexicon.cleaning.tokenizer is None and not lexicon.cleaning.drop_non_ascii:
            arrays = (lexicon.pool, lexicon.starts, lexicon.counts, lexicon.size)
            letters_by_script(*arrays, _script_of(), letters, tokens)
    total = max(1, int(letters.sum()))
    found = {name: (n, t) for name, n, t in zip(SCRIPTS, letters[1:].tolist(), tokens[1:].tolist(), strict=True)}
    if found["Japanese"][0] > 0.1 * found["Chinese"][0]:  # the kana are Japanese only; both use the other characters
        both = found["Japanese"], found.pop("Chinese")
        found["Japanese"] = (sum(n for n, _ in both), sum(t for _, t in both))
    return {
        name: n / total
        for name, (n, t) in found.items()
        if n >= NOTICEABLE * total and n > LONGEST_MEAN.get(name, ALPHABETIC_MEAN) * t
    }


@cache
def _script_of() -> Any:
    """The number of each code point's script, from 1 on; 0 for all others."""
    numbers = np.zeros(LAST_LETTER, np.uint8)
    for number, ranges in enumerate(SCRIPTS.values(), start=1):
        for first, end in ranges:
            numbers[first:end] = number
    return numbers
