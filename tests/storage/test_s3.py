"""Files in buckets, through the S3 API: what is read and written is what a local file would be."""

import gzip
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from s3_server import ENVIRONMENT, s3_server

from fdmix import Mixture, Moments, fit_mixture, read_corpus, read_moments
from fdmix.cli.inputs import check_model_output, check_output, is_moments, moments_files, require_local
from fdmix.corpus.preparation import Cleaning
from fdmix.storage import replacing
from fdmix.storage.model_folder import FACTS_FILE, is_model
from fdmix.storage.places import place_of
from fdmix.storage.remote_errors import RemoteError
from fdmix.text import batches
from fdmix.text.layouts import Layout
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import files_of

TEXTS = [f"cat dog mouse {'tree leaf' if n % 2 else 'stock bond'} word{n % 7}" for n in range(600)]
pytestmark = pytest.mark.slow  # the server of the S3 API takes seconds to begin
CSV = "text,label\n" + "".join(f"{text},{n}\n" for n, text in enumerate(TEXTS))


@pytest.fixture(scope="module")
def server():
    pytest.importorskip("moto")
    s3fs = pytest.importorskip("s3fs")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with s3_server() as gate, pytest.MonkeyPatch.context() as patched:
        for name, value in (ENVIRONMENT | {"AWS_ENDPOINT_URL": gate.url}).items():
            patched.setenv(name, value)
        s3fs.S3FileSystem.clear_instance_cache()
        yield gate
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def bucket(server, monkeypatch, tmp_path):
    """An empty bucket; its gate counts requests."""
    import s3fs

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fs = s3fs.S3FileSystem(use_listings_cache=False)
    fs.mkdir("bucket")
    fs.gate = server
    server.requests.clear()
    yield fs
    server.refused.clear()
    fs.rm("bucket", recursive=True)


def test_all_kinds_of_text_are_read_from_a_bucket_as_from_a_disk(bucket, tmp_path):
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "a.parquet", row_group_size=50)
    (tmp_path / "b.csv").write_text(CSV)
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress("\n".join(TEXTS).encode()))
    for path in tmp_path.iterdir():
        bucket.put_file(str(path), f"bucket/in/{path.name}")
    here = [
        read_moments(path, column="text" if path.suffix != ".gz" else None) for path in sorted(tmp_path.iterdir())
    ]
    names = ["s3://bucket/in/a.parquet", "s3://bucket/in/b.csv", "s3://bucket/in/c.txt.gz"]
    there = [read_moments(name, column="text" if "txt" not in name else None) for name in names]
    assert [m.checksum() for m in there] == [m.checksum() for m in here]
    assert [m.ledger for m in there] == [m.ledger for m in here]


def test_folders_and_patterns(bucket):
    for name in ("a.csv", "b.csv", ".hidden.csv", "notes.bin", "deep/c.csv"):
        bucket.pipe(f"bucket/in/{name}", CSV.encode())
    found = files_of(["s3://bucket/in/?.csv"], Layout())
    assert list(map(str, found.paths)) == ["s3://bucket/in/a.csv", "s3://bucket/in/b.csv"]
    found = files_of(["s3://bucket/in"], Layout())
    assert [path.name for path in found.paths] == ["a.csv", "b.csv", "c.csv"]
    assert found.size == 3 * len(CSV)
    with pytest.raises(FileNotFoundError, match=r"s3://bucket/in/z\*"):
        files_of(["s3://bucket/in/z*"], Layout())


def test_text_files_of_a_folder_are_documents_and_those_by_name_have_lines(bucket):
    bucket.pipe("bucket/in/a.txt", b"cat dog\nmouse tree\n")
    assert read_corpus("s3://bucket/in").n_documents == 1
    assert read_corpus("s3://bucket/in/a.txt").n_documents == 2


