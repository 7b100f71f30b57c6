"""URLs: what they name, and that passwords and signatures are neither shown nor stored."""

import io
import sys
from pathlib import Path

import pytest
from web_server import web_site

from fdmix import fit_mixture, read_corpus, read_moments
from fdmix.corpus.preparation import Cleaning
from fdmix.storage import remote_reading
from fdmix.storage.places import is_remote, place_of
from fdmix.storage.remote_errors import RemoteError, explained
from fdmix.storage.urls import redacted, without_secrets
from fdmix.text.layouts import Layout
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import files_of

SECRET = "Xk42%2FzQ"
TEXTS = [f"cat dog mouse {'tree leaf' if n % 2 else 'stock bond'}" for n in range(200)]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host/a.csv", "https://host/a.csv"),
        ("https://host/a.csv?X-Amz-Signature=abc&b=c", "https://host/a.csv?..."),
        ("https://user:word@host:80/a.csv", "https://host:80/a.csv"),
        ("https://token@host/a.csv#part", "https://host/a.csv"),
        ("s3://key:word@bucket/a?.csv", "s3://bucket/a?.csv"),
        ("zip://a.csv::https://user:word@host/b.zip?sig=abc", "zip://a.csv::https://host/b.zip?..."),
        ("http://[::1]:80/a.csv?sig=abc", "http://[::1]:80/a.csv?..."),
        (
            "abfs://container@account.dfs.core.windows.net/a.csv",
            "abfs://container@account.dfs.core.windows.net/a.csv",
        ),
        (
            "abfss://container@account.dfs.core.windows.net/a.csv?sv=2024-11-04&se=2026&sig=Xk42%2FzQ%3D",
            "abfss://container@account.dfs.core.windows.net/a.csv?...",
        ),
        ("gs://bucket/a.csv?token=abc", "gs://bucket/a.csv?..."),
        ("abfs://container/2026-0?/a?.csv", "abfs://container/2026-0?/a?.csv"),
    ],
)
def test_shown_urls_have_no_secrets(url, shown):
    assert without_secrets(url) == shown
    assert str(place_of(url)) == shown
    assert shown in repr(place_of(url))


def test_messages_of_libraries_lose_their_secrets():
    url = f"https://user:{SECRET}@host/a.csv?sig={SECRET}"
    said = f"404, url='{url}', query sig={SECRET}, also https://other:{SECRET}@host/ and sig=Xk42/zQ"
    assert SECRET not in redacted(said, url)
    assert "Xk42/zQ" not in redacted(said, url)
    assert SECRET not in str(explained(RuntimeError(said), url))
    assert SECRET not in redacted(said, f"zip://a.csv::{url}")
    signed = f"abfs://container@account.dfs.core.windows.net/a.csv?sv=2024-11-04&sig={SECRET}"
    said = f"the key of sv=2024-11-04&sig={SECRET} has expired: {signed}"
    assert SECRET not in redacted(said, signed)
    assert place_of(signed).suffix == ".csv"


@pytest.mark.parametrize("given", ["s3://bucket/a/b.csv.gz", Path("s3://bucket/a/b.csv.gz")])
def test_a_place_has_the_parts_of_a_path(given):
    place = place_of(given)
    assert is_remote(place)
    assert (str(place), place.name, place.suffix) == ("s3://bucket/a/b.csv.gz", "b.csv.gz", ".gz")
    assert str(place.parent / "c") == "s3://bucket/a/c"
    assert str(place.with_suffix("")) == "s3://bucket/a/b.csv"
    assert place_of(place) is place


def test_other_names_are_local():
    assert place_of("a/b.csv") == Path("a/b.csv")
    assert place_of("file:///a/b.csv") == Path("/a/b.csv")
    assert not is_remote(place_of(Path("c:/a")))
    with pytest.raises(ValueError, match="needs a file on this machine"):
        open(place_of("s3://bucket/a.csv"))  # noqa: PTH123, SIM115
    with pytest.raises(TypeError, match="names of files"):
        read_corpus(["s3://bucket/a.csv", "s3://bucket/b.csv"])


class PlainFile(io.BytesIO):
    """A file like those of SFTP: it does not tell its size, and seeking gives nothing back."""

    def seek(self, *where):
        super().seek(*where)


