"""Word vectors from pairs and from files, and the coherence that they give."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fdmix import Corpus, Moments
from fdmix.metrics import WordVectors, embedding_coherence, read_word_vectors, word_vectors

LINES = "ant 1 0\nbee 0 2\nice cream 1 1\nbee 5 5\n"


def animals_and_money(n_documents=300, seed=0):
    rng = np.random.default_rng(seed)
    groups = [["ant", "bee", "cat", "dog"], ["bank", "coin", "debt", "euro"]]
    documents = [rng.choice(groups[d % 2], 6).tolist() for d in range(n_documents)]
    return Corpus.from_documents(documents)


def test_words_of_a_theme_are_close():
    vectors = word_vectors(animals_and_money(), 2)
    good, mixed = embedding_coherence([["ant", "bee", "cat"], ["ant", "bank", "bee", "coin"]], vectors).topics
    assert good > 0.95
    assert mixed < 0.6


def test_moments_and_documents_give_the_same_vectors():
    corpus = animals_and_money()
    first, second = word_vectors(corpus, 3), word_vectors(Moments.of(corpus), 3)
    assert first.vocabulary == second.vocabulary
    assert_allclose(first.vectors, second.vectors)


def test_similarities_are_those_of_the_dense_matrix():
    """With all dimensions but one, U S U' is (X X')^1/2 of the positive information X, up to the smallest part."""
    corpus = animals_and_money()
    moments = Moments.of(corpus)
    p, m = moments.unigram, moments.matrix.toarray()
    q = p**0.75 / (p**0.75).sum()
    with np.errstate(divide="ignore"):
        information = np.maximum(np.log(m / np.outer(p, q)), 0)
    left, strength, _ = np.linalg.svd(information)
    expected = left[:, :7] * np.sqrt(strength[:7])
    found = word_vectors(moments, 7).vectors
    assert_allclose(found @ found.T, expected @ expected.T, atol=1e-8)


def test_known_cosines():
    vectors = WordVectors(("a", "b", "c", "zero"), [[1, 0], [1, 1], [0, 3], [0, 0]])
    found = embedding_coherence([["a", "b", "c"], ["a", "c"], ["a", "zero"], ["a", "unknown", "b"]], vectors).topics
    half = np.sqrt(0.5)
    assert_allclose(found, [2 * half / 3, 0, np.nan, half], atol=1e-12)


@pytest.mark.parametrize("header", ["", "4 2\n"])
@pytest.mark.parametrize("compressed", [False, True])
def test_files_of_word2vec_and_glove(tmp_path, header, compressed):
    path = tmp_path / "vectors.txt"
    text = (header + LINES).encode()
    path.write_bytes(gzip.compress(text) if compressed else text)
    found = read_word_vectors(path)
    assert found.vocabulary == ("ant", "bee", "ice cream")
    assert_allclose(found.vectors, [[1, 0], [0, 2], [1, 1]])  # the first of two vectors counts
    assert read_word_vectors(path, ["bee", "zebra"]).vocabulary == ("bee",)


def test_files_that_are_no_vectors(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("ant 1 0\nthis is prose\n")
    with pytest.raises(ValueError, match=r"line 2 of .*text.txt is not a word and 2 numbers"):
        read_word_vectors(path)
    path.write_text("")
    with pytest.raises(ValueError, match="has no vector"):
        read_word_vectors(path)


def test_sentences_about_what_is_missing():
    with pytest.raises(ValueError, match="no topic has two words that have a vector"):
        embedding_coherence([["x", "y"]], WordVectors(("a",), [[1.0]]))
    with pytest.raises(ValueError, match="names of the words"):
        word_vectors(Corpus([[1, 1], [2, 0]]))
    with pytest.raises(ValueError, match="do not know their words"):
        embedding_coherence([[0.5, 0.5]], WordVectors(("a",), [[1.0]]))