def test_moments_come_back_to_the_last_bit_and_nothing_else_is_left(bucket):
    moments = read_moments(TEXTS, folds=2)
    moments.save("s3://bucket/out/x.moments")
    again = Moments.load("s3://bucket/out/x.moments")
    assert again.checksum() == moments.checksum()
    assert [fold.checksum() for fold in again.folds] == [fold.checksum() for fold in moments.folds]
    assert bucket.find("bucket") == ["bucket/out/x.moments"]
    assert is_moments("s3://bucket/out/x.moments")
    assert [path.name for path in moments_files(["s3://bucket/out"])] == ["x.moments"]


def test_a_failed_write_leaves_the_old_file(bucket):
    bucket.pipe("bucket/x", b"old")

    def fails():
        with replacing("s3://bucket/x") as file:
            file.write(b"half of the new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert bucket.cat("bucket/x") == b"old"
    bucket.gate.refused["PUT", "/x"] = [403] * 9
    with pytest.raises(PermissionError, match="s3://bucket/x"), replacing("s3://bucket/x") as file:
        file.write(b"new")
    assert bucket.cat("bucket/x") == b"old"
    assert bucket.find("bucket") == ["bucket/x"]


@pytest.mark.slow
def test_large_files_are_uploaded_in_parts_that_become_visible_together(bucket):
    content = np.random.default_rng(0).integers(0, 256, 110 << 20, np.uint8).tobytes()  # more than two parts of 50 MB
    with replacing("s3://bucket/large") as file:
        file.write(content)
    assert bucket.info("bucket/large")["size"] == len(content)
    assert any("uploadId" in path for method, path in bucket.gate.requests if method == "POST")
    with place_of("s3://bucket/large").open() as file:
        file.seek(len(content) - 10)
        assert file.read() == content[-10:]


def model(n_topics=2, seed=0):
    return fit_mixture(read_moments(TEXTS), n_topics, seed=seed).mixture


def test_models_are_written_replaced_and_read(bucket):
    first, second = model(2), model(3)
    first.save("s3://bucket/models/m")
    assert np.array_equal(Mixture.load("s3://bucket/models/m").topics, first.topics)
    second.save("s3://bucket/models/m")
    assert np.array_equal(Mixture.load("s3://bucket/models/m").topics, second.topics)
    assert is_model("s3://bucket/models/m")
    assert not [name for name in bucket.find("bucket") if "new" in name or "tmp" in name]


def test_a_model_is_whole_at_every_moment(bucket):
    new, old = model(3), model(2)
    bucket.gate.refused["PUT", FACTS_FILE] = [403] * 9
    with pytest.raises(PermissionError):
        old.save("s3://bucket/m")
    assert bucket.find("bucket") == []  # nothing half-written
    bucket.gate.refused.clear()
    old.save("s3://bucket/m")
    bucket.gate.refused["PUT", FACTS_FILE] = [403] * 9
    with pytest.raises(PermissionError):
        new.save("s3://bucket/m")
    assert np.array_equal(Mixture.load("s3://bucket/m").topics, old.topics)
    bucket.gate.refused.clear()
    bucket.gate.refused["PUT", "mixture.safetensors"] = [403] * 9  # the last step: the copy of the new arrays
    with pytest.raises(PermissionError):
        new.save("s3://bucket/m")
    assert np.array_equal(Mixture.load("s3://bucket/m").topics, new.topics)
    bucket.gate.refused.clear()
    new.save("s3://bucket/m")
    assert not any("new" in name for name in bucket.find("bucket"))


class Stopped(BaseException):
    """Like Ctrl-C."""


def test_a_count_resumes_without_reading_a_finished_file_again(bucket, monkeypatch):
    monkeypatch.setattr(batches.in_batches, "__defaults__", (4_000,))
    for name in "abc":
        bucket.pipe(f"bucket/in/{name}.csv", CSV.replace("word", f"word{name}").encode())

    def job():
        files = files_of(["s3://bucket/in/*.csv"], Layout(column="text"))
        return CountInProgress(files, Cleaning(), "s3://bucket/x.moments", folds=2, every=0.0)

    def report(name, done, total):
        if done > 1.5 * len(CSV):  # in the middle of the second file
            raise Stopped

    with pytest.raises(Stopped):
        job().run(1, report)
    assert bucket.find("bucket") == [f"bucket/in/{name}.csv" for name in "abc"]
    bucket.gate.requests.clear()
    assert job().resumes
    moments = job().run(1)
    assert not bucket.gate.gets("a.csv")
    assert bucket.gate.gets("b.csv")
    assert moments.checksum() == read_moments("s3://bucket/in", column="text", folds=2).checksum()
    assert Moments.load("s3://bucket/x.moments").checksum() == moments.checksum()
    assert not job().folder.exists()


def test_a_count_of_a_file_that_has_changed_does_not_resume(bucket):
    bucket.pipe("bucket/a.csv", CSV.encode())

    def job():
        return CountInProgress(files_of(["s3://bucket/a.csv"], Layout(column="text")), Cleaning(), "s3://bucket/m")

    plan = job()._plan()
    bucket.pipe("bucket/a.csv", CSV.replace("cat", "cow").encode())  # as many bytes
    assert job()._plan() != plan


def test_errors_of_the_server_are_repeated_by_the_library(bucket):
    bucket.pipe("bucket/a.csv", CSV.encode())
    bucket.gate.refused["GET", "a.csv"] = [503, 500]
    assert read_corpus("s3://bucket/a.csv", column="text").n_documents == len(TEXTS)
    assert len(bucket.gate.gets("a.csv")) >= 3


def test_what_cannot_be_written_is_refused_before_any_work(bucket):
    with pytest.raises(FileNotFoundError, match="nothing can be written into s3://elsewhere"):
        check_output(place_of("s3://elsewhere/x.moments"), [])
    bucket.pipe("bucket/a.csv", CSV.encode())
    with pytest.raises(FileExistsError, match="is an input"):
        check_output(place_of("s3://bucket/a.csv"), ["s3://bucket/a.csv"])
    with pytest.raises(FileExistsError, match="not a file of moments"):
        check_output(place_of("s3://bucket/a.csv"), [])
    with pytest.raises(FileExistsError, match="is a file"):
        check_model_output(place_of("s3://bucket/a.csv"), force=False)
    with pytest.raises(FileExistsError, match="files other than a model"):
        check_model_output(place_of("s3://bucket"), force=False)
    assert bucket.find("bucket") == ["bucket/a.csv"]  # the attempts to write left nothing


def test_a_damaged_file_of_moments_is_refused(bucket):
    read_moments(TEXTS).save("s3://bucket/x.moments")
    content = bucket.cat("bucket/x.moments")
    bucket.pipe("bucket/x.moments", content[:-100])
    with pytest.raises(ValueError, match=r"s3://bucket/x.moments is truncated"):
        Moments.load("s3://bucket/x.moments")


def test_a_server_that_is_not_there_is_named(bucket, monkeypatch):
    import s3fs

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(RemoteError, match=r"s3://bucket/a\.csv cannot be used"):
        read_corpus("s3://bucket/a.csv")
    s3fs.S3FileSystem.clear_instance_cache()


def run(*arguments, code=0):
    program = Path(sys.executable).with_name("fdmix")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_commands_from_bucket_to_bucket(bucket):
    bucket.pipe("bucket/in/a.csv", CSV.encode())
    run("count", "s3://bucket/in/*.csv", "--column", "text", "-o", "s3://bucket/out/x.moments")
    run("fit", "s3://bucket/out/x.moments", "--topics", 2, "-o", "s3://bucket/out/model")
    run("assign", "s3://bucket/out/model", "s3://bucket/in/a.csv", "--column", "text", "-o", "s3://bucket/out/t.csv")
    assert len(bucket.cat("bucket/out/t.csv").splitlines()) == len(TEXTS) + 1
    assert not [name for name in bucket.find("bucket") if "tmp" in name or "partial" in name]
    with pytest.raises(ValueError, match="writes into a folder on this machine"):
        require_local(place_of("s3://bucket/comparison"))
