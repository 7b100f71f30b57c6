"""Text of unknown origin, made safe for terminals, spreadsheets and JSON."""

import json
import unicodedata

import pytest
from hostile import HOSTILE_WORDS
from hypothesis import given
from hypothesis import strategies as st

from fdmix.display import for_csv, for_json, for_terminal, shown_word, shown_words, storable

any_text = st.text(st.characters(codec=None, exclude_categories=()))  # lone surrogates, too


REORDERING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
INVISIBLE = "\u00ad\u061c\u200b\u200e\u200f\u2060\ufeff"


def is_dangerous(character):
    """Controls, what cannot be encoded, line separators, what reorders text, what cannot be seen."""
    if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
        return True
    return unicodedata.bidirectional(character) in REORDERING or character in INVISIBLE


@given(any_text)
def test_nothing_dangerous_reaches_a_terminal(text):
    shown = for_terminal(text)
    assert not any(is_dangerous(c) for c in shown)
    assert for_terminal(shown) == shown
    shown.encode("utf-8")


@pytest.mark.parametrize("word", HOSTILE_WORDS)
def test_hostile_words_are_written_out(word):
    assert not any(is_dangerous(c) for c in for_terminal(word))
    assert not any(is_dangerous(c) for c in shown_word(word))
    assert len(shown_word(word)) <= 60
    assert shown_word(word).strip()


def test_what_is_written_out_can_be_read():
    assert for_terminal("\x1b[31m\x9b\u202e\x00\x7f\udc80") == r"\x1b[31m\x9b\u202e\x00\x7f\udc80"
    assert for_terminal("a\nb\tc\r") == r"a\nb\tc\r"
    assert for_terminal("a\nb\tc\r", lines=True) == "a\nb\tc\\r"


@pytest.mark.parametrize(
    "word", ["größe", "中文", "שלום", "می\u200cخواهم", "👩\u200d💻", "C:\\x", "a\u00a0b", "[/bold]"]
)
def test_ordinary_words_of_any_language_stay(word):
    assert for_terminal(word) == for_csv(word) == word
    assert json.loads(for_json(word)) == word


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+A1", "-A1", "@sum(1)", "\t=1", "\r=1", " =1", "\u00a0=1", "\ufeff=1", "＝1", "-1+1", "=", "--help"],
)
def test_formulas_become_text(cell):
    assert for_csv(cell).startswith("'")
    assert for_csv(cell)[1:].lstrip("\\r\t") == for_csv(cell.lstrip("\r\t"))[1:]


@pytest.mark.parametrize(
    "cell", [-1, -1.5, None, True, "-1", "+1", "-1.5", "-1,234.5", "-1e-5", "+49 30 1234", "-5%", "a=1", ""]
)
def test_numbers_stay_numbers(cell):
    assert for_csv(cell) is cell


@given(any_text)
def test_no_cell_is_a_formula_or_steers_a_terminal(text):
    cell = for_csv(text)
    assert not cell.startswith(("=", "@", "\t", "\r"))
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in cell.replace("\n", "").replace("\t", ""))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner) | st.dictionaries(any_text, inner),
)


@given(values)
def test_json_loses_nothing(value):
    text = for_json(value)
    assert json.loads(text) == value
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text)


def test_json_has_no_nan():
    assert for_json([float("nan"), {"a": (float("inf"), 1.5)}]) == '[null, {"a": [null, 1.5]}]'


@given(any_text)
def test_storable_text_is_utf8(text):
    storable(text).encode("utf-8")


def test_one_sees_where_phrases_end():
    assert shown_words([["supreme court", "impeachment"], ["tax"]]) == ["supreme court · impeachment", "tax"]
    assert shown_words([["court", "impeachment"]]) == ["court impeachment"]
