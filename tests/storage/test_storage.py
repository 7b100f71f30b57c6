"""Files of moments: loading gives what was saved, or a clear error."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hostile import HOSTILE_WORDS

from fdmix import Cleaning, Mixture, Moments, worlds
from fdmix.corpus.preparation import Preparation
from fdmix.storage import arrays as storage
from fdmix.storage import replacing
from fdmix.storage.arrays import FileError


@pytest.fixture
def moments():
    words = [f"wörd{u}" for u in range(100)]
    return Moments.of(worlds.intervals().sample(300, length=8, seed=9).counts, words, folds=3)


@pytest.fixture
def saved(moments, tmp_path):
    path = tmp_path / "some.moments"
    moments.save(path)
    return path


def test_round_trip_is_bit_identical(moments, saved):
    loaded = Moments.load(saved)
    assert loaded == moments
    assert loaded.vocabulary == moments.vocabulary
    assert len(loaded.folds) == 3
    assert loaded + moments == moments + moments
    plain = Moments.of([[2, 1], [0, 3]])
    plain.save(saved)
    assert Moments.load(saved) == plain
    assert loaded == moments, "a file that was loaded may be replaced"


def test_hostile_words_round_trip(tmp_path):
    n_words = len(HOSTILE_WORDS)
    forms = {word: {f"{word}s": 2, word: 1} for word in HOSTILE_WORDS}
    preparation = Preparation(Cleaning(stop_words=HOSTILE_WORDS), forms)
    moments = Moments.of(np.ones((2, n_words), int), HOSTILE_WORDS).prepared(preparation)
    moments.save(tmp_path / "moments")
    topics = np.full((1, n_words), 1 / n_words)
    mixture = Mixture(topics, [[1.0]], HOSTILE_WORDS, preparation, {"word": HOSTILE_WORDS[0]})
    mixture.save(tmp_path / "model")
    for made, loaded in ((moments, Moments.load(tmp_path / "moments")), (mixture, Mixture.load(tmp_path / "model"))):
        assert loaded.vocabulary == made.vocabulary == HOSTILE_WORDS
        assert loaded.preparation == preparation


def test_arrays_are_memory_mapped_and_read_only(saved):
    loaded = Moments.load(saved)
    array = loaded.pairs.sums
    assert not array.flags.owndata
    assert not array.flags.writeable
    assert array.ctypes.data % 64 == 0


def test_empty_moments_round_trip(tmp_path):
    for empty in (Moments.of(np.zeros((0, 3), int)), Moments.of(np.zeros((2, 0), int))):
        empty.save(tmp_path / "empty")
        assert Moments.load(tmp_path / "empty") == empty


def test_truncated_anywhere(saved, tmp_path):
    whole = saved.read_bytes()
    cuts = {0, 1, 7, 8, 15, 16, 47, 48, 60, 500, 2000, len(whole) - 1, len(whole) - 64}
    cuts |= set(np.linspace(0, len(whole) - 1, 60).astype(int).tolist())
    for cut in sorted(cuts):
        broken = tmp_path / "broken"
        broken.write_bytes(whole[:cut])
        with pytest.raises(FileError, match=r"truncated|not a file|corrupted"):
            Moments.load(broken)


def test_flipped_bytes_never_give_another_matrix(moments, saved, tmp_path):
    whole = saved.read_bytes()
    rng = np.random.default_rng(0)
    places = set(range(0, 64)) | set(rng.integers(0, len(whole), 300).tolist())
    unharmed = 0
    for place in places:
        broken = bytearray(whole)
        broken[place] ^= 1 << rng.integers(8)
        path = tmp_path / "broken"
        path.write_bytes(bytes(broken))
        try:
            loaded = Moments.load(path)
        except FileError:
            continue
        assert loaded == moments  # the byte was padding between two arrays
        unharmed += 1
    assert unharmed < len(places) / 10


def test_bytes_at_the_end(saved):
    with saved.open("ab") as file:
        file.write(b"more")
    with pytest.raises(FileError, match="4 bytes too many"):
        Moments.load(saved)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 a zip file", b"word,count\nant,3\n", os.urandom(4000)])
def test_foreign_files(tmp_path, content):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(FileError, match="not a file of fdmix moments"):
        Moments.load(path)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        Moments.load(tmp_path / "nothing")
    with pytest.raises(FileError, match="is a folder"):
        Moments.load(tmp_path)


def test_newer_and_other_kinds_of_file(tmp_path):
    path = tmp_path / "file"
    storage.write_arrays(path, "moments", 99, {}, {})
    with pytest.raises(FileError, match="newer fdmix"):
        Moments.load(path)
    storage.write_arrays(path, "songs", 1, {}, {})
    with pytest.raises(FileError, match="holds songs, not moments"):
        Moments.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"0.columns": np.array([5], np.int32)},
        {"0.columns": np.array([-1], np.int32)},
        {"0.first": np.array([0, 5, 1], np.int64)},
        {"0.first": np.array([0, -(2**60), 1], np.int64)},
        {"0.sums": np.array([-3], np.int64)},
        {"0.sums": np.array([3.0])},
        {"0.word_counts": np.array([1], np.int64)},
        {"0.document_frequencies": np.array([1, -2], np.int64)},
    ],
)
def test_a_forged_file_with_right_checksums_is_refused(tmp_path, change):
    """Loading checks all numbers of a file, so that no kernel reads outside its arrays."""
    arrays = {
        "0.first": np.array([0, 0, 1], np.int64),
        "0.columns": np.array([0], np.int32),
        "0.sums": np.array([3], np.int64),
        "0.word_counts": np.array([1, 1], np.int64),
        "0.document_frequencies": np.array([1, 1], np.int64),
    }
    facts = {"documents": [[1, 0]], "vocabulary": ["a", "b"], "edits": ""}
    path = tmp_path / "forged"
    storage.write_arrays(path, "moments", 1, facts, arrays)
    assert Moments.load(path).n_documents == 1
    storage.write_arrays(path, "moments", 1, facts, arrays | change)
    with pytest.raises(FileError, match="not a valid file"):
        Moments.load(path)


@pytest.mark.parametrize(
    "header",
    [
        b"[]",
        b"{",
        b"\xff",
        b"[" * 100_000 + b"]" * 100_000,
        b'{"kind": "moments", "facts": ' + b"[" * 500 + b"]" * 500 + b"}",
        json.dumps({"kind": "moments"}).encode(),
        *(
            json.dumps({"kind": "moments", "version": version, "facts": {}, "arrays": {}, "bytes": 0}).encode()
            for version in (-1, 0, True, 1.0, "1", None, [])
        ),
        json.dumps({"kind": "moments", "version": 1, "facts": {}, "arrays": [], "bytes": 0}).encode(),
        json.dumps(
            {
                "kind": "moments", "version": 1, "facts": {}, "bytes": 64,
                "arrays": {"0.first": {"dtype": "O", "shape": [1], "offset": 0, "sha256": ""}},
            }
        ).encode(),
        json.dumps(
            {
                "kind": "moments", "version": 1, "facts": {}, "bytes": 64,
                "arrays": {"0.first": {"dtype": "<i8", "shape": [99], "offset": 0, "sha256": ""}},
            }
        ).encode(),
        *(
            json.dumps(
                {
                    "kind": "moments", "version": 1, "facts": {}, "bytes": 64,
                    "arrays": {"0.first": {"dtype": "<i8", "shape": shape, "offset": 0, "sha256": ""}},
                }
            ).encode()
            for shape in ([], {}, "1", None, [1, 1, 1])
        ),
    ],
)  # fmt: skip
def test_forged_headers(tmp_path, header):
    path = tmp_path / "forged"
    digest = storage.hashlib.sha256(header).digest()
    preamble = storage.PREAMBLE.pack(storage.MAGIC, len(header), digest)
    path.write_bytes((preamble + header).ljust(1024, b"\0"))
    with pytest.raises(FileError, match="makes no sense"):
        Moments.load(path)


def test_a_failed_save_leaves_the_old_file_and_no_temporary_file(moments, saved, monkeypatch):
    before = saved.read_bytes()

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage.os, "fsync", full_disk)
    with pytest.raises(OSError, match="the disk is full: there is no room left in"):
        moments.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_saving_to_impossible_places(moments, tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        moments.save(tmp_path / "nowhere" / "file")
    with pytest.raises(IsADirectoryError, match="folder"):
        moments.save(tmp_path)


def test_a_file_is_the_same_in_another_process(moments, saved):
    code = "import sys; from fdmix import Moments; print(Moments.load(sys.argv[1]).pairs.total())"
    printed = subprocess.run([sys.executable, "-c", code, str(saved)], capture_output=True, text=True, check=True)
    assert int(printed.stdout) == moments.pairs.total()


def test_folds_that_do_not_fit_the_whole_are_refused(tmp_path):
    whole, other = Moments.of([[1, 1]], folds=2), Moments.of([[1, 1, 1]], folds=2)
    arrays = {}
    for number, part in enumerate((whole, other.folds[0], other.folds[1])):
        arrays |= {f"{number}.{name}": getattr(part.pairs, name) for name in ("first", "columns", "sums")}
        arrays |= {f"{number}.{name}": getattr(part, name) for name in ("word_counts", "document_frequencies")}
    facts = {"documents": [[1, 0], [1, 0], [0, 0]], "vocabulary": None, "edits": ""}
    storage.write_arrays(tmp_path / "forged", "moments", 1, facts, arrays)
    with pytest.raises(FileError, match="folds"):
        Moments.load(tmp_path / "forged")


CLEANING = Cleaning(stem="english").facts()
FORGED = [
    *({"documents": value} for value in ([[1.7, 0]], [["5", "0"]], ["12"], [[float("inf"), 0]], [], 3, {}, None)),
    *({"documents": value} for value in ([[True, 0]], [[1, -1]], [[10**30, 0]], [[1]], [[1, 0, 0]])),
    *({"vocabulary": value} for value in ("ab", {"a": 0, "b": 1}, [1, 2], [["a"], "b"], ["a"], ["a", "a"], 3)),
    *({"vocabulary": value} for value in (["\ud800", "b"], ["a", None])),
    *({"edits": value} for value in (None, 3, ["x"], {})),
    *({"preparation": value} for value in (3, [], "x", {}, {"cleaning": CLEANING}, {"forms": {}})),
    *(
        {"preparation": {"cleaning": CLEANING, "forms": forms}}
        for forms in (
            None, [], 3, "x", {"a": None}, {"a": 3}, {"a": ["b"]}, {"a": {"b": None}}, {"a": {"b": "1"}},
            {"a": {"b": 1.5}}, {"a": {"b": True}}, {"a": {"b": 0}}, {"a": {"b": -1}}, {"a": {"b": 10**30}},
            {"a": {"b": {}}}, {"a": {"\udc00": 1}},
        )
    ),
    *({"preparation": {"cleaning": cleaning, "forms": {}}} for cleaning in (None, [], 3, "x", {"bad": 1})),
    *(
        {"preparation": {"cleaning": CLEANING | step, "forms": {}}}
        for step in (
            {"stem": 3}, {"stem": ["english"]}, {"stop_words": 3}, {"stop_words": [1]}, {"stop_words": {"a": 1}},
            {"stop_words": [["a"]]}, {"tokenizer": 3}, {"tokenizer": []}, {"max_share": "1"}, {"max_share": None},
            {"max_share": [1]}, {"max_share": float("nan")}, {"max_share": True}, {"min_count": None},
            {"min_count": 1.0}, {"min_letters": True}, {"ngrams": 10**12}, {"ngrams": None}, {"lowercase": 1},
            {"phrases": "yes"}, {"drop_urls": None}, {"max_words": 0}, {"min_tokens": -1},
            {"drop_most_common": -1}, {"drop_most_common": None}, {"drop_most_common": 1.5}, {"min_count": 0.0},
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("change", FORGED, ids=lambda change: str(change)[-60:])
def test_forged_facts(tmp_path, change):
    """Wrong facts with matching checksums are refused when the file is loaded, not later when they are used."""
    moments = Moments.of([[1, 1]], ["a", "b"], weighting="paper", held_out=False)  # all that format 1 knew
    arrays = {f"0.{name}": getattr(moments.pairs, name) for name in ("first", "columns", "sums")}
    arrays |= {f"0.{name}": getattr(moments, name) for name in ("word_counts", "document_frequencies")}
    facts = {"documents": [[1, 0]], "vocabulary": ["a", "b"], "edits": "", "preparation": None}
    path = tmp_path / "forged"
    storage.write_arrays(path, "moments", 1, facts, arrays)
    assert Moments.load(path) == moments
    header = json.loads(path.read_bytes()[48:].split(b"\0")[0]) | {"facts": facts | change}
    write_header(path, json.dumps(header).encode())
    with pytest.raises(FileError, match=r"not a valid file of moments: .*\w+ \w+|header makes no sense"):
        Moments.load(path)


def write_header(path, header):
    """Replace the header of a file of arrays, with a checksum that matches."""
    old = path.read_bytes()
    size = storage.PREAMBLE.unpack(old[:48])[1]
    arrays = old[-(-(48 + size) // 64) * 64 :]
    preamble = storage.PREAMBLE.pack(storage.MAGIC, len(header), hashlib.sha256(header).digest())
    start = preamble + header
    path.write_bytes(start.ljust(-(-len(start) // 64) * 64, b"\0") + arrays)


def test_temporaries_of_killed_processes_are_removed(moments, tmp_path):
    fcntl = pytest.importorskip("fcntl", reason="Windows has no locks of files")
    left, folder = tmp_path / f".{1:016x}.fdmix-tmp", tmp_path / f".{2:016x}.fdmix-tmp"
    young, held = tmp_path / f".{3:016x}.fdmix-tmp", tmp_path / f".{4:016x}.fdmix-tmp"
    others = [tmp_path / ".mine.fdmix-tmp", tmp_path / f".{5:016x}.old.fdmix-tmp", tmp_path / f"{6:016x}.fdmix-tmp"]
    folder.mkdir()
    (folder / "part").write_text("half")
    link = tmp_path / f".{7:016x}.fdmix-tmp"
    link.symlink_to(others[0])
    for path in (left, young, held, *others):
        path.write_text("half")
    for path in (left, folder, held, *others):
        os.utime(path, (1, 1))
    with held.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        moments.save(tmp_path / "some.moments")
        assert set(tmp_path.iterdir()) == {young, held, link, *others, tmp_path / "some.moments"}
    moments.save(tmp_path / "some.moments")
    assert not held.exists()
    assert young.exists(), "it may belong to a process that is about to lock it"


def test_a_file_that_is_being_written_is_not_taken_for_a_leftover(moments, tmp_path):
    with replacing(tmp_path / "slow") as file:
        file.write(b"begun")
        file.flush()
        (temporary,) = tmp_path.iterdir()
        os.utime(temporary, (1, 1))
        moments.save(tmp_path / "some.moments")
        assert temporary.exists()
    assert (tmp_path / "slow").read_bytes() == b"begun"


def test_a_link_stays_a_link_and_modes_are_kept(moments, tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    moments.save(target)
    target.chmod(0o600)
    link.symlink_to(target)
    moments.save(link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_very_large_vocabulary_can_be_read_back(tmp_path):
    words = [f"{u:072d}" for u in range(200_000)]
    moments = Moments.of(storage.np.eye(1, 200_000, dtype=int) * 2, words)
    moments.save(tmp_path / "wide")
    assert Moments.load(tmp_path / "wide").vocabulary[-1] == words[-1]
