"""The moments are the paper's estimate, exactly, however the corpus is cut up."""

import copy
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import fdmix.moments.blocks
import fdmix.moments.pair_counting
import fdmix.moments.pair_rows
import fdmix.moments.pair_sums
from fdmix import Corpus, Moments, worlds
from fdmix.moments.blocks import blocks_of
from fdmix.moments.full_matrix import rearranged, symmetric
from fdmix.moments.pair_counting import count_pairs, count_slowly
from fdmix.moments.pair_sums import PairSums
from fdmix.moments.weighting import WEIGHTINGS

N_WORDS = 6
WORDS = tuple("abcdef")
documents = st.lists(st.lists(st.integers(0, N_WORDS - 1), max_size=12), min_size=1, max_size=12)
some_pairs = documents.filter(lambda docs: any(len(doc) >= 2 for doc in docs))


def table(docs):
    counts = np.zeros((len(docs), N_WORDS), dtype=int)
    for row, doc in zip(counts, docs, strict=True):
        np.add.at(row, doc, 1)
    return counts


def of(docs, **options):
    return Moments.of(table(docs), WORDS, **options)


def pairs_by_hand(docs, weight):
    """Mhat by its definition: every ordered pair of different tokens of a document, in exact fractions."""
    used = [doc for doc in docs if len(doc) >= 2]
    mhat = [[Fraction(0)] * N_WORDS for _ in range(N_WORDS)]
    total = sum(weight(len(doc)) for doc in used)
    for doc in used:
        for u, v in permutations(doc, 2):
            mhat[u][v] += Fraction(weight(len(doc)), len(doc) * (len(doc) - 1) * total)
    return np.array([[float(x) for x in row] for row in mhat])


@given(some_pairs)
def test_moments_are_the_definition(docs):
    for weighting, weight in (("tokens", lambda length: length - 1), ("paper", lambda length: 1)):
        mhat = of(docs, weighting=weighting).matrix.toarray()
        np.testing.assert_allclose(mhat, pairs_by_hand(docs, weight), rtol=1e-13, atol=1e-15)


def test_weightings_agree_where_documents_have_one_length():
    corpus = worlds.intervals().sample(300, length=9, seed=2)
    paper, tokens = (Moments.of(corpus, weighting=name) for name in ("paper", "tokens"))
    np.testing.assert_allclose(paper.matrix.toarray(), tokens.matrix.toarray(), rtol=1e-13)


def test_weightings_are_not_mixed():
    paper, tokens = (of([[0, 1, 2], [1, 2]], weighting=name) for name in ("paper", "tokens"))
    assert paper != tokens
    assert paper.checksum() != tokens.checksum()
    with pytest.raises(ValueError, match="same weighting"):
        paper + tokens
    with pytest.raises(ValueError, match="same weighting"):
        paper - tokens
    with pytest.raises(ValueError, match=r"'tokens'.*'paper'"):
        of([[0, 1]], weighting="length")


@given(documents)
def test_tallies_are_the_definition(docs):
    moments = of(docs)
    used = [doc for doc in docs if len(doc) >= 2]
    assert (moments.n_documents, moments.n_skipped) == (len(used), len(docs) - len(used))
    tokens = Counter(word for doc in used for word in doc)
    holders = Counter(word for doc in used for word in set(doc))
    assert moments.word_counts.tolist() == [tokens[word] for word in range(N_WORDS)]
    assert moments.document_frequencies.tolist() == [holders[word] for word in range(N_WORDS)]
    assert moments.n_tokens == tokens.total()


@given(some_pairs)
def test_matrix_is_a_symmetric_distribution(docs):
    moments = of(docs)
    matrix = moments.matrix
    assert matrix.format == "csr"
    assert matrix.dtype == np.float64
    assert matrix.has_sorted_indices
    assert (matrix != matrix.T).nnz == 0
    assert matrix.data.min() > 0
    assert matrix.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(moments.unigram, matrix.sum(axis=1), atol=1e-12)


