"""Tokens: how long they may be, and scripts without spaces."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmix import Cleaning, Moments, read_corpus, read_moments
from fdmix.kernels.tokens import LONGEST_TOKEN
from fdmix.text.batches import Batch
from fdmix.text.lexicon import Lexicon
from fdmix.text.notices import unspaced
from fdmix.text.words import WordNumbers

PLAIN = {"preset": "plain"}
CHINESE = "我爱北京天安门，今天天气很好，我们去公园散步。"
JAPANESE = "猫が鼠を追いかける。鼠は家の中に逃げた。"
THAI = "แมวไล่จับหนูในบ้านของเรา วันนี้อากาศดีมาก"
LAO = "ພາສາລາວໃນປັດຈຸບັນ"
KHMER = "ខ្ញុំស្រឡាញ់ភាសាខ្មែរ"
BURMESE = "ကျွန်တော်ကျောင်းသွားသည်"


@pytest.mark.parametrize("letter", ["x", "é", "क", "𝒙"])
@pytest.mark.parametrize("tokenizer", [None, str.split])
def test_tokens_over_200_characters_are_left_out(letter, tokenizer, caplog):
    fits, too_long = letter * LONGEST_TOKEN, letter * (LONGEST_TOKEN + 1)
    texts = [f"one {fits} two", f"one {too_long} two {too_long}"]
    corpus = read_corpus(texts, tokenizer=tokenizer, **PLAIN)
    assert corpus.vocabulary == tuple(sorted(["one", "two", fits]))
    assert corpus.lengths.tolist() == [3, 2]
    assert "2 tokens of more than 200 characters were left out" in caplog.text
    caplog.clear()
    assert read_moments(texts, tokenizer=tokenizer, **PLAIN) == Moments.of(corpus)
    assert caplog.text.count("2 tokens") == 1
    caplog.clear()
    read_corpus(texts, like=corpus, tokenizer=tokenizer)
    assert caplog.text.count("2 tokens") == 1
    caplog.clear()
    read_corpus(texts[:1], tokenizer=tokenizer, **PLAIN)
    assert not caplog.records


def test_a_token_of_many_megabytes_is_not_stored():
    lexicon = Lexicon(Cleaning())
    text = "one " + "x" * 20_000_000 + " two"
    lexicon.read(Batch.of([text, text]))
    assert lexicon.tokens() == ["one", "", "two"]
    assert lexicon.n_too_long == 2
    assert sum(array.nbytes for array in (lexicon.pool, lexicon.starts, lexicon.slots)) < 1_000_000


def test_a_token_too_long_keeps_its_neighbours_apart():
    corpus = read_corpus(["one two " + "x" * 300 + " three"], ngrams=2, **PLAIN)
    assert corpus.vocabulary == ("one", "one two", "three", "two")


@given(st.lists(st.lists(st.sampled_from(["a", "bb", "x" * 201, "é" * 150, "y" * 200]), max_size=9), max_size=30))
@settings(max_examples=30)
def test_room_may_run_out_anywhere(documents):
    """A lexicon that starts with almost no room gives the same numbers as one with plenty."""
    batch = Batch.of([" ".join(document) for document in documents])
    roomy, cramped = Lexicon(Cleaning()), Lexicon(Cleaning())
    cramped.pool, cramped.starts = np.zeros(1, np.uint8), np.zeros(2, np.int64)
    cramped.hashes, cramped.counts = np.zeros(1, np.uint64), np.zeros(1, np.int64)
    cramped.slots = np.full(2, -1, np.int32)
    for ours, theirs in zip(cramped.read(batch), roomy.read(batch), strict=True):
        assert ours.tolist() == theirs.tolist()
    assert cramped.tokens() == roomy.tokens()
    assert cramped.n_too_long == roomy.n_too_long == sum(document.count("x" * 201) for document in documents)
    again = Lexicon.restored(Cleaning(), roomy.arrays())
    assert again.n_too_long == roomy.n_too_long


def read(texts, **cleaning):
    lexicon = Lexicon(Cleaning(**cleaning))
    lexicon.read(Batch.of(texts))
    return [lexicon]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("Chinese", CHINESE),
        ("Japanese", JAPANESE),
        ("Thai", THAI),
        ("Lao", LAO),
        ("Khmer", KHMER),
        ("Burmese", BURMESE),
    ],
)
def test_languages_without_spaces_give_a_warning(language, text, caplog):
    english = "words of english have blanks between them. "
    assert unspaced(read([text])) == {language: 1}
    assert list(unspaced(read([text] * 10 + [english] * 10))) == [language]
    assert unspaced(read([text] + [english] * 20)) == {}  # a quotation
    assert unspaced(read([text], drop_non_ascii=True)) == {}
    read_corpus([text] * 3, tokenizer=list, min_letters=1)
    assert not caplog.records
    read_corpus([text] * 3)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert language in caplog.text
    assert "pip install" in caplog.text
    assert "read_corpus(..., tokenizer=tokenizer)" in caplog.text


def test_text_that_was_cut_into_words_needs_no_tokenizer():
    assert unspaced(read(["我 爱 北京 天安门 今天天气 很 好"])) == {}
    assert unspaced(read(["猫 が 鼠 を 追いかける"])) == {}
    assert unspaced(read(["แมว ไล่ จับ หนู ใน บ้าน"])) == {}
    assert unspaced(read(["한국어는 띄어쓰기를 합니다", "हिन्दी में शब्द", "по-русски тоже"])) == {}


def test_words_of_one_lexicon_are_not_those_of_the_next():
    """A new lexicon often has the address of one that is gone; its tokens must still be its own."""
    numbers = WordNumbers(("cat", "dog"), Cleaning())
    for text, expected in (("cat dog", [0, 1]), ("dog cat", [1, 0]), ("cow cat", [-1, 0])) * 20:
        lexicon = Lexicon(Cleaning())
        ids, _ = lexicon.read(Batch.of([text]))
        assert numbers.of(lexicon, ids).tolist() == expected
        del lexicon
