"""Spark in local-cluster mode, with executors in processes of their own: the bytes of one machine, whatever fails.

Local-cluster mode, because Spark repeats no task in its plain local mode.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from distributed_documents import corpus, random_partitions, saved_bytes
from engines_installed import needs_spark

import fdmix
from fdmix import fit_mixture, read_moments, read_moments_by
from fdmix.distributed import (
    ClusterError,
    PartitionError,
    assign,
    count_moments,
    evaluate,
    representatives,
    sample,
)
from fdmix.distributed.partitions import LocalPartitions
from fdmix.text.layouts import Layout

pytestmark = [
    needs_spark,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # sockets of py4j, closed when Spark stops
]
TABLE = corpus(600)
CLEANING = {"stem": "english", "phrases": True, "min_count": 3, "folds": 3}
SCHEMA = "id long, text string, date string, party string"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
}


def spark_home(folder):
    """A folder of Spark that executors may write logs into: links to what pip installed."""
    import pyspark

    for name in ("jars", "bin"):
        (folder / name).symlink_to(Path(pyspark.__file__).parent / name)
    return folder


@pytest.fixture(scope="module")
def settings_of_processes(tmp_path_factory):
    ours = {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(spark_home(tmp_path_factory.mktemp("spark"))),
        "PYSPARK_PYTHON": sys.executable,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ours.items():
            patch.setenv(name, value)
        yield


@pytest.fixture
def spark(settings_of_processes):
    """A cluster of two executors, started when it is needed."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    paths = os.pathsep.join([str(Path(fdmix.__file__).parents[1]), str(Path(__file__).parent)])
    return builder.config("spark.executorEnv.PYTHONPATH", paths).getOrCreate()


@pytest.fixture(scope="module", autouse=True)
def stopped_at_the_end(settings_of_processes):
    from pyspark.sql import SparkSession

    yield
    if (session := SparkSession.getActiveSession()) is not None:
        session.stop()


def frame_of(spark, pieces):
    """A DataFrame whose partitions are these tables."""
    return spark.range(0, len(pieces), 1, len(pieces)).mapInArrow(Pieces(pieces), SCHEMA)


class Pieces:
    """Reads a partition: the table whose number is the id of the only row."""

    def __init__(self, pieces, before=lambda number: None):
        self.pieces, self.before = pieces, before

    def __call__(self, batches):
        for batch in batches:
            for number in batch.column("id").to_pylist():
                self.before(number)
                yield from self.pieces[number].to_batches()


@pytest.fixture(scope="module")
def one_machine(tmp_path_factory):
    return saved_bytes(read_moments(TABLE, column="text", **CLEANING), tmp_path_factory.mktemp("one"))


def test_any_partitions_give_the_bytes_of_one_machine(spark, one_machine, tmp_path):
    frame = frame_of(spark, random_partitions(TABLE, seed=1))
    seen = []
    total = count_moments(frame, **CLEANING, split_every=2, report=lambda *step: seen.append(step))
    assert saved_bytes(total, tmp_path) == one_machine
    assert {name for name, _, _ in seen} & {"reading", "counting"}


def test_groups_give_the_bytes_of_one_machine(spark, tmp_path):
    one = read_moments_by(TABLE, "month(date),party", layout=Layout("text"), min_count=3, folds=2)
    frame = frame_of(spark, random_partitions(TABLE, seed=2, n_partitions=3))
    total = count_moments(frame, by="month(date),party", min_count=3, folds=2)
    assert saved_bytes(total, tmp_path) == saved_bytes(one, tmp_path)


def test_files_are_counted_in_the_session_that_runs(spark, tmp_path):
    """The session is the caller's, so it goes on running; another address would not be obeyed."""
    file = tmp_path / "a.parquet"
    pq.write_table(TABLE, file, row_group_size=100)
    with pytest.raises(ClusterError, match=r"runs here already, at local-cluster.*, not at local"):
        count_moments(file, column="text", **CLEANING, engine="spark", cluster="local[1]")
    one = read_moments(file, column="text", **CLEANING)
    total = count_moments(file, column="text", **CLEANING, engine="spark")
    assert saved_bytes(total, tmp_path) == saved_bytes(one, tmp_path)
    assert spark.range(3).count() == 3