@given(documents, st.integers(1, 4))
def test_fast_and_slow_counts_agree_to_the_bit(docs, n_threads):
    counts = Corpus(table(docs)).counts
    weight = np.arange(1, len(docs) + 1) * 1_000_003
    fast = count_pairs(counts, weight, n_threads)
    slow = count_slowly(counts, weight)
    assert fast == slow


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_wide_vocabularies_and_large_counts_agree_with_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    counts = sp.random_array((40, 700), density=0.1, rng=rng, format="csr")
    counts.data = rng.integers(1, rng.choice([3, 300, 70_000]), counts.nnz)
    counts = Corpus(counts).counts
    weight = rng.integers(1, 1000, 40)
    assert count_pairs(counts, weight) == count_slowly(counts, weight)


@given(some_pairs, st.randoms(use_true_random=False), st.integers(1, 5), st.sampled_from([0, 3]))
def test_any_shards_in_any_order_give_the_same_bits(docs, random, n_shards, folds):
    whole = of(docs, folds=folds)
    shuffled = random.sample(docs, len(docs))
    shards = [shuffled[k::n_shards] for k in range(n_shards)]
    parts = [of(shard, folds=folds, n_threads=random.choice([1, 2, 3])) for shard in shards if shard]
    assert sum(parts) == whole
    removed = whole
    for part in parts[1:]:
        removed = removed - part
    assert removed == parts[0]
    assert Moments.of(iter([Corpus(table(shard), WORDS) for shard in shards if shard]), folds=folds) == whole


def test_the_size_of_blocks_and_panels_does_not_matter(monkeypatch):
    corpus = worlds.intervals().sample(500, length=11, seed=5)
    whole = Moments.of(corpus)
    monkeypatch.setattr(fdmix.moments.pair_sums, "PANEL_ENTRIES", 50)
    monkeypatch.setattr(fdmix.moments.pair_counting, "PANEL_ENTRIES", 50)
    monkeypatch.setattr(fdmix.moments.pair_rows, "UNTOUCHED_ENTRIES", 10)
    assert Moments.of(corpus) == whole
    monkeypatch.setattr(fdmix.moments.pair_counting, "INDEX_ENTRIES", 100)
    assert Moments.of(corpus) == whole
    monkeypatch.setattr(fdmix.moments.blocks, "BLOCK_ENTRIES", 300)
    assert Moments.of(corpus) == whole
    small = {name: replace(rule, block=70) for name, rule in WEIGHTINGS.items()}
    monkeypatch.setattr(fdmix.moments.blocks, "WEIGHTINGS", small)
    assert Moments.of(corpus, n_threads=3) == whole
    assert Moments.of(corpus[k : k + 3] for k in range(0, 500, 3)) == whole


def test_short_documents_have_exact_weights_and_long_ones_nearly():
    """Weights are whole up to 24 tokens (paper: 30); longer ones are off by 1 / (2 unit) a pair."""
    paper, tokens = WEIGHTINGS["paper"], WEIGHTINGS["tokens"]
    assert all(paper.unit % (length * (length - 1)) == 0 for length in range(2, 31))
    assert all(tokens.unit % length == 0 for length in range(1, 25))
    short, long = [1, 1, 0, 0], [0, 0, 2_500, 2_500]
    mass = Moments.of([short, long], weighting="paper").matrix.toarray()[2:, 2:].sum()
    assert mass == pytest.approx(0.5, rel=5000**2 / paper.unit)
    mass = Moments.of([short, long]).matrix.toarray()[:2, :2].sum()
    assert mass == pytest.approx(1 / 5000, rel=5000 / tokens.unit)


def test_longest_document():
    half = fdmix.moments.blocks.LONGEST_DOCUMENT // 2
    matrix = Moments.of([[half, half]]).matrix.toarray()
    np.testing.assert_allclose(matrix, 0.25, rtol=2e-5)
    with pytest.raises(ValueError, match=r"200,001 tokens.*paragraphs"):
        Moments.of([[half, half + 1]])