class PlainFiles:
    """A file system of one file."""

    def open(self, *_, **__):
        return PlainFile(b"cat dog mouse")

    def info(self, _):
        return {"size": 13}


def test_files_that_do_not_tell_their_size_are_read():
    with remote_reading.opened_blocks(PlainFiles(), "a", "sftp://host/a", repeated=False) as file:
        file.seek(4)
        assert file.read() == b"dog mouse"


def test_a_failed_upload_leaves_no_temporary_file(tmp_path, monkeypatch):
    memory = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem
    place = place_of("memory://failing/a.bin")
    (tmp_path / "a.bin").write_bytes(b"new")

    def fail(*_, **__):
        raise OSError("no answer")

    place.upload(tmp_path / "a.bin")
    monkeypatch.setattr(memory, "mv", fail)
    with pytest.raises(RemoteError, match="no answer"):
        place.upload(tmp_path / "a.bin")
    assert [each.name for each in place.parent.iterdir()] == ["a.bin"]


def test_files_that_only_their_query_tells_apart_are_other_files():
    """A server that says nothing of the state of its files."""
    pytest.importorskip("aiohttp")
    with web_site() as site:
        site.files["/a.csv"], site.length, site.tag = b"text\ncat dog\n", "hidden", False
        urls = [f"{site.url}/a.csv?id={number}" for number in (1, 2)]
        plans = [
            CountInProgress(files_of([url], Layout("text")), Cleaning(), "m")._plan() for url in (*urls, urls[0])
        ]
    assert plans[0] != plans[1]
    assert plans[0] == plans[2]
    assert "id=1" not in str(plans)


def test_missing_packages_are_named(monkeypatch):
    with pytest.raises(ImportError, match=r"gs:// need the package gcsfs: pip install 'fdmix\[cloud\]' gcsfs"):
        read_corpus("gs://bucket/a.csv")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"s3:// need the package s3fs: pip install 'fdmix\[cloud\]'$"):
        read_corpus("s3://bucket/a.csv")
    with pytest.raises(ImportError, match=r"nothing:// need the package fsspec: pip install 'fdmix\[cloud\]'$"):
        read_corpus("nothing://bucket/a.csv")


def test_a_protocol_that_nobody_knows():
    pytest.importorskip("fsspec")
    with pytest.raises(ValueError, match="Protocol not known: nothing"):
        read_corpus("nothing://bucket/a.csv")


class Stopped(BaseException):
    """Like Ctrl-C."""


def test_nothing_that_is_written_or_said_holds_a_secret(tmp_path, monkeypatch, caplog):
    pytest.importorskip("aiohttp")
    monkeypatch.setattr(remote_reading, "WAITS", (0.01,))

    def stop(*_):
        raise Stopped

    with web_site() as site:
        for name in "ab":
            site.files[f"/{name}.csv"] = ("text\n" + "\n".join(TEXTS).replace("cat", f"cat{name}")).encode()
        host = site.url.replace("http://", f"http://user:{SECRET}@")
        urls = [f"{host}/{name}.csv?sig={SECRET}" for name in "ab"]
        job = CountInProgress(files_of(urls, Layout(column="text")), Cleaning(), tmp_path / "m", every=0.0)
        with pytest.raises(Stopped):
            job.run(1, lambda name, *_: stop() if name == "counting" else None)
        written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert b"a.csv" in written
        assert SECRET.encode() not in written
        urls = [url.replace("sig", "again-signed") for url in urls]  # another signature, the same file: it resumes
        job = CountInProgress(files_of(urls, Layout(column="text")), Cleaning(), tmp_path / "m", every=0.0)
        assert job.resumes
        moments = job.run(1)
        assert sorted(source.name for source in moments.ledger.sources.values()) == ["a.csv", "b.csv"]
        fit_mixture(moments, 2, max_passes=3).mixture.save(tmp_path / "model")
        corpus = read_corpus(files_of(urls, Layout(column="text")))
        site.faults["/a.csv"] = ["500"] * 9
        with pytest.raises(RemoteError) as caught:
            read_moments(urls[0])
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for text in (str(corpus.documents["file"]), str(caught.value), repr(caught.value), caplog.text):
        assert SECRET not in text
    assert SECRET.encode() not in written
