"""Mhat cut for PyTorch: every pair is in one part, also when it is read from moments or kept in files."""

from dataclasses import replace

import numpy as np
import pytest
from pytorch import MISSING, needs_torch

from fdmix import Moments, fit_mixture, worlds
from fdmix.engines.torch_pairs import Cut, Panel, Sample, Table, arrays_of, parts_of
from fdmix.moments.pair_matrix import StoredMatrix
from fdmix.storage.scratch import is_mapped, on_disk

SAMPLED = Cut(threshold=0.03, pairs_at_a_time=300, sampled=True)
TABLES = Cut(threshold=0.03, pairs_at_a_time=300, sampled=False)


@pytest.fixture(scope="module")
def moments():
    return Moments.of(worlds.zipf(10, 2_000, seed=1).sample(3_000, length=20, seed=1))


def added_up(parts, n_words):
    """The matrix that the parts stand for; a pass adds up a part's pairs in the same way."""
    whole = np.zeros((n_words, n_words), np.float32)
    for part in parts:
        if isinstance(part, Panel):
            rest = part.values[:, part.end - part.begin :]
            whole[part.begin : part.end, part.begin : part.last] += part.values
            whole[part.end : part.last, part.begin : part.end] += rest.T
        elif isinstance(part, Table):
            rows = np.repeat(part.rows, part.columns.shape[1])
            np.add.at(whole, (rows, part.columns.ravel()), part.values.ravel())
        else:
            rows = np.repeat(np.arange(n_words), np.diff(part.both_first))
            np.add.at(whole, (rows, part.both_columns), part.values[part.source])
    return whole


@pytest.mark.parametrize("cut", [SAMPLED, TABLES], ids=["sampled", "tables"])
@pytest.mark.parametrize("stored", [True, False])
def test_the_parts_are_the_matrix(moments, cut, stored):
    pairs = StoredMatrix(moments.matrix) if stored else moments.pair_matrix()
    order = np.argsort(-pairs.row_sums, kind="stable")
    parts = list(parts_of(pairs, order, cut))
    assert {type(part) for part in parts} == {Panel, Sample if cut.sampled else Table}
    assert any(part.last > part.end for part in parts if isinstance(part, Panel))
    assert len(parts) > 4
    expected = moments.matrix.toarray().astype(np.float32)[np.ix_(order, order)]
    np.testing.assert_array_equal(added_up(parts, pairs.n_words), expected)


@pytest.mark.parametrize("cut", [SAMPLED, TABLES], ids=["sampled", "tables"])
def test_a_few_rows_at_a_time_make_the_same_parts(moments, cut, monkeypatch):
    pairs = moments.pair_matrix()
    order = np.argsort(-pairs.row_sums, kind="stable")
    whole = list(parts_of(pairs, order, cut))
    for name, value in (("ENTRIES_AT_A_TIME", 20_000), ("PARTS", 10**9)):
        monkeypatch.setattr(f"fdmix.engines.torch_pairs.{name}", value)
    pieces = list(parts_of(pairs, order, cut))
    np.testing.assert_array_equal(added_up(pieces, pairs.n_words), added_up(whole, pairs.n_words))
    if cut.sampled:
        assert sorted(part.work for part in pieces) == sorted(part.work for part in whole)


def test_many_pairs_go_to_files(moments, tmp_path):
    pairs = moments.pair_matrix()
    order = np.argsort(-pairs.row_sums, kind="stable")
    for cut in (SAMPLED, TABLES):
        inside = list(parts_of(pairs, order, cut))
        with on_disk(tmp_path, 1_000):
            outside = list(parts_of(pairs, order, cut))
        for one, two in zip(inside, outside, strict=True):
            for name, array in arrays_of(two).items():
                assert is_mapped(array)
                np.testing.assert_array_equal(array, getattr(one, name))
    assert list(tmp_path.iterdir()) == []  # they have no names


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
def test_pairs_in_files_give_the_same_bits(moments, streamed, tmp_path):
    import torch

    from fdmix.engines.torch_engine import ON_GPU, TorchEngine
    from fdmix.engines.torch_storage import StreamedPairs, in_files

    layout = replace(ON_GPU, cut=TABLES, width=512)
    mixture = worlds.zipf(5, 2_000, seed=4).mixture
    pairs = moments.pair_matrix()
    plain = TorchEngine(pairs, 5, 1, "cpu", layout=layout)
    with on_disk(tmp_path, 1_000):
        mapped = TorchEngine(pairs, 5, 1, "cpu", layout=layout)
    assert all(map(in_files, mapped.host_parts))
    if streamed:
        mapped.pairs = StreamedPairs(torch, mapped.device, mapped.host_parts)
    for _ in range(2):  # parts that left memory come back
        one, two = (engine.expect(engine.place(mixture)) for engine in (plain, mapped))
        assert one.log_likelihood == two.log_likelihood
        np.testing.assert_array_equal(one.topic_factors.numpy(), two.topic_factors.numpy())


@needs_torch
@pytest.mark.slow
def test_a_fit_from_a_file_within_a_memory_limit_gives_the_same_topics(moments, tmp_path, monkeypatch):
    """A limit that small is refused, so that the fixed part of it is set to nothing."""
    assert not MISSING
    monkeypatch.setattr("fdmix.fit.fitting.FIXED_BYTES", 0)
    monkeypatch.setattr("fdmix.fit.fitting.checked_memory", lambda memory: memory)
    moments.save(tmp_path / "some.moments")
    options = {"engine": "torch", "device": "cpu", "n_threads": 1, "max_passes": 25}
    plain = fit_mixture(moments, 6, **options)
    limited = fit_mixture(Moments.load(tmp_path / "some.moments"), 6, memory=50_000, **options)
    assert limited.log_likelihoods == plain.log_likelihoods
    np.testing.assert_array_equal(limited.mixture.topics, plain.mixture.topics)
