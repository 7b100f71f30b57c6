"""Counting within a memory limit gives the bits of counting in memory, and leaves no files behind."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmix import Moments, read_moments
from fdmix.corpus.preparation import Cleaning
from fdmix.moments import spilling
from fdmix.moments.arithmetic import summed
from fdmix.moments.pair_sums import LARGEST_SUM, PairSums
from fdmix.moments.spilling import SpilledSum
from fdmix.runtime.memory import bytes_in
from fdmix.storage.scratch import ArrayFile, forget, on_disk
from fdmix.text import batches
from fdmix.text.files import Layout
from fdmix.text.forecast import forecast
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import files_of


def documents(seed, n_documents=40, n_words=30):
    return np.random.default_rng(seed).poisson(0.2, (n_documents, n_words))


@pytest.fixture
def tiny_runs(monkeypatch):
    """Runs of some hundred pairs instead of tens of millions."""
    monkeypatch.setattr(spilling, "FIXED_BYTES", 0)
    monkeypatch.setattr(spilling, "LEAST_MEMORY", 0)
    monkeypatch.setattr(spilling, "MIN_ADDED", 0)
    monkeypatch.setattr("fdmix.moments.pair_sums.PANEL_ENTRIES", 50)
    monkeypatch.setattr("fdmix.moments.pair_counting.PANEL_ENTRIES", 50)
    monkeypatch.setattr("fdmix.text.reading.ENTRIES_AT_A_TIME", 500)
    monkeypatch.setattr(batches.in_batches, "__defaults__", (4_000,))


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=7), st.sampled_from([0, 3]))
def test_any_number_of_parts_add_up_to_the_bits_of_adding_two_at_a_time(seeds, folds):
    words = [[f"w{k:02d}" for k in range(seed % 3, 30)] for seed in seeds]
    parts = [
        Moments.of(documents(seed, n_words=len(some)), some, folds=folds)
        for seed, some in zip(seeds, words, strict=True)
    ]
    one_by_one = parts[0]
    for part in parts[1:]:
        one_by_one = one_by_one + part
    found = summed(parts)
    assert found == one_by_one
    assert found.ledger == one_by_one.ledger


def test_parts_that_cannot_be_added_are_refused():
    with pytest.raises(ValueError, match="weighting"):
        summed([Moments.of([[1, 1]]), Moments.of([[1, 1]], weighting="paper")])
    with pytest.raises(ValueError, match="vocabularies"):
        summed([Moments.of([[1, 1]]), Moments.of([[1, 1, 1]])])


def test_an_overflow_is_an_error_and_never_a_wrong_number():
    large = PairSums(np.array([0, 0, 1]), np.array([0], np.int32), np.array([LARGEST_SUM // 2 + 1]))
    with pytest.raises(OverflowError):
        PairSums.sum_of([large, large, large])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_results_on_disk_are_those_in_memory(tmp_path_factory, seed, n_parts):
    folder = tmp_path_factory.mktemp("scratch")
    words = [f"w{k}" for k in range(30)]
    whole = Moments.of(documents(seed), words)
    part = Moments.of(documents(seed)[:7], words)
    in_memory = whole + part, whole - part, whole.top(11), whole.prune(max_words=9), summed([whole] * n_parts)
    with on_disk(folder, beyond=100):
        mapped = whole + part, whole - part, whole.top(11), whole.prune(max_words=9), summed([whole] * n_parts)
    assert mapped == in_memory
    assert mapped[0].matrix.nnz == in_memory[0].matrix.nnz
    assert list(folder.iterdir()) == []  # the files have no name


def test_what_is_forgotten_is_read_again(tmp_path):
    file = ArrayFile(tmp_path, np.int64)
    for begin in range(0, 100_000, 10_000):
        file.append(np.arange(begin, begin + 10_000))
    array = file.mapped()
    forget(array, 500, 90_000)
    assert np.array_equal(array, np.arange(100_000))
    forget(np.arange(5))  # does nothing in memory
    assert ArrayFile(tmp_path, np.int32).mapped().size == 0


def test_a_sum_writes_runs_and_their_total_is_exact(tmp_path, tiny_runs):
    parts = [Moments.of(documents(seed), folds=2) for seed in range(12)]
    total = SpilledSum(tmp_path, memory=40_000)
    told = []
    for part in parts:
        total.add(part)
    assert len(total.runs) > 2
    assert total.total(lambda *now: told.append(now)) == summed(parts)
    assert told[-1] == ("merging", told[-1][2], told[-1][2])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in total.runs)


def text_file(folder, n_lines=3_000):
    rng = np.random.default_rng(1)
    words = np.array([f"word{k}" for k in range(300)])
    lines = [" ".join(words[rng.integers(0, 300, 12) * rng.integers(0, 2, 12)]) for _ in range(n_lines)]
    path = folder / "text.txt"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("folds", [0, 3])
def test_text_is_counted_to_the_same_bits_within_a_limit(tmp_path, tiny_runs, folds):
    path = text_file(tmp_path)
    in_memory = read_moments(path, folds=folds)
    limited = read_moments(path, folds=folds, memory=1_000_000)
    assert limited == in_memory
    assert limited.ledger == in_memory.ledger
    in_memory.save(tmp_path / "a")
    limited.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("open_vocabulary", [False, True])
def test_an_interrupted_count_resumes_with_its_runs(tmp_path, tiny_runs, open_vocabulary):
    path = text_file(tmp_path)
    expected = read_moments(path, open_vocabulary=open_vocabulary)

    def job(memory):
        cleaning = expected.preparation.cleaning
        return CountInProgress(files_of([path], Layout()), cleaning, tmp_path / "moments", every=0.0, memory=memory)

    class StopError(Exception):
        pass

    def stop_late(name, done, of):
        if name == "counting" and done == of:
            raise StopError

    first = job(200_000)
    with pytest.raises(StopError):
        first.run(report=stop_late, n_threads=1)
    assert first.resumes
    assert (first.folder / "run-0").is_file()
    found = job(300_000).run(n_threads=1)
    assert found == expected
    assert Moments.load(tmp_path / "moments") == expected
    assert sorted(each.name for each in tmp_path.iterdir()) == ["moments", "text.txt"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_a_sentence_and_the_count_can_resume(tmp_path, tiny_runs, monkeypatch):
    path = text_file(tmp_path)
    cleaning = read_moments(path).preparation.cleaning
    job = CountInProgress(files_of([path], Layout()), cleaning, tmp_path / "m", memory=20_000)
    with monkeypatch.context() as patched:
        patched.setattr("tempfile.TemporaryFile", lambda **_: Path("/dev/full").open("wb", buffering=0))  # noqa: SIM115
        with pytest.raises(OSError, match="the disk is full: there is no room left in"):
            job.run(n_threads=1)
    assert job.resumes
    assert job.run(n_threads=1) == read_moments(path)


def test_sizes_in_words():
    assert [bytes_in(size) for size in ("2GB", "500 mb", "1.5G", "1GiB", "800000000")] == [
        2 * 10**9, 5 * 10**8, 15 * 10**8, 2**30, 8 * 10**8,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="write 2GB"):
        bytes_in("much")


def test_too_little_memory_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(ValueError, match="at least 700 MB"):
        read_moments(tmp_path / "missing.txt", memory="10MB")


def test_a_forecast_within_a_limit_has_the_same_numbers(tiny_runs, tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("\n".join(f"cat dog mouse word{n % 40} word{n % 7} other{n % 90}" for n in range(400)))
    files = files_of([text], Layout())
    free, limited = (forecast(files, Cleaning(), memory=memory) for memory in (None, 20_000))
    assert (limited.documents, limited.words, limited.pairs) == (free.documents, free.words, free.pairs)
    assert limited.memory_bytes < free.memory_bytes
