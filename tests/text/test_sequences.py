"""Text as words in their order: the same words and documents that are counted."""

import numpy as np
import pytest

from fdmix import Corpus, Mixture, read_corpus
from fdmix.text.sequences import read_sequences

TEXTS = ["The cat sat on the mat.", "", "Dogs chase cats, cats chase mice!", "mat", "New York is not old York"]


@pytest.mark.parametrize(
    "steps", [{}, {"stem": "english"}, {"stop_words": "english"}, {"min_tokens": 2}, {"min_count": 2}]
)
def test_sequences_have_the_counted_words(steps):
    corpus = read_corpus(TEXTS, **steps)
    sequences = read_sequences(TEXTS, corpus)
    again = Corpus.from_documents(sequences, corpus.vocabulary)
    assert (again.counts != corpus.counts).nnz == 0


def test_words_are_in_the_order_of_the_text():
    corpus = read_corpus(TEXTS, stop_words="english")
    assert list(read_sequences(TEXTS, corpus))[2] == ["dogs", "chase", "cats", "cats", "chase", "mice"]


def test_phrases_are_one_word():
    texts = ["new york taxi"] * 20 + ["old taxi", "green dog"] * 20
    corpus = read_corpus(texts, phrases=True)
    assert "new york" in corpus.vocabulary
    assert next(iter(read_sequences(texts, corpus))) == ["new york", "taxi"]


def test_ngrams_are_left_out():
    texts = ["red apple pie"] * 5
    corpus = read_corpus(texts, ngrams=2)
    assert "red apple" in corpus.vocabulary
    assert next(iter(read_sequences(texts, corpus))) == ["red", "apple", "pie"]


def test_large_texts_in_batches(tmp_path):
    path = tmp_path / "lines.txt"
    rng = np.random.default_rng(0)
    lines = [" ".join(f"word{u}" for u in rng.integers(0, 50, rng.integers(0, 30))) for _ in range(40_000)]
    path.write_text("\n".join(lines))
    corpus = read_corpus(path)
    sequences = read_sequences(path, corpus)
    assert [" ".join(words) for words in sequences][:200] == lines[:200]
    assert len(sequences) == corpus.n_documents


def test_unknown_cleaning_is_refused():
    with pytest.raises(ValueError, match="does not know how its text was cleaned"):
        read_sequences(TEXTS, Mixture([[0.5, 0.5]], vocabulary=["cat", "mat"]))