class Trouble:
    """What happens to partitions the first times that they are read: two failures, and a killed executor."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, number):
        tries = len(list(self.folder.glob(f"{number}-*")))
        (self.folder / f"{number}-{tries}").touch()
        if number == 0 and tries < 2:
            raise OSError("the disk did not answer")
        if number == 2 and tries == 0:
            daemon = Path(f"/proc/{os.getppid()}/stat").read_text().rsplit(")", 1)[1].split()[1]
            os.kill(int(daemon), signal.SIGKILL)  # the executor: the parent of the parent of this process


def test_failures_and_a_killed_executor_change_nothing(spark, one_machine, tmp_path):
    pieces = random_partitions(TABLE, seed=3)
    (tmp_path / "tries").mkdir()
    frame = spark.range(0, len(pieces), 1, len(pieces)).mapInArrow(
        Pieces(pieces, Trouble(tmp_path / "tries")), SCHEMA
    )
    total = count_moments(frame, **CLEANING)
    tries = sorted(path.name for path in (tmp_path / "tries").iterdir())
    assert {"0-0", "0-1", "0-2", "2-0", "2-1"} <= set(tries)
    assert saved_bytes(total, tmp_path) == one_machine


def test_topics_scores_and_samples_are_those_of_one_process(spark, tmp_path):
    """Assign, evaluate, representatives and sample in executors, against the same partitions in this process."""
    model = fit_mixture(read_moments(TABLE, column="text", min_count=3), 3).mixture
    pieces = random_partitions(TABLE, seed=5, n_partitions=3)
    here, there = LocalPartitions(pieces), frame_of(spark, pieces)
    assert evaluate(there, model) == evaluate(here, model)
    assert representatives(there, model, 4) == representatives(here, model, 4)
    assert sample(there, 50) == sample(here, 50)
    assign(here, model, tmp_path / "here", keep=["id"])
    done = assign(there, model, tmp_path / "there", keep=["id"])
    assert done.n_documents == TABLE.num_rows
    assert pq.read_table(tmp_path / "there") == pq.read_table(tmp_path / "here")


def test_bad_partitions_are_named(spark):
    frame = frame_of(spark, random_partitions(TABLE, seed=1, n_partitions=2))
    with pytest.raises(ValueError, match="the DataFrame has no column 'body'; it has id, text"):
        count_moments(frame, column="body")
    with pytest.raises(PartitionError, match=r"partition 0: .*holds int64, not text"):
        count_moments(frame.coalesce(1), column="id")


def test_a_cluster_that_goes_away_is_an_error_in_words(spark, tmp_path):
    frame = spark.range(0, 2, 1, 2).mapInArrow(Pieces([TABLE, TABLE], lambda number: time.sleep(3)), SCHEMA)
    with pytest.raises(ClusterError, match="went away"):
        count_moments(frame, report=lambda *_: spark.stop())


SCRIPT = """
import sys
from pyspark.sql import SparkSession
from fdmix.distributed import count_moments
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.executorEnv.PYTHONPATH", sys.argv[1]).getOrCreate()
count_moments(spark.createDataFrame([("a b",)], "text string"))
"""


@pytest.mark.parametrize("there", ["another version", "nothing"])
def test_workers_with_another_fdmix_are_refused(there, settings_of_processes, tmp_path):
    (tmp_path / "fdmix").mkdir()
    if there == "nothing":
        content, message = (
            "raise ModuleNotFoundError(\"No module named 'fdmix'\", name='fdmix')",
            "does not have this",
        )
    else:
        ours = Path(fdmix.__file__)
        content = f"__path__ = [{str(ours.parent)!r}]\n__version__ = '99.0'\n"
        message = "has fdmix 99.0, and this process has"
    (tmp_path / "fdmix" / "__init__.py").write_text(content)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert f"ClusterError: a worker {message}" in done.stderr
