"""gs://, abfs:// and hf:// as far as they can be tested without these services.

Their packages are replaced by fsspec's file system in memory, under their names. So this tests what fdmix does with
such URLs (patterns, folders, complete uploads, errors), and not the packages, their credentials and their networks.
"""

from importlib import import_module

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from fdmix import Mixture, Moments, fit_mixture, read_corpus, read_moments
from fdmix.distributed import assign
from fdmix.distributed.partitions import LocalPartitions
from fdmix.storage.places import place_of
from fdmix.storage.remote_errors import RemoteError
from fdmix.text.layouts import Layout
from fdmix.text.sources import files_of

fsspec = pytest.importorskip("fsspec")
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402

ROOTS = ("gs://bucket", "abfs://container@account.dfs.core.windows.net", "hf://datasets/people/news", "memory://x")
TABLE = pa.table({"text": [f"cat dog mouse {'tree leaf' if n % 2 else 'stock bond'}" for n in range(300)]})


class Store(MemoryFileSystem):
    """Names begin with the bucket, as in object stores."""

    @classmethod
    def _strip_protocol(cls, path):
        return "/" + str(path).partition("://")[2].strip("/") if "://" in str(path) else str(path).rstrip("/")

    def unstrip_protocol(self, name):
        return f"{self.protocol}://{name.lstrip('/')}"


@pytest.fixture(params=ROOTS)
def root(request, monkeypatch):
    """A URL whose protocol is a store in memory, empty at the beginning."""
    scheme = request.param.partition("://")[0]
    own = {"protocol": scheme, "store": {}, "pseudo_dirs": [""], "cachable": False}
    store = type("Store", (Store,), own)
    monkeypatch.setitem(import_module("fsspec.registry")._registry, scheme, store)
    return request.param


def put(url, content):
    fs, path = fsspec.url_to_fs(url)
    fs.pipe(path, content)


def parquet(tmp_path):
    pq.write_table(TABLE, tmp_path / "local.parquet", row_group_size=50)
    return (tmp_path / "local.parquet").read_bytes()


def test_text_is_read_as_from_a_disk(root, tmp_path):
    for name in ("a.parquet", "b.parquet", "notes.bin"):
        put(f"{root}/in/{name}", parquet(tmp_path))
    assert read_moments(f"{root}/in/a.parquet") == read_moments(tmp_path / "local.parquet")
    for given in (f"{root}/in", f"{root}/in/?.parquet"):
        assert [str(path) for path in files_of([given], Layout("text")).paths] == [
            f"{root}/in/a.parquet", f"{root}/in/b.parquet",
        ]  # fmt: skip
    with pytest.raises(FileNotFoundError, match=r"z\.parquet"):
        read_corpus(f"{root}/in/z.parquet")


def test_results_are_written_whole(root, monkeypatch, tmp_path):
    moments = read_moments(TABLE, column="text")
    moments.save(f"{root}/out/a.moments")
    model = fit_mixture(moments, 2, max_passes=5).mixture
    model.save(f"{root}/out/model")
    done = assign(LocalPartitions([TABLE, TABLE]), model, f"{root}/out/topics")
    assert Moments.load(f"{root}/out/a.moments") == moments
    np.testing.assert_array_equal(Mixture.load(f"{root}/out/model").topics, model.topics)
    assert {each.name for each in place_of(f"{root}/out").iterdir()} == {"a.moments", "model", "topics"}
    assert {each.name for each in place_of(f"{root}/out/topics").iterdir()} == {"_SUCCESS", *done.files}
    fs, path = fsspec.url_to_fs(f"{root}/out/topics")
    assert ds.dataset(path, filesystem=fs, exclude_invalid_files=True).count_rows() == 600

    def fail(*_, **__):
        raise OSError("no answer")

    monkeypatch.setattr(type(fs), "put_file", fail)
    with pytest.raises(RemoteError, match="no answer"):
        read_moments(TABLE.slice(0, 9), column="text").save(f"{root}/out/a.moments")
    assert Moments.load(f"{root}/out/a.moments") == moments
