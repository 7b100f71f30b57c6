"""Topics and samples of documents on a cluster: the same whatever the partitions, and nothing half-written."""

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from distributed_documents import corpus, random_partitions
from s3_server import ENVIRONMENT, s3_server

from fdmix import fit_mixture, read_corpus, read_moments
from fdmix.distributed import PartitionError, assign, sample
from fdmix.distributed.partitions import LocalPartitions
from fdmix.storage.places import place_of
from fdmix.text.layouts import Layout
from fdmix.text.sources import files_of

TABLE = corpus(500)


@pytest.fixture(scope="module")
def model():
    return fit_mixture(read_moments(TABLE, column="text", stem="english"), 3).mixture


@pytest.fixture(scope="module")
def s3():
    """A file system of a bucket called `bucket`."""
    s3fs = pytest.importorskip("s3fs")
    pytest.importorskip("moto")
    with s3_server() as gate, pytest.MonkeyPatch.context() as patched:
        for name, value in (ENVIRONMENT | {"AWS_ENDPOINT_URL": gate.url}).items():
            patched.setenv(name, value)
        s3fs.S3FileSystem.clear_instance_cache()
        system = s3fs.S3FileSystem(use_listings_cache=False)
        system.mkdir("bucket")
        yield system
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.mark.parametrize("form", ["main", "wide", "long"])
def test_topics_are_those_of_one_machine(form, model, tmp_path):
    theta = model.assign(read_corpus(TABLE, column="text", like=model))
    done = assign(LocalPartitions(random_partitions(TABLE, 1)), model, tmp_path / "out", keep=["id"], form=form)
    found = ds.dataset(tmp_path / "out").to_table().to_pylist()
    assert done.n_documents == 500
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == list(done.files)
    assert {row["id"] for row in found} == set(range(500))
    for row in found:
        if row["topic"] is None:
            assert row["known_words"] == 0
        else:
            assert row["share"] == pytest.approx(theta[row["id"], row["topic"]], abs=1e-9)
    if form != "long":
        assert len(found) == 500
        assert sum(row["topic"] is None for row in found) == done.n_empty