@given(some_pairs, st.lists(st.integers(0, 5), min_size=12, max_size=12))
def test_a_weight_counts_a_document_several_times(docs, weights):
    weights = weights[: len(docs)]
    weighted = of(docs, weights=weights)
    repeated = [doc for doc, weight in zip(docs, weights, strict=True) for _ in range(weight)]
    assert weighted == (of(repeated) if repeated else of(docs) - of(docs))


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1], ValueError, "one per document"),
        ([1, 0.5], ValueError, "whole numbers"),
        ([1, -1], ValueError, "whole numbers"),
        ([1, np.nan], ValueError, "NaN"),
        (["a", "b"], ValueError, "numbers"),
        ([1, 10**10], OverflowError, "weight"),
    ],
)
def test_bad_weights(weights, error, message):
    with pytest.raises(error, match=message):
        Moments.of([[1, 1], [2, 0]], weights=weights)
    with pytest.raises(ValueError, match="stream"):
        Moments.of(iter([np.ones((1, 2), int)]), weights=[1])


def test_overflow_is_an_error_and_never_a_wrong_number():
    for weighting, largest in (("paper", 2_900_000), ("tokens", 1_450_000_000)):
        one_word = Moments.of([[2]], weights=[largest], weighting=weighting)
        with pytest.raises(OverflowError, match="64-bit"):
            one_word + one_word
        two_words = Moments.of([[1, 1]], ["a", "b"], weights=[largest], weighting=weighting)
        with pytest.raises(OverflowError, match="64-bit"):
            (two_words + two_words).merge_words({"a": "b"})


def test_a_weight_that_would_overflow_within_a_block_is_refused():
    """100,000 tokens count 99,999 times, so few copies fit; the limit is told, and one less works."""
    with pytest.raises(OverflowError, match=r"larger than 15,000"):
        Moments.of([[100_000]], weights=[15_001])
    assert Moments.of([[100_000]], weights=[15_000]).pairs.sums[0] > 0


def test_total_is_right_beyond_64_bits():
    part = Moments.of(np.eye(6, dtype=int) * 2, weights=[1_000_000_000] * 6)
    assert part.pairs.total() == 6_000_000_000 * WEIGHTINGS["tokens"].unit > 2**63
    np.testing.assert_allclose(part.matrix.toarray(), np.eye(6) / 6)
    np.testing.assert_allclose(part.unigram, 1 / 6)


def test_subtracting_what_was_never_part_is_refused():
    some = of([[0, 1, 2], [3, 4]])
    with pytest.raises(ValueError, match="not all part"):
        some - of([[0, 1], [2, 3, 4]])
    with pytest.raises(ValueError, match="never counted: 'z'"):
        some - Moments.of([[1, 1]], ["a", "z"])
    with pytest.raises(ValueError, match="not all part"):
        of([[0, 1]]) - of([[0, 1], [0, 1]])
    with pytest.raises(ValueError, match="negative"):
        of([[0, 1]]) - of([[0]])
    removed = some - Moments.of([[1, 1, 0]], ["e", "d", "unused"])
    assert removed == of([[0, 1, 2]])


@given(documents, documents)
def test_vocabularies_are_united_by_word(left, right):
    a = Moments.of(table(left), WORDS)
    b = Moments.of(table(right), ("c", "x", "a", "y", "z", "b"))
    united = a + b
    assert united == b + a
    assert united.vocabulary == tuple("abcdefxyz")
    moved = np.zeros((len(right), 9), int)
    moved[:, [2, 6, 0, 7, 8, 1]] = table(right)
    together = np.vstack([np.pad(table(left), ((0, 0), (0, 3))), moved])
    assert united == Moments.of(together, tuple("abcdefxyz"))


