"""Topics and samples of documents on a cluster: the same whatever the partitions, and nothing half-written."""

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from distributed_documents import corpus, random_partitions

from fdmix import fit_mixture, read_corpus, read_moments
from fdmix.distributed import PartitionError, assign, sample
from fdmix.distributed.partitions import LocalPartitions

TABLE = corpus(500)


@pytest.fixture(scope="module")
def model():
    return fit_mixture(read_moments(TABLE, column="text", stem="english"), 3).mixture


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


def test_a_task_that_runs_twice_writes_one_file(model, tmp_path):
    class Twice(LocalPartitions):
        def listed(self, work, step):
            super().listed(work, step)
            return super().listed(work, step)

    done = assign(Twice([TABLE, None]), model, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["part-00000.parquet", "part-00001.parquet"]
    assert ds.dataset(tmp_path / "out").count_rows() == done.n_documents == 500


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
