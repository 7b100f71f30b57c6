"""URLs: what they name, and that passwords and signatures are neither shown nor stored."""

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
        (
            "abfs://container@account.dfs.core.windows.net/a.csv",
            "abfs://container@account.dfs.core.windows.net/a.csv",
        ),
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


def test_missing_packages_are_named(monkeypatch):
    with pytest.raises(ImportError, match=r"gs:// need the package gcsfs: pip install 'fdmix\[cloud\]' gcsfs"):
        read_corpus("gs://bucket/a.csv")
    with pytest.raises(ValueError, match="Protocol not known: nothing"):
        read_corpus("nothing://bucket/a.csv")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"s3:// need the package s3fs: pip install 'fdmix\[cloud\]'$"):
        read_corpus("s3://bucket/a.csv")


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
