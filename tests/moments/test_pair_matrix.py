"""Mhat read from whole-number sums is the matrix that SciPy holds: every entry, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdmix import Moments, fit_mixture, worlds
from fdmix.engines import engine_for
from fdmix.engines.tiling import Tiling
from fdmix.fit.held_out import Remainder
from fdmix.moments.pair_matrix import ScaledSums, StoredMatrix, pair_matrix_of, row_batches
from fdmix.storage.scratch import in_file, on_disk

seeds = st.integers(0, 10**6)


def both_forms(seed, n_words=40):
    """(Mhat from sums, the same matrix stored, words that have pairs), with a part left out for odd seeds."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.15, (int(rng.integers(2, 60)), n_words))
    counts[0, :2] += 2  # there is a pair
    moments = Moments.of(counts)
    part = Moments.of(counts[1 : len(counts) // 2]) if seed % 2 and len(counts) > 3 else None
    sums = ScaledSums(moments.pairs, None if part is None else part.pairs)
    stored = StoredMatrix((moments if part is None else moments - part).matrix)
    return sums, stored, rng


@given(seeds)
def test_sums_and_stored_matrix_agree_to_the_bit(seed):
    sums, stored, rng = both_forms(seed)
    full = stored.matrix.toarray()
    assert np.array_equal(sums.matrix.toarray(), full)
    assert sums.n_stored == stored.n_stored
    assert np.array_equal(sums.row_sums, stored.row_sums)
    words = np.sort(rng.choice(40, 7, replace=False))
    assert np.array_equal(sums.rows(words).toarray(), full[words])
    assert np.array_equal(sums.block(words), full[np.ix_(words, words)])
    assert np.array_equal(stored.block(words), full[np.ix_(words, words)])
    left, right = rng.integers(0, 40, (2, 50))
    assert np.array_equal(sums.at(left, right), full[left, right])
    seen = np.flatnonzero(sums.sums.row_sums())  # in the part that is left out, too
    for form in (sums, stored):
        assert np.array_equal(form.among(seen).matrix.toarray(), full[np.ix_(seen, seen)])
        assert np.array_equal(form.restricted(words).matrix.toarray(), full[np.ix_(words, words)])


@given(seeds)
def test_rows_in_another_order_are_the_upper_triangle(seed):
    sums, stored, rng = both_forms(seed)
    order = rng.permutation(40)
    upper = np.triu(stored.matrix.toarray()[np.ix_(order, order)]).astype(np.float32)
    for form in (sums, stored):
        counts = form.counted(order, 16)
        assert np.array_equal(counts.rows, (upper > 0).sum(axis=1))
        assert counts.blocks.sum() == stored.n_stored
        begin, end = sorted(rng.integers(0, 41, 2))
        found = form.ordered(order, begin, counts.rows[begin:end])
        rows = np.zeros((end - begin, 40), np.float32)
        for p in range(end - begin):
            columns = found.columns[found.first[p] : found.first[p + 1]]
            assert (np.diff(columns.astype(int)) > 0).all()
            rows[p, columns] = found.values[found.first[p] : found.first[p + 1]]
        assert np.array_equal(rows, upper[begin:end])


def test_a_part_that_was_not_counted_is_refused():
    whole, other = Moments.of([[2, 1, 0], [1, 1, 0]]), Moments.of([[0, 1, 2]])
    with pytest.raises(ValueError, match="not all part"):
        Remainder(whole, other).pair_matrix()


def test_the_remainder_is_the_difference():
    moments = Moments.of(worlds.zipf(5, 200, seed=1).sample(900, length=12, seed=2))
    rest, expected = Remainder(moments, moments.held_out), moments.without_judges()
    assert (rest.matrix != expected.matrix).nnz == 0
    assert (rest.n_documents, rest.n_tokens, rest.n_words) == (expected.n_documents, expected.n_tokens, 200)
    assert np.array_equal(rest.document_frequencies, expected.document_frequencies)
    assert np.allclose(rest.unigram, expected.unigram, rtol=1e-14)


def test_rows_are_read_in_batches_of_bounded_size(monkeypatch):
    pairs = pair_matrix_of(Moments.of(worlds.zipf(5, 300, seed=1).sample(2_000, length=12, seed=2)))
    monkeypatch.setattr("fdmix.moments.pair_matrix.ROWS_AT_A_TIME", 5_000)
    words = np.arange(0, 300, 2)
    batches = row_batches(pairs, words, 100)
    assert np.array_equal(np.concatenate(batches), words)
    assert max(batch.size for batch in batches) <= max(1, 2 * 5_000 * 300 // pairs.n_stored)


def test_how_many_pairs_are_sorted_at_a_time_changes_no_bit(monkeypatch):
    world = worlds.zipf(6, 900, seed=1)
    pairs = Moments.of(world.sample(3_000, length=15, seed=2)).pair_matrix()
    order = np.argsort(-pairs.row_sums, kind="stable")
    for make in (lambda: Tiling.for_dense_topics(pairs, order, 6), lambda: Tiling.for_sparse_topics(pairs, order)):
        monkeypatch.undo()
        one = make()
        monkeypatch.setattr("fdmix.engines.tiling.ENTRIES_AT_A_TIME", 3_000)
        several = make()
        assert np.array_equal(one.tiles, several.tiles)
        for band in range(one.n_bands):
            for ours, theirs in zip(one.lists(band), several.lists(band), strict=True):
                assert np.array_equal(ours, theirs)


def test_a_fit_that_keeps_one_tiling_at_a_time_finds_the_same_topics(monkeypatch):
    moments = Moments.of(worlds.zipf(6, 400, seed=1).sample(4_000, length=15, seed=2))
    both = fit_mixture(moments, 6).mixture
    monkeypatch.setattr("fdmix.engines.numba_engine.TWO_TILINGS", 0)
    assert np.array_equal(fit_mixture(moments, 6).mixture.topics, both.topics)


def test_an_engine_computes_the_same_after_a_release():
    world = worlds.zipf(6, 400, seed=1)
    engine = engine_for("numba", Moments.of(world.sample(4_000, length=15, seed=2)).pair_matrix(), 6)
    state = engine.place(world.mixture)
    before = engine.expect(state)
    engine.release()
    after = engine.expect(state)
    assert after.log_likelihood == before.log_likelihood
    assert np.array_equal(after.joint, before.joint)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_fit_that_reads_pairs_from_the_disk_finds_the_same_topics(monkeypatch, tmp_path, sparse):
    world = worlds.zipf(6, 700, seed=1)
    Moments.of(world.sample(4_000, length=15, seed=2)).save(tmp_path / "moments")
    moments = Moments.load(tmp_path / "moments")
    in_memory = fit_mixture(moments, 6, sparsity="auto" if sparse else 0, max_passes=200)
    monkeypatch.setattr("fdmix.fit.fitting.checked_memory", float)  # a limit that is far too small for real fits
    monkeypatch.setattr("fdmix.fit.fitting.FIXED_BYTES", 0)
    made = []
    monkeypatch.setattr("fdmix.engines.tiling.in_file", lambda *given: made.append(1) or in_file(*given))
    streamed = fit_mixture(moments, 6, sparsity="auto" if sparse else 0, max_passes=200, memory=400_000)
    assert made
    assert streamed.log_likelihoods[-1] == pytest.approx(in_memory.log_likelihoods[-1], abs=1e-4)
    assert abs(streamed.mixture.topics - in_memory.mixture.topics).sum(axis=1).max() < 0.02


def test_tiles_on_the_disk_are_those_in_memory(tmp_path):
    pairs = Moments.of(worlds.zipf(6, 900, seed=1).sample(3_000, length=15, seed=2)).pair_matrix()
    order = np.argsort(-pairs.row_sums, kind="stable")
    one = Tiling.for_sparse_topics(pairs, order)
    with on_disk(tmp_path, 4 * one.widths.sum() * one.block**2):  # no less room than the tiles need
        other = Tiling.for_sparse_topics(pairs, order)
    assert np.array_equal(one.tiles, other.tiles)
    for band in range(one.n_bands):
        other.forget(band)
        other.forget_tiles(band)
        for ours, theirs in zip(one.lists(band), other.lists(band), strict=True):
            assert np.array_equal(ours, theirs)
    assert list(tmp_path.iterdir()) == []
