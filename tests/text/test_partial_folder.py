"""Checkpoints of an unfinished count: damaged ones are refused or counted again, and never give a wrong result."""

import json
import shutil

import numpy as np
import pytest

from fdmix import Cleaning
from fdmix.moments.file import FORMAT as MOMENTS_FORMAT
from fdmix.moments.file import KIND as MOMENTS_KIND
from fdmix.storage.arrays import PREAMBLE, FileError, read_arrays, write_arrays
from fdmix.text import batches, reading
from fdmix.text.files import Layout
from fdmix.text.partial_folder import COUNTING_KIND, FORMAT, READ_KIND
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import files_of

ADVICE = r"delete the folder and start again$"


class Stopped(BaseException):
    """Like Ctrl-C: the count did not fail, and can resume."""


@pytest.fixture(autouse=True)
def many_small_batches(monkeypatch):
    monkeypatch.setattr(batches.in_batches, "__defaults__", (800,))
    monkeypatch.setattr(reading, "ENTRIES_AT_A_TIME", 200)


@pytest.fixture
def text(tmp_path):
    words = np.random.default_rng(0).integers(0, 60, (160, 8))
    path = tmp_path / "text.txt"
    path.write_text("\n".join(" ".join(f"wörd{u}" for u in row) for row in words))
    return path


def count(text, name="out", cleaning=None, every=0.0, **layout):
    files = files_of([text], Layout(**layout))
    return CountInProgress(files, cleaning or Cleaning(), text.parent / name, folds=2, every=every)


def stopped(job, phase, after=3, error=Stopped):
    """Run a count until it ends with an error."""
    seen = []

    def report(name, *_):
        seen.append(name)
        if seen.count(phase) > after:
            raise error("stopped")

    with pytest.raises(error):
        job.run(report=report, n_threads=2)
    return job.folder


@pytest.fixture
def whole(text):
    job = count(text, "whole", every=20.0)
    job.run()
    return job.target.read_bytes()


def resumes_or_is_refused(text, whole):
    """Whether the count resumed, with the right result; if not, an error says what to do."""
    job = count(text, every=20.0)
    job.target.unlink(missing_ok=True)
    try:
        job.run(n_threads=2)
    except ValueError as error:
        refusal = error
    else:
        assert job.target.read_bytes() == whole
        return True
    assert isinstance(refusal, FileError) or "left from another count" in str(refusal)
    assert str(refusal).endswith("delete the folder and start again")
    assert not job.target.exists()
    return False


@pytest.mark.parametrize("phase", ["reading", "counting"])
def test_a_resumed_count_gives_the_same_bytes(text, whole, phase):
    stopped(count(text), phase)
    assert count(text).resumes
    assert resumes_or_is_refused(text, whole)
    assert not count(text).folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tokens", "lengths", "read", "counted", "counting", "plan.json"])
@pytest.mark.parametrize("phase", ["reading", "counting"])
def test_one_flipped_bit(text, whole, tmp_path, phase, name):
    folder = stopped(count(text), phase)
    found = [path for path in folder.iterdir() if path.name == name or path.name.startswith(f"{name}-")]
    if not found:
        assert phase == "reading"
        return
    kept = tmp_path / "kept"
    shutil.copytree(folder, kept)
    rng = np.random.default_rng(1)
    for _ in range(12):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(kept, folder)
        content = bytearray(found[0].read_bytes())
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        found[0].write_bytes(content)
        resumed = resumes_or_is_refused(text, whole)
        assert not (resumed and phase == "counting" and name in ("tokens", "lengths", "read"))


@pytest.mark.parametrize("name", ["tokens", "lengths"])
def test_files_that_are_cut_short(text, whole, name):
    folder = stopped(count(text, every=20.0), "counting")
    (folder / name).write_bytes((folder / name).read_bytes()[:-4])
    with pytest.raises(FileError, match=f"'{name}' is too short.*{ADVICE}"):
        count(text).run()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_plan_that_cannot_be_read(text, content):
    folder = stopped(count(text, every=20.0), "counting")
    (folder / "plan.json").write_bytes(content)
    job = count(text)
    assert not job.resumes
    with pytest.raises(FileError, match=f"is damaged.*{ADVICE}"):
        job.run()


def test_a_count_of_other_batches_is_not_used(text, whole):
    folder = stopped(count(text), "counting", after=6)
    (counted,) = folder.glob("counted-*")
    number = int(counted.name.split("-")[1])
    assert number > 1
    counted.rename(folder / f"counted-{number - 1}")
    assert resumes_or_is_refused(text, whole)
    folder = stopped(count(text), "counting", after=6)
    kept = folder.parent / "kept"
    shutil.copytree(folder, kept)
    resumes_or_is_refused(text, whole)
    stopped(count(text), "counting", after=3)
    for path in folder.glob("counted-*"):
        path.unlink()
    for path in kept.glob("counted-*"):
        shutil.copy(path, folder)
    assert resumes_or_is_refused(text, whole)


@pytest.mark.parametrize("change", [{"edits": "x"}, {"vocabulary": ["a", "b"]}, {"documents": [[1, 0]]}], ids=str)
def test_a_forged_count_is_counted_again(text, whole, change):
    """The checksums match and `counting` names the file, but its contents are wrong: it is not used."""
    folder = stopped(count(text), "counting", after=6)
    (counted,) = folder.glob("counted-*")
    facts, arrays = read_arrays(counted, MOMENTS_KIND, MOMENTS_FORMAT)
    write_arrays(counted, MOMENTS_KIND, MOMENTS_FORMAT, facts | change, arrays)
    facts, _ = read_arrays(folder / "counting", COUNTING_KIND, FORMAT)
    start = counted.read_bytes()[: PREAMBLE.size].hex()
    write_arrays(folder / "counting", COUNTING_KIND, FORMAT, facts | {"counted": start}, {})
    assert resumes_or_is_refused(text, whole)