def test_a_failure_leaves_nothing_behind(model, tmp_path):
    pieces = [TABLE, TABLE.rename_columns(["id", "body", "date", "party"])]
    with pytest.raises(PartitionError, match=r"partition 1: .*no column"):
        assign(LocalPartitions(pieces), model, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_result_is_never_replaced(model, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(FileExistsError, match="exists already"):
        assign(LocalPartitions([TABLE]), model, tmp_path / "out")


def test_an_earlier_result_is_replaced_on_request(model, tmp_path):
    assign(LocalPartitions([TABLE, TABLE]), model, tmp_path / "out")
    done = assign(LocalPartitions([TABLE]), model, tmp_path / "out", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert ds.dataset(tmp_path / "out").count_rows() == done.n_documents == 500


def test_other_files_are_never_replaced(model, tmp_path):
    """Neither a folder with other files, nor the earlier result if the new one fails."""
    assign(LocalPartitions([TABLE]), model, tmp_path / "out")
    with pytest.raises(PartitionError):
        assign(LocalPartitions([TABLE.select(["id"])]), model, tmp_path / "out", overwrite=True)
    assert ds.dataset(tmp_path / "out").count_rows() == 500
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"files that assign did not write \(notes\.txt\)"):
        assign(LocalPartitions([TABLE]), model, tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_documents_are_never_replaced_by_their_topics(model, tmp_path):
    (tmp_path / "in").mkdir()
    pq.write_table(TABLE, tmp_path / "in" / "part-00000.parquet")
    files = files_of([tmp_path / "in"], Layout("text"))
    with pytest.raises(FileExistsError, match="holds the documents"):
        assign(files, model, tmp_path / "in", overwrite=True, engine="dask")
    assert pq.read_table(tmp_path / "in").num_rows == 500


def test_kept_columns_never_replace_columns_of_the_result(model, tmp_path):
    names = ["topic_0", "topic", "input_topic"]
    table = TABLE.append_column("topic", TABLE["id"]).append_column("input_topic", TABLE["party"])
    table = table.append_column("topic_0", TABLE["date"])
    assign(LocalPartitions([table]), model, tmp_path / "out", keep=names, form="wide")
    found = ds.dataset(tmp_path / "out").to_table()
    assert found["input_topic"].to_pylist() == TABLE["id"].to_pylist()
    assert found["input_input_topic"].to_pylist() == TABLE["party"].to_pylist()
    assert found["input_topic_0"].to_pylist() == TABLE["date"].to_pylist()
    assert found["topic_0"].type == pa.float64()


def test_a_worker_that_was_killed_leaves_nothing_in_the_result(model, tmp_path):
    class Killed(LocalPartitions):
        def listed(self, work, step):
            (Path(work.folder) / ".0123456789abcdef.fdmix-tmp").write_bytes(b"half a file")
            return super().listed(work, step)

    assign(Killed([TABLE]), model, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["part-00000.parquet"]


def test_a_task_that_runs_twice_writes_one_file(model, tmp_path):
    class Twice(LocalPartitions):
        def listed(self, work, step):
            super().listed(work, step)
            return super().listed(work, step)

    done = assign(Twice([TABLE, None]), model, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["part-00000.parquet", "part-00001.parquet"]
    assert ds.dataset(tmp_path / "out").count_rows() == done.n_documents == 500


def test_columns_have_the_same_types_in_all_files(model, tmp_path):
    """Numbers in one partition, fractions in the next, text or nothing in others; rows keep their values."""
    values = [[1, 2], [0.5, None], [None, None], ["a", "7"]]
    pieces = [pa.table({"text": ["cat dog", "mouse"], "x": column, "y": [1, 2]}) for column in values]
    pieces.insert(1, pieces[0].slice(0, 0))
    assign(LocalPartitions([*pieces, None]), model, tmp_path / "out", keep=["x", "y"])
    schemas = [pq.read_schema(path) for path in sorted((tmp_path / "out").iterdir())]
    assert len(schemas) == 6
    assert all(schema.equals(schemas[0]) for schema in schemas)
    assert (schemas[0].field("x").type, schemas[0].field("y").type) == (pa.string(), pa.int64())
    found = pq.read_table(tmp_path / "out")
    assert found["x"].to_pylist() == ["1", "2", "0.5", None, None, None, "a", "7"]
    assert found["y"].to_pylist() == [1, 2] * 4


def test_topics_are_written_to_a_bucket(model, s3):
    place = place_of("s3://bucket/topics/2026")
    done = assign(LocalPartitions([TABLE, None, TABLE]), model, str(place), keep=["id"])
    assert [entry.name for entry in place.iterdir()] == ["_SUCCESS", *done.files]
    found = ds.dataset("bucket/topics/2026", filesystem=s3).to_table()
    assert found["id"].to_pylist() == TABLE["id"].to_pylist() * 2
    for overwrite in (False, True):
        with pytest.raises(FileExistsError, match="folders at URLs are not replaced"):
            assign(LocalPartitions([TABLE]), model, str(place), overwrite=overwrite)


def test_a_failure_leaves_nothing_in_a_bucket(model, s3):
    pieces = [TABLE, TABLE.rename_columns(["id", "body", "date", "party"])]
    with pytest.raises(PartitionError, match=r"partition 1: .*no column"):
        assign(LocalPartitions(pieces), model, "s3://bucket/failed")
    assert not place_of("s3://bucket/failed").exists()


def test_the_same_documents_are_sampled_everywhere():
    texts = TABLE.column("text").to_pylist()
    first = sample(LocalPartitions([TABLE]), 50)
    assert len(first) == 50
    assert not set(first) - set(texts)
    for seed in range(4):
        assert sample(LocalPartitions(random_partitions(TABLE, seed)), 50) == first
    assert sample(LocalPartitions([TABLE]), 50, seed=1) != first
    everything = sample(LocalPartitions(random_partitions(TABLE, 1)), 10_000)
    assert sorted(everything) == sorted(text for text in texts if text)


def test_a_sample_is_fair():
    """Each of 2,000 different documents is chosen in about a fifth of the samples of 400."""
    table = pa.table({"text": [f"document number {n}" for n in range(2_000)]})
    counts = dict.fromkeys(table.column("text").to_pylist(), 0)
    for seed in range(50):
        for text in sample(LocalPartitions([table]), 400, seed=seed):
            counts[text] += 1
    assert min(counts.values()) > 0
    assert max(counts.values()) < 30
