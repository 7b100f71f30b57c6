"""What a corpus accepts, refuses and keeps."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from fdmix import Corpus, Moments

TABLE = np.array([[2, 1, 0], [0, 1, 1], [0, 0, 0], [4, 0, 1]])
WORDS = ("ant", "bee", "cat")


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        np.ndarray.tolist,
        np.asmatrix,
        sp.csr_matrix,
        sp.csc_matrix,
        sp.coo_array,
        sp.lil_array,
        sp.csr_array,
        lambda table: sp.csr_array(table).astype(np.uint8),
        lambda table: table.astype(np.float32),
        lambda table: sp.csc_array(table.astype(np.float64)),
        lambda table: table.astype(object),
        lambda table: table.astype(np.uint64),
        lambda table: table.astype(">i4"),
        lambda table: sp.coo_array(table.astype(np.uint8)),
        np.asfortranarray,
    ],
)
def test_every_form_of_counts_gives_the_same_corpus(form):
    corpus = Corpus(form(TABLE), WORDS)
    assert corpus.counts.format == "csr"
    assert corpus.counts.dtype == np.int32
    np.testing.assert_array_equal(corpus.counts.toarray(), TABLE)
    assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == (4, 3, 10)
    assert corpus.lengths.tolist() == [3, 2, 0, 5]


def test_unsorted_duplicate_and_zero_entries_are_put_in_order_without_changing_the_input():
    untidy = sp.csr_array((np.array([1.0, 2.0, 0.0, 1.0]), [2, 0, 1, 2], [0, 4]), shape=(1, 3))
    before = untidy.indices.copy(), untidy.data.copy()
    corpus = Corpus(untidy)
    assert corpus.counts.indices.tolist() == [0, 2]
    assert corpus.counts.data.tolist() == [2, 2]
    np.testing.assert_array_equal(untidy.indices, before[0])
    np.testing.assert_array_equal(untidy.data, before[1])


@pytest.mark.parametrize("words", [list(WORDS), np.array(WORDS), np.array(WORDS, dtype=object), iter(WORDS)])
def test_vocabulary_as_sequence(words):
    assert Corpus(TABLE, words).vocabulary == WORDS


def test_vocabulary_as_mapping_either_way():
    assert Corpus(TABLE, {"cat": 2, "ant": 0, "bee": 1}).vocabulary == WORDS
    assert Corpus(TABLE, {1: "bee", 0: "ant", 2: "cat"}).vocabulary == WORDS


@pytest.mark.parametrize(
    ("counts", "words", "error", "message"),
    [
        ([[0.5, 1.0]], None, ValueError, "use CountVectorizer"),
        (sp.csr_array([[0.5, 1.0]]), None, ValueError, "tf-idf"),
        ([[1, -1]], None, ValueError, "negative"),
        ([[1, float("nan")]], None, ValueError, "NaN"),
        (sp.csr_array([[1, float("inf")]]), None, ValueError, "infinite"),
        ([[1, 2], [3]], None, ValueError, "ragged"),
        ([1, 2, 3], None, ValueError, "1 dimension"),
        (np.zeros((2, 2, 2)), None, ValueError, "3 dimensions"),
        ([["ant", "bee"]], None, TypeError, "from_documents"),
        ("ant bee", None, TypeError, "not text"),
        ([[1 + 2j]], None, TypeError, "complex"),
        (np.array([[1]], "m8[s]"), None, TypeError, "numbers"),
        (np.array([["1", "2"]], object), None, TypeError, "numbers"),
        (np.ma.array([[1, 2]], mask=[[0, 1]]), None, TypeError, "masked"),
        (sp.coo_array((np.array([3, -1]), ([0, 0], [0, 0])), shape=(1, 2)), None, ValueError, "negative"),
        (TABLE, {"ant", "bee", "cat"}, TypeError, "order"),
        ([[2**40]], None, ValueError, "larger than"),
        (TABLE, ["ant", "bee"], ValueError, "2 words but the counts have 3 columns"),
        (TABLE, ["ant", "bee", "ant"], ValueError, "repeats 1 words .'ant'"),
        (TABLE, ["ant", "bee", 3], TypeError, "word 2 is 3"),
        (TABLE, "abc", TypeError, "single string"),
        (TABLE, ["ant", "bee", "\ud800"], ValueError, "Unicode"),
        (TABLE, {"ant": 0, "bee": 1, "cat": 5}, ValueError, "without gaps"),
    ],
)
def test_bad_input_is_refused_in_plain_words(counts, words, error, message):
    with pytest.raises(error, match=message):
        Corpus(counts, words)


def test_broken_sparse_structure_is_refused():
    broken = sp.csr_array(TABLE)
    broken.indices[0] = 99
    with pytest.raises(ValueError, match="damaged"):
        Corpus(broken)


def test_a_corpus_cannot_be_changed():
    with pytest.raises(AttributeError):
        Corpus(TABLE, WORDS).vocabulary = ("a", "b", "c")


def test_slicing_by_documents():
    corpus = Corpus(TABLE, WORDS)
    for chosen in (slice(1, 3), [3, 0], np.array([True, False, False, True]), 2):
        np.testing.assert_array_equal(corpus[chosen].counts.toarray(), np.atleast_2d(TABLE[chosen]))
        assert corpus[chosen].vocabulary == WORDS
    with pytest.raises(TypeError, match="documents only"):
        corpus[1, 2]


def test_split_is_a_partition_that_depends_on_the_seed_only():
    corpus = Corpus(np.arange(100)[:, None])
    train, held = corpus.split(0.2, seed=3)
    assert (len(train), len(held)) == (80, 20)
    both = np.concatenate([train.counts.toarray(), held.counts.toarray()]).ravel()
    assert sorted(both) == list(range(100))
    again = corpus.split(0.2, seed=3)[1]
    other = corpus.split(0.2, seed=4)[1]
    assert (held.counts != again.counts).nnz == 0
    assert (held.counts != other.counts).nnz > 0
    for share in (0, 1, -0.1, 0.001):
        with pytest.raises(ValueError, match="holdout"):
            corpus.split(share)


def test_rename():
    corpus = Corpus(TABLE, WORDS)
    assert corpus.rename({"ant": "emu"}).vocabulary == ("emu", "bee", "cat")
    with pytest.raises(ValueError, match="merge_words"):
        corpus.rename({"ant": "bee"})
    with pytest.raises(ValueError, match="not in the vocabulary"):
        corpus.rename({"dog": "bee"})
    with pytest.raises(ValueError, match="no vocabulary"):
        Corpus(TABLE).rename({"ant": "bee"})


def test_from_documents_counts_tokens():
    corpus = Corpus.from_documents([["b", "a", "b"], [], ("c",), iter(["a"])])
    assert corpus.vocabulary == ("a", "b", "c")
    np.testing.assert_array_equal(corpus.counts.toarray(), [[1, 2, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]])
    fixed = Corpus.from_documents([["b", "a", "b", "z"]], vocabulary=["b", "a"])
    np.testing.assert_array_equal(fixed.counts.toarray(), [[2, 1]])
    with pytest.raises(TypeError, match=r"document 1 is a string.*split"):
        Corpus.from_documents([["a"], "a b"])
    with pytest.raises(TypeError, match="tokens must be strings"):
        Corpus.from_documents([["a", 3]])
    assert Corpus.from_documents([]).n_documents == 0


def test_from_bags_reads_gensims_form():
    dictionary = SimpleNamespace(token2id={"ant": 0, "bee": 1, "cat": 2})
    bags = [[(0, 2), (1, 1)], [(1, 1), (2, 1)], [], [(2, 1), (0, 4)]]
    for words in (WORDS, {0: "ant", 1: "bee", 2: "cat"}, dictionary):
        corpus = Corpus.from_bags(bags, words)
        np.testing.assert_array_equal(corpus.counts.toarray(), TABLE)
        assert corpus.vocabulary == WORDS
    assert Corpus.from_bags(bags).n_words == 3
    assert Corpus.from_bags(bags, n_words=7).n_words == 7
    for bad, message in (
        ([[(5, 1)]], "outside a vocabulary"),
        ([[(0, 0.5)]], "whole token counts"),
        ([[(0.5, 1)]], "word ids"),
        ([[(-1, 1)]], "word ids"),
        ([[(0, 1, 2)]], "pairs"),
        ([[(0, 1, 2), (3, 4, 5)]], "pairs"),
        ([[(0, 1), (3, 4, 5)]], "pairs"),
        ([[0, 1]], "pairs"),
        ([["ant"]], "pairs"),
        ([[("0", "2")]], "pairs"),
    ):
        with pytest.raises(ValueError, match=message):
            Corpus.from_bags(bad, WORDS)
    with pytest.raises(ValueError, match="contradicts"):
        Corpus.from_bags(bags, WORDS, n_words=7)
    assert Corpus.from_bags([{0: 2, 1: 1}]).counts.toarray().tolist() == [[2, 1]]


def test_repr_says_the_sizes():
    assert repr(Corpus(TABLE, WORDS)) == "Corpus(4 documents, 3 words, 10 tokens)"


def test_duplicates_are_added_up_without_overflow():
    twice = sp.coo_array((np.array([200, 100], np.uint8), ([0, 0], [0, 0])), shape=(1, 2))
    assert Corpus(twice).counts.toarray().tolist() == [[300, 0]]
    large = np.iinfo(np.int32).max
    wraps = sp.csr_array((np.array([large, large, 5]), [0, 0, 0], [0, 3]), shape=(1, 2))
    with pytest.raises(ValueError, match="larger than"):
        Corpus(wraps)


def test_damaged_coordinates_are_refused():
    damaged = sp.coo_array(TABLE)
    damaged.coords[0][:] = 5000
    with pytest.raises(ValueError, match="damaged"):
        Corpus(damaged)


def test_a_corpus_does_not_change_with_what_it_was_made_from():
    table = sp.csr_array(TABLE.astype(np.int32))
    corpus = Corpus(table)
    table.data[:] = 9
    table.indices[:] = 2
    np.testing.assert_array_equal(corpus.counts.toarray(), TABLE)
    for array in (corpus.counts.data, corpus.counts.indices, corpus.lengths, corpus[1:].counts.data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 3


def test_documents_must_be_token_lists():
    with pytest.raises(TypeError, match="from_bags"):
        Corpus.from_documents([{"a": 3}])
    with pytest.raises(TypeError, match="documents only"):
        Corpus(TABLE)[[0.0, 1.0]]


def test_more_columns_than_fit_into_32_bits():
    """Numbers of columns wrapped: column 2^31 + 5 became column -2^31 + 5."""
    for width in (2**31, 2**33 + 6):
        wide = sp.coo_array((np.ones(2, int), (np.zeros(2, int), np.array([5, width - 1]))), shape=(1, width))
        for counts in (wide, sp.csr_array(wide)):
            with pytest.raises(ValueError, match="columns, more than the 2,147,483,647"):
                Corpus(counts)
        with pytest.raises(ValueError, match="columns, more than the 2,147,483,647"):
            Corpus.from_bags([[(width - 1, 2)]])
    with pytest.raises(ValueError, match="columns, more than"):
        Corpus.from_bags([[(2**63, 2)]])


def test_half_precision():
    """float16 holds whole numbers up to 2,048, and 65,504 at most; SciPy does not take it."""
    half = np.array([[2, 0, 2048], [0, 1, 60_000]], np.float16)
    assert (Corpus(half).counts.toarray() == half).all()
    stored = sp.csr_array(half.astype(float))
    stored.data = stored.data.astype(np.float16)
    assert (Corpus(stored).counts.toarray() == half).all()
    for wrong, message in (([[0.5]], "whole token counts"), ([[-1]], "negative"), ([[np.inf]], "infinite")):
        with pytest.raises(ValueError, match=message):
            Corpus(np.array(wrong, np.float16))
    assert Moments.of(half, weights=np.array([3, 2], np.float16)).n_documents == 5