@pytest.mark.parametrize("names", [["read"], ["counting", "counted-*"], ["tokens", "lengths"], ["tokens", "read"]])
def test_files_of_another_count_are_not_mixed_in(text, whole, names):
    folder = stopped(count(text), "counting")
    other = text.with_name("other.txt")
    other.write_text("\n".join(reversed(text.read_text().replace("wörd1", "other1").splitlines())))
    there = stopped(count(other, "there"), "counting")
    for name in names:
        for path in folder.glob(name):
            path.unlink()
        for path in there.glob(name):
            shutil.copy(path, folder)
    resumed = resumes_or_is_refused(text, whole)
    assert resumed == ("counting" in names)


def forged_reading(folder, facts=None, arrays=None):
    """Change the contents of `read` and make its checksums match."""
    old = read_arrays(folder / "read", READ_KIND, FORMAT)
    arrays = {name: change(old[1][name].copy()) for name, change in (arrays or {}).items()}
    write_arrays(folder / "read", READ_KIND, FORMAT, old[0] | (facts or {}), old[1] | arrays)


def replaced(place, value):
    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    "change",
    [
        {"facts": {"lexicons": 0}},
        {"facts": {"lexicons": 10**9}},
        {"facts": {"lexicons": True}},
        {"facts": {"documents": 7}},
        {"facts": {"documents": None}},
        {"facts": {"complete": 1}},
        {"facts": {"plan": None}},
        {"facts": {"plan": "0" * 64}},
        {"arrays": {"index": replaced((0, 0), 99)}},
        {"arrays": {"index": replaced((0, 0), -1)}},
        {"arrays": {"index": replaced((0, 1), 2**62)}},
        {"arrays": {"index": replaced((0, 1), -(2**62))}},
        {"arrays": {"index": replaced((0, 2), 1)}},
        {"arrays": {"index": replaced((0, 3), 0)}},
        {"arrays": {"index": lambda array: array[:, :3]}},
        {"arrays": {"index": lambda array: array.ravel()}},
        {"arrays": {"0.starts": replaced(2, 10**12)}},
        {"arrays": {"0.starts": replaced(0, -1)}},
        {"arrays": {"0.starts": lambda array: array[:-1]}},
        {"arrays": {"0.pool": lambda array: array[:-1]}},
        {"arrays": {"0.hashes": lambda array: array[:-1]}},
        {"arrays": {"0.counts": lambda array: array[:-1]}},
        {"arrays": {"0.counts": replaced(0, -(2**62))}},
        {"arrays": {"0.counts": replaced(0, 2**62)}},
        {"arrays": {"0.counts": lambda array: array.astype(np.float64)}},
    ],
    ids=lambda change: "-".join(f"{kind}.{name}" for kind, names in change.items() for name in names),
)
def test_forged_states_of_reading(text, whole, change):
    """Contents are checked before compiled code uses them, even if their checksums match."""
    folder = stopped(count(text, every=20.0), "counting")
    forged_reading(folder)
    kept = folder.parent / "kept"
    shutil.copytree(folder, kept)
    assert resumes_or_is_refused(text, whole)
    shutil.copytree(kept, folder)
    forged_reading(folder, **change)
    assert not resumes_or_is_refused(text, whole)


def test_a_document_that_is_too_long_leaves_no_folder(text, monkeypatch):
    monkeypatch.setattr(batches.in_batches, "__defaults__", (1 << 22,))
    monkeypatch.setattr(reading, "ENTRIES_AT_A_TIME", 2_000_000)
    text.write_text("cats chase\n\nblack mice\n\n" * 60_000)
    with pytest.raises(ValueError, match="for instance into paragraphs"):
        count(text, split="files").run()
    assert not count(text).folder.exists()
    assert count(text, split="paragraphs", every=20.0).run().n_documents == 120_000


@pytest.mark.parametrize("error", [MemoryError, OSError])
def test_another_count_may_replace_a_failed_one(text, whole, error):
    """The same command resumes a failed count; another command replaces it."""
    folder = stopped(count(text), "counting", error=error)
    assert folder.is_dir()
    assert count(text).resumes
    assert list(folder.glob("counted-*"))
    other = count(text, cleaning=Cleaning(max_words=9))
    assert other.replaces_a_failed_count
    stopped(other, "reading", after=0, error=error)
    assert not list(folder.glob("counted-*"))  # of the failed count: on a full disk, they would be in the way
    assert other.run().n_words == 9
    assert not folder.exists()
    stopped(count(text), "counting", error=error)
    assert resumes_or_is_refused(text, whole)


def test_a_count_that_did_not_fail_is_never_deleted(text, whole):
    stopped(count(text), "counting", error=OSError)
    folder = stopped(count(text), "counting")  # it resumed, and was then interrupted without an error
    other = count(text, cleaning=Cleaning(max_words=9))
    assert not other.replaces_a_failed_count
    with pytest.raises(ValueError, match=f"left from another count .with other settings.*{ADVICE}"):
        other.run()
    changed = json.loads((folder / "plan.json").read_text())
    text.touch()
    with pytest.raises(ValueError, match=f"files that have changed since.*{ADVICE}"):
        count(text).run()
    assert json.loads((folder / "plan.json").read_text()) == changed


def test_a_file_where_the_folder_should_be(text):
    count(text).folder.write_text("mine")
    with pytest.raises(FileExistsError, match="is a file"):
        count(text).run()
    assert count(text).folder.read_text() == "mine"