def test_moments_that_cannot_be_matched_are_refused():
    with pytest.raises(ValueError, match="without vocabularies"):
        Moments.of([[1, 1]]) + Moments.of([[1, 1, 1]])
    with pytest.raises(ValueError, match="has none"):
        Moments.of([[1, 1]]) + Moments.of([[1, 1]], ["a", "b"])
    with pytest.raises(ValueError, match="folds"):
        Moments.of([[1, 1]], folds=2) + Moments.of([[1, 1]])
    with pytest.raises(TypeError):
        Moments.of([[1, 1]]) + 1


@given(some_pairs, st.lists(st.integers(0, N_WORDS - 1), min_size=N_WORDS, max_size=N_WORDS))
def test_merging_words_is_exactly_counting_them_as_one(docs, target):
    names = {WORDS[u]: WORDS[t].upper() for u, t in enumerate(target)}
    merged = of(docs, folds=3).merge_words(names)
    kept = tuple(dict.fromkeys(names.values()))
    recounted = Moments.of(Corpus.from_documents([[names[WORDS[u]] for u in doc] for doc in docs], kept))
    assert merged.vocabulary == kept
    assert merged.pairs == recounted.pairs
    np.testing.assert_array_equal(merged.word_counts, recounted.word_counts)
    assert merged.n_documents == recounted.n_documents
    assert sum(fold.n_documents for fold in merged.folds) == merged.n_documents
    assert sum(merged.folds).pairs == merged.pairs


def test_merge_words_refuses_nonsense():
    moments = of([[0, 1, 2]])
    assert moments.merge_words({"a": "a"}) == moments
    assert moments.merge_words({"a": "b"}).vocabulary == ("b", "c", "d", "e", "f")
    with pytest.raises(ValueError, match="not in the vocabulary of 6 words: 'colour'"):
        moments.merge_words({"colour": "a"})
    with pytest.raises(ValueError, match="'b' cannot both"):
        moments.merge_words({"a": "b", "b": "c"})
    with pytest.raises(ValueError, match="no vocabulary"):
        Moments.of([[1, 1]]).merge_words({"a": "b"})


@given(some_pairs, st.sets(st.sampled_from(WORDS), max_size=5))
def test_dropping_words_cuts_rows_and_columns(docs, gone):
    whole = of(docs)
    left = whole.drop_words(gone)
    kept = [u for u, word in enumerate(WORDS) if word not in gone]
    assert left.vocabulary == tuple(WORDS[u] for u in kept)
    expected = symmetric(whole.pairs).toarray()[np.ix_(kept, kept)]
    np.testing.assert_array_equal(symmetric(left.pairs).toarray(), expected)
    np.testing.assert_array_equal(left.word_counts, whole.word_counts[kept])


def test_restrict_keeps_the_given_order_and_top_the_frequent_words():
    moments = of([[0, 1, 1, 2], [2, 2, 3], [5, 2]])
    back = moments.restrict(["c", "b", "a"])
    assert back.vocabulary == ("c", "b", "a")
    assert back.word_counts.tolist() == [4, 2, 1]
    assert moments.top(2).vocabulary == ("b", "c")
    assert moments.top(100) == moments
    nameless = Moments.of(table([[0, 1, 1, 2], [2, 2, 3]])).top(2)
    assert nameless.n_words == 2
    for bad in (
        lambda: moments.top(0),
        lambda: moments.restrict(["a", "z"]),
        lambda: moments.restrict(["a", "a"]),
        lambda: moments.drop_words(["z"]),
    ):
        with pytest.raises(ValueError, match=r"z|repeats|at least one"):
            bad()
    with pytest.raises(TypeError, match="single string"):
        moments.drop_words("a")


@given(some_pairs)
def test_folds_add_up_and_copies_share_a_fold(docs):
    moments = of(docs + docs, folds=4)
    assert len(moments.folds) == 4
    plain = of(docs + docs, held_out=False)
    assert sum(moments.folds) == plain
    assert moments.without_fold(1) + moments.folds[1] == plain
    assert all(fold.n_documents % 2 == 0 for fold in moments.folds)


