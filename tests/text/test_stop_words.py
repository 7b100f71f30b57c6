"""Stop words that are added to a language's list."""

import json

import pytest

from fdmix import Cleaning, Moments, read_corpus, read_moments


def test_stop_words_are_added_to_a_list(tmp_path):
    texts = ["RT the cat amp the dog", "the house amp rt the cat"]
    for added in (["rt", "AMP"], ("amp", "rt"), "rt,amp", " rt, amp ", "rt amp"):
        assert read_corpus(texts, stop_words="english", add_stop_words=added).vocabulary == ("cat", "dog", "house")
    automatic = read_corpus(texts, add_stop_words=["rt", "amp"])
    assert automatic.vocabulary == ("cat", "dog", "house")
    assert automatic.preparation.cleaning.stop_words == "english"
    assert read_corpus(texts, preset="tweets", min_tokens=1, add_stop_words="dog").vocabulary == (
        "amp",
        "cat",
        "hous",
    )
    only = read_corpus(texts, stop_words=None, add_stop_words=["rt"]).vocabulary
    assert only == ("amp", "cat", "dog", "house", "the")
    (tmp_path / "more.txt").write_text("rt, amp # of tweets\n")
    for path in (tmp_path / "more.txt", str(tmp_path / "more.txt")):
        assert read_corpus(texts, stop_words="english", add_stop_words=path).vocabulary == ("cat", "dog", "house")
    for missing in (tmp_path / "none.txt", "none.txt", "lists/none"):
        with pytest.raises(ValueError, match="there is no file"):
            read_corpus(texts, add_stop_words=missing)
    with pytest.raises(TypeError, match="must be strings"):
        read_corpus(texts, add_stop_words=[1])
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(ValueError, match="not a list of stop words"):
        read_corpus(texts, stop_words=tmp_path / "binary.txt")


def test_added_stop_words_are_saved_with_the_cleaning(tmp_path):
    texts = ["rt the cat amp the dog", "the house amp rt the cat"]
    moments = read_moments(texts, add_stop_words=["rt", "amp"])
    moments.save(tmp_path / "m")
    again = Moments.load(tmp_path / "m").preparation.cleaning
    assert again == moments.preparation.cleaning
    assert again.add_stop_words == ("amp", "rt")
    assert read_moments(texts, like=moments) == moments
    with pytest.raises(ValueError, match=r"prepared differently \(add_stop_words\)"):
        moments + read_moments(texts)
    facts = json.loads(json.dumps(Cleaning(stop_words="english").facts()))
    del facts["add_stop_words"]  # as in files of versions without this step
    assert Cleaning.from_facts(facts) == Cleaning(stop_words="english")
    assert Cleaning.from_facts(facts).treats_like(Cleaning(stop_words="english"))
