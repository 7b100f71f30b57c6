"""Files on a cluster, from the command line: partitions of files give the bytes of `fdmix count` on one machine."""

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from distributed_documents import corpus
from engines_installed import needs_dask
from typer.testing import CliRunner

from fdmix import read_moments
from fdmix.cli.app import app
from fdmix.distributed import count_moments
from fdmix.distributed.file_parts import parts_of
from fdmix.text.layouts import Layout
from fdmix.text.sources import files_of

TABLE = corpus(800)


@pytest.fixture
def folder(tmp_path):
    """A Parquet file with row groups, a CSV file and a file of lines."""
    source = tmp_path / "in"
    source.mkdir()
    pq.write_table(TABLE.slice(0, 500), source / "a.parquet", row_group_size=60)
    TABLE.slice(500, 200).to_pandas().to_csv(source / "b.csv", index=False)
    pq.write_table(TABLE.slice(700), source / "c.parquet")
    return source


def test_parts_hold_every_document_once(folder):
    files = files_of([folder], Layout("text"))
    parts = parts_of(files)
    assert len(parts) > 5
    read = [text for part in parts for batch in part.batches() for text in batch.texts()]
    assert read == [text for batch in files.batches() for text in batch.texts()]
    rows = [row for part in parts for batch in part.batches() for row in batch.kept["row of the document"]]
    assert rows == [*range(500), *range(200), *range(100)]


def test_workers_find_files_from_any_folder(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    files = files_of(["in"], Layout("text"))
    parts, expected = parts_of(files), [text for batch in files.batches() for text in batch.texts()]
    monkeypatch.chdir("/")
    batches = [batch for part in parts for batch in part.batches()]
    assert [text for batch in batches for text in batch.texts()] == expected
    named = {name for batch in batches for name in batch.kept["file of the document"]}
    assert named == {"in/a.parquet", "in/b.csv", "in/c.parquet"}


def test_paragraphs_of_a_table_are_numbered_through_the_file(tmp_path):
    texts = [f"one {n}\n\ntwo {n}" for n in range(40)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet", row_group_size=10)
    parts = parts_of(files_of([tmp_path / "a.parquet"], Layout("text", split="paragraphs")))
    rows = [row for part in parts for batch in part.batches() for row in batch.kept["row of the document"]]
    assert rows == list(range(80))


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@needs_dask
@pytest.mark.slow
def test_commands_with_dask_give_what_they_give_without(folder, tmp_path):
    common = ["--column", "text", "--stem", "english", "--min-count", "2"]
    assert run("count", folder, *common, "-o", tmp_path / "one").exit_code == 0
    done = run("count", folder, *common, "-o", tmp_path / "two", "--engine", "dask")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert run("fit", tmp_path / "one", "--topics", 3, "-o", tmp_path / "model").exit_code == 0
    where = ["--column", "text", "--keep", "id"]
    assert run("assign", tmp_path / "model", folder, *where, "-o", tmp_path / "one.parquet").exit_code == 0
    done = run("assign", tmp_path / "model", folder, *where, "-o", tmp_path / "out", "--engine", "dask")
    assert done.exit_code == 0, done.output
    one = pq.read_table(tmp_path / "one.parquet").to_pylist()
    two = ds.dataset(tmp_path / "out").to_table().to_pylist()
    assert {shown(row) for row in two} == {shown(row) for row in one}
    assert len(two) == 800


@needs_dask
@pytest.mark.slow
def test_plain_text_needs_no_column(tmp_path):
    (tmp_path / "a.txt").write_text("cats chase mice\ndogs chase cats\n" * 30)
    total = count_moments(tmp_path / "a.txt", engine="dask")
    assert total.checksum() == read_moments(tmp_path / "a.txt").checksum()


def shown(row):
    """A row of the result; ids from CSV are text, and a file of several kinds of input has text only."""
    return str(row["id"]), row["topic"], row["known_words"], row["words"], row["file"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--cluster", "tcp://127.0.0.1:1"], "say also --engine dask"),
        (["--engine", "flink"], "no engine 'flink' for a cluster: there are dask, spark"),
    ],
)
def test_wrong_options_are_refused_early(options, sentence, folder, tmp_path):
    done = run("count", folder, "--column", "text", "-o", tmp_path / "x", *options)
    assert done.exit_code != 0
    assert sentence in str(done.exception)
    assert not (tmp_path / "x").exists()


@needs_dask
@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_an_error_in_words(folder, tmp_path):
    done = run(
        "count",
        folder,
        "--column",
        "text",
        "-o",
        tmp_path / "x",
        "--engine",
        "dask",
        "--cluster",
        "tcp://127.0.0.1:1",
    )
    assert "there is no Dask scheduler at tcp://127.0.0.1:1" in str(done.exception)
    assert not (tmp_path / "x").exists()


@needs_dask
@pytest.mark.slow
def test_workers_print_nothing_when_a_partition_cannot_be_read(folder, tmp_path, capfd):
    """The sentence of the error is enough; Dask would show the task and where it failed."""
    pq.write_table(pa.table({"body": ["a b"]}), folder / "d.parquet")
    done = run("count", folder, "--column", "text", "-o", tmp_path / "x", "--engine", "dask")
    assert "d.parquet has no column 'text'; it has body" in str(done.exception)
    assert "Traceback" not in capfd.readouterr().err
    assert not (tmp_path / "x").exists()


def test_standard_input_stays_here(tmp_path):
    done = run("count", "-", "-o", tmp_path / "x", "--engine", "dask")
    assert "a cluster cannot read standard input" in str(done.exception)