def test_folds_are_about_equal_and_depend_on_words_not_on_positions():
    corpus = worlds.intervals().sample(4000, length=10, seed=2)
    words = [f"w{u}" for u in range(100)]
    folded = Moments.of(corpus.counts, words, folds=10)
    assert all(300 < fold.n_documents < 500 for fold in folded.folds)
    order = np.random.default_rng(0).permutation(100)
    moved = Moments.of(corpus.counts[:, order], [words[u] for u in order], folds=10)
    assert moved.restrict(words) == folded
    with pytest.raises(ValueError, match="keep no folds"):
        Moments.of(corpus).without_fold(0)
    with pytest.raises(ValueError, match="folds must be"):
        Moments.of(corpus, folds=1)


def test_the_estimate_is_unbiased():
    """Documents of three tokens from a known mixture: the mean of Mhat over many corpora is M."""
    world = worlds.World(np.array([[0.7, 0.2, 0.1, 0.0], [0.0, 0.1, 0.3, 0.6]]), np.array([0.4, 0.8]))
    moments = Moments.of(world.sample(400_000, length=3, seed=11))
    deviation = moments.matrix.toarray() - world.mixture.pair_matrix()
    standard_error = np.sqrt(world.mixture.pair_matrix() / 400_000)
    assert (abs(deviation) < 5 * standard_error + 1e-9).all()


def test_the_papers_picture():
    world = worlds.intervals()
    matrix = Moments.of(world.sample(50_000, length=30, seed=4)).matrix.toarray()
    assert abs(matrix - world.mixture.pair_matrix()).sum() < 0.02
    assert matrix[:29, :29].mean() > 2 * matrix[:29, 75:].mean()


def test_streams_tables_and_corpora_are_told_apart():
    counts = table([[0, 1, 2], [3, 3]])
    whole = Moments.of(counts)
    assert Moments.of(sp.csr_array(counts)) == whole
    assert Moments.of(counts.tolist()) == whole
    assert Moments.of([counts[:1], counts[1:]]) == whole
    assert Moments.of(sp.csr_array(part) for part in (counts[:1], counts[1:])) == whole
    assert Moments.of(Corpus(counts)) == whole
    assert Moments.of(Corpus(counts, WORDS)).vocabulary == WORDS
    with pytest.raises(ValueError, match="no counts"):
        Moments.of(iter([]))
    with pytest.raises(ValueError, match="columns"):
        Moments.of(iter([np.ones((1, 2), int), np.ones((1, 3), int)]))
    with pytest.raises(ValueError, match="tf-idf"):
        Moments.of(counts * 0.3)
    with pytest.raises(ValueError, match="0 dimensions"):
        Moments.of(3)
    with pytest.raises(ValueError, match="vocabulary already"):
        Moments.of(Corpus(counts, WORDS), list("ghijkl"))
    assert Moments.of(Corpus(counts), WORDS).vocabulary == WORDS
    with pytest.raises(TypeError, match="not text"):
        Moments.of("text")


def test_nothing_to_count_is_fine_until_a_matrix_is_asked_for():
    empty = Moments.of(np.zeros((0, 3), int))
    assert empty.n_documents == 0
    single = Moments.of([[1, 0, 0]])
    assert (single.n_documents, single.n_skipped) == (0, 1)
    assert single + empty == single
    for moments in (empty, single):
        with pytest.raises(ValueError, match="no word pair"):
            _ = moments.matrix
        with pytest.raises(ValueError, match="no word pair"):
            _ = moments.unigram


