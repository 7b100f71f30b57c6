"""Leave out the most common words, and clean text as in the paper."""

import numpy as np
import pytest

from fdmix import Corpus, Mixture, Moments, fit_mixture, read_corpus
from fdmix.text import PRESETS, Cleaning, read_moments

PLAIN = {"preset": "plain"}
TEXTS = ["a a a b b c", "a b d d", "a e f"]  # a 5, b 3, d 2, c e f 1


def test_the_most_common_words_are_left_out_first():
    assert read_corpus(TEXTS, **PLAIN, drop_most_common=1).vocabulary == ("b", "c", "d", "e", "f")
    assert read_corpus(TEXTS, **PLAIN, drop_most_common=3).vocabulary == ("c", "e", "f")
    assert read_corpus(TEXTS, **PLAIN, drop_most_common=1, max_words=2).vocabulary == ("b", "d")
    assert read_corpus(TEXTS, **PLAIN, drop_most_common=1, max_share=0.5).vocabulary == ("c", "d", "e", "f")
    assert read_corpus(TEXTS, **PLAIN, drop_most_common=4).vocabulary == ("e", "f")  # ties by name
    kept = read_corpus(TEXTS, **PLAIN, drop_most_common=1, min_tokens=3)
    assert kept.documents["document"].tolist() == [0, 1]  # a document's tokens are those that are left


def test_common_words_are_counted_as_stems_and_phrases():
    texts = ["learn learned learning cat", "cat learns dog", "dog cow"]
    assert read_corpus(texts, **PLAIN, stem="english", drop_most_common=1).vocabulary == ("cat", "cow", "dog")
    texts = ["new york city"] * 6 + ["city town", "city house", "town house"] * 3
    assert "new york" in read_corpus(texts, **PLAIN, phrases=True).vocabulary
    assert read_corpus(texts, **PLAIN, phrases=True, drop_most_common=1).vocabulary == ("house", "new york", "town")


def test_an_open_vocabulary_leaves_them_out_when_it_is_pruned():
    whole = read_moments(TEXTS, **PLAIN, open_vocabulary=True, drop_most_common=1)
    assert whole.vocabulary == tuple("abcdef")
    pruned = whole.prune()
    assert pruned.vocabulary == ("b", "c", "d", "e", "f")
    assert pruned.preparation.cleaning.drop_most_common == 1
    assert pruned.prune(min_count=2).vocabulary == ("b", "d")  # nothing common is left out a second time
    again = pruned.prune(drop_most_common=1)
    assert again.vocabulary == ("c", "d", "e", "f")
    assert again.preparation.cleaning.drop_most_common == 2
    plain = Moments.of(Corpus(np.array([[3, 1, 0], [2, 1, 1]]), ["x", "y", "z"]))
    assert plain.prune(drop_most_common=1).vocabulary == ("y", "z")


def test_a_model_reads_new_text_alike(tmp_path):
    texts = ["common cat dog", "common dog cow", "common cat cow"] * 20
    corpus = read_corpus(texts, **PLAIN, drop_most_common=1)
    mixture = fit_mixture(Moments.of(corpus), 2).mixture
    mixture.save(tmp_path / "model")
    loaded = Mixture.load(tmp_path / "model")
    assert loaded.preparation.cleaning.drop_most_common == 1
    new = read_corpus(["common cat cat cat"], like=loaded)
    assert new.n_tokens == 3
    assert new.vocabulary == ("cat", "cow", "dog")


def test_moments_without_different_numbers_of_common_words_are_not_added():
    a, b = (read_moments(TEXTS, **PLAIN, drop_most_common=n) for n in (1, 2))
    with pytest.raises(ValueError, match=r"prepared differently \(drop_most_common\)"):
        a + b
    assert (a + a).n_documents == 6


@pytest.mark.parametrize("wrong", [-1, 1.5, True, None])
def test_a_wrong_number_is_refused(wrong):
    with pytest.raises(ValueError, match="drop_most_common must be a whole number from 0 upwards"):
        Cleaning(drop_most_common=wrong)


def test_a_count_below_one_belongs_to_each_document():
    texts = ["a b"] * 6 + ["a c"] * 4
    corpus = read_corpus(texts, **PLAIN | {"min_count": 0.45})
    assert corpus.vocabulary == ("a", "b")
    assert corpus.preparation.cleaning.min_count == 5
    assert Cleaning(min_count=0.5).min_count == 0.5
    for wrong in (0.0, 1.5, -0.5, float("nan")):
        with pytest.raises(ValueError, match="min_count"):
            Cleaning(min_count=wrong)


def test_the_paper_cleans_papers():
    cleaning = PRESETS["paper-papers"]
    assert (cleaning.min_count, cleaning.min_tokens, cleaning.max_words, cleaning.max_share) == (50, 0, None, 1.0)
    corpus = read_corpus(["Networks of 3 networks, deeply"] * 49 + ["A network alone"], preset="paper-papers")
    assert corpus.vocabulary == ("network",)  # "deepli" has 49 tokens
    assert corpus.n_documents == 50


def test_the_paper_cleans_tweets():
    """Numbers, non-ASCII, mentions, URLs, stop words, short tokens, 200 common tokens, rare and short ones go."""
    common = [f"x{chr(97 + i // 26)}{chr(97 + i % 26)}x" for i in range(200)]
    tweet = "@bob I am voting, café 2020 ok http://t.co/x voters health schools budgets"
    corpus = read_corpus([*[" ".join(common)] * 3, tweet, "vote health"], preset="paper-tweets")
    assert corpus.vocabulary == ("budget", "health", "school", "vote", "voter")
    assert corpus.documents["document"].tolist() == [3]  # at least 4 tokens are left
    assert corpus.preparation.cleaning.min_count == 1  # 1,000 of 16 million, scaled to 5 tweets