def test_estimate_knows_size_and_work_beforehand():
    corpus = worlds.intervals().sample(2000, length=20, seed=1)
    estimate = Moments.estimate(corpus)
    moments = Moments.of(corpus)
    assert estimate.pairs == moments.n_pairs
    distinct = np.diff(corpus.counts.indptr)
    assert estimate.updates == (distinct * (distinct + 1) // 2).sum()
    assert "word pairs" in str(estimate)


def test_estimate_of_a_large_vocabulary_is_close():
    rng = np.random.default_rng(3)
    words = np.minimum(rng.zipf(1.3, (20_000, 15)) - 1, 4999)
    counts = sp.csr_array(
        (np.ones(words.size, int), words.ravel(), np.arange(0, words.size + 1, 15)), shape=(20_000, 5000)
    )
    assert Moments.estimate(counts).pairs == pytest.approx(Moments.of(counts).n_pairs, rel=0.1)


def test_what_cannot_fit_is_refused_before_counting():
    corpus = worlds.intervals().sample(2000, length=20, seed=1)
    with pytest.raises(MemoryError, match=r"about .* for 5,0\d\d word pairs.*fewer words"):
        Moments.of(corpus, memory_limit=10_000)
    assert Moments.of(corpus, memory_limit=10_000_000).n_documents == 2000


def test_bad_thread_counts():
    with pytest.raises(ValueError, match="n_threads"):
        Moments.of([[1, 1]], n_threads=0)


def test_moments_cannot_be_changed():
    moments = of([[0, 1, 2]])
    with pytest.raises(AttributeError):
        moments.n_documents = 3
    for array in (moments.pairs.sums, moments.pairs.columns, moments.word_counts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_repr_and_nbytes():
    moments = of([[0, 1, 2], [1]], folds=2)
    assert repr(moments) == "Moments(1 documents, 6 words, 3 pairs; 1 skipped; 2 folds)"
    assert moments.nbytes > moments.pairs.nbytes


def test_a_reader_that_uses_its_buffer_again_is_safe():
    buffer = sp.csr_array(np.ones((1, 3), np.int32))

    def reader():
        for row in ([5, 1, 1], [1, 5, 1], [1, 1, 5]):
            buffer.data[:] = row
            yield buffer

    assert Moments.of(reader()).word_counts.tolist() == [7, 7, 7]


def test_streams_of_documents_instead_of_tables_are_refused():
    with pytest.raises(TypeError, match="from_bags"):
        Moments.of(iter([[(0, 2), (2, 1)], [(1, 1), (2, 5)]]))


def test_many_tiny_chunks_are_counted_together():
    """One by one, every chunk would add up the whole sum again: quadratic time."""
    row = Corpus([[1, 1, 0, 1]], ["a", "b", "c", "d"])
    assert len(list(blocks_of((row for _ in range(20_000)), "tokens"))) == 1
    assert Moments.of(row for _ in range(20_000)) == Moments.of(row, weights=[20_000])


def test_a_large_vocabulary_costs_little_by_itself():
    wide = sp.csr_array((np.ones(3, int), ([0, 0, 0], [5, 7, 499_999])), shape=(1, 500_000))
    moments = Moments.of(wide)
    assert moments.n_pairs == 3
    assert moments.nbytes < 2 * 30 * 500_000  # row starts and tallies, twice; a dense row takes eight bytes a pair


@given(some_pairs, some_pairs)
def test_editing_words_and_adding_shards_commute(left, right):
    names = {"a": "b", "e": "f"}
    a, b = of(left, folds=3), of(right, folds=3)
    assert a.merge_words(names) + b.merge_words(names) == (a + b).merge_words(names)
    assert (a + b).merge_words(names) - b.merge_words(names) == a.merge_words(names)


def test_folds_of_unlike_edits_are_not_mixed():
    a, b = of([[0, 1, 2], [3, 4]], folds=2), of([[0, 1], [1, 2]], folds=2)
    with pytest.raises(ValueError, match="one side only"):
        a.merge_words({"a": "b"}) + b
    with pytest.raises(ValueError, match="one side only"):
        b + a.drop_words(["a"])
    assert (of([[0, 1]]).merge_words({"a": "b"}) + of([[1, 2]])).n_documents == 2


def test_documents_counted_under_joined_and_under_one_name_can_be_removed():
    total = Moments.of(Corpus.from_documents([["color", "color"], ["color", "color", "x"]]))
    shard = Moments.of(Corpus.from_documents([["colour", "color"], ["colour", "color", "x"]]))
    rest = total - shard.merge_words({"colour": "color"})
    assert rest.n_pairs == rest.n_documents == rest.n_tokens == 0


def test_a_subtraction_that_leaves_pairs_without_words_is_refused():
    with pytest.raises(ValueError, match="not all part"):
        Moments.of([[1, 1], [0, 2]]) - Moments.of([[1, 2]])


def test_bootstrap_from_folds():
    """Folds drawn with repetition add up like documents drawn with repetition."""
    moments = of([[0, 1, 2], [3, 4], [0, 5], [1, 1, 2]] * 5, folds=4)
    drawn = np.random.default_rng(0).integers(0, 4, 4)
    resampled = sum(moments.folds[k] for k in drawn)
    assert resampled.n_documents == sum(moments.folds[k].n_documents for k in drawn)


def test_memory_limit_holds_for_streams_and_folds():
    corpus = worlds.intervals().sample(2000, length=20, seed=1)
    with pytest.raises(MemoryError, match="fewer words"):
        Moments.of(iter([corpus]), memory_limit=100_000)
    assert Moments.estimate(corpus, folds=10).n_bytes > 3 * Moments.estimate(corpus).n_bytes
    with pytest.raises(MemoryError, match="fewer words"):
        Moments.of(corpus, folds=10, memory_limit=Moments.estimate(corpus).n_bytes)


def test_pickles_and_copies_are_whole_and_frozen():
    moments = of([[0, 1, 2], [3, 4]], folds=2)
    for twin in (pickle.loads(pickle.dumps(moments)), copy.deepcopy(moments)):
        assert twin == moments
        assert not twin.pairs.sums.flags.writeable
    corpus = Corpus(table([[0, 1]]), WORDS)
    twin = pickle.loads(pickle.dumps(corpus))
    assert (twin.counts != corpus.counts).nnz == 0
    assert not twin.counts.data.flags.writeable


def test_counting_from_several_threads_at_once():
    corpus = worlds.intervals().sample(3000, length=20, seed=8)
    whole = Moments.of(corpus)
    with ThreadPoolExecutor(4) as pool:
        assert all(result == whole for result in pool.map(lambda _: Moments.of(corpus), range(8)))


def test_pair_sums_of_unlike_sizes_are_refused():
    with pytest.raises(ValueError, match="1 and 6 words"):
        PairSums.nothing(1) + of([[0, 1]]).pairs


@pytest.mark.parametrize("bad", [{"folds": 2.5}, {"folds": "3"}, {"folds": -1}, {"n_threads": 0}])
def test_bad_options(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        Moments.of([[1, 1], [2, 0]], **bad)
    with pytest.raises(ValueError, match="no fold 7"):
        of([[0, 1]], folds=2).without_fold(7)


def test_a_symmetric_matrix_rearranged():
    rng = np.random.default_rng(5)
    counts = rng.poisson(0.3, (60, 40))
    counts[:, [3, 17, 39]] = 0  # words without a pair
    matrix = Moments.of(counts).matrix
    seen = rng.permutation(np.flatnonzero(np.diff(matrix.indptr)))
    found = rearranged(matrix, seen)
    assert (found != matrix[seen][:, seen]).nnz == 0
    assert found.nnz == matrix.nnz
    assert found.has_sorted_indices


def test_a_table_too_wide_to_count_is_refused_at_once():
    """Even an estimate of its pairs would need an array of 16 GB."""
    wide = sp.csr_array((np.ones(2, int), np.array([0, 2**31 - 2]), np.array([0, 2])), shape=(1, 2**31 - 1))
    with pytest.raises(MemoryError, match="keep fewer words"):
        Moments.of(wide, memory_limit=10**9)
