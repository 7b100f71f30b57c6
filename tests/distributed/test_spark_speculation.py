"""Two attempts of the same Spark task that both read everything: the partition counts once.

Spark starts a second, speculative attempt of a slow task only on another host. So this is a cluster of Spark's own
(master and two workers), whose workers have two addresses of this machine. An attempt to read partition 0 waits for a
second one before it gives its last rows.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from distributed_documents import corpus, random_partitions, saved_bytes
from engines_installed import needs_spark

import fdmix
from fdmix import read_moments

pytestmark = [needs_spark, pytest.mark.slow]
CLEANING = {"stem": "english", "min_count": 3, "folds": 3}
HOSTS = ("127.0.0.2", "127.0.0.3")
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # starts in half the time


class SlowUntilTwice:
    """Reads a partition; of partition 0, two attempts give their last rows at the same time."""

    def __init__(self, pieces, folder):
        self.pieces, self.folder = pieces, folder

    def __call__(self, batches):
        for batch in batches:
            for number in batch.column("id").to_pylist():
                *most, last = self.pieces[number].to_batches(max_chunksize=20) or [None]
                yield from most
                if number == 0:
                    self.meet()
                if last is not None:
                    yield last

    def meet(self):
        """Wait until another attempt has come here, too; only the first two wait."""
        (self.folder / f"{socket.gethostname()}-{os.getpid()}").touch()
        begin = time.monotonic()
        while len(list(self.folder.iterdir())) < 2:
            if time.monotonic() - begin > 90:
                raise TimeoutError("no second attempt of the partition was started")
            time.sleep(0.05)


def main(master, folder):
    """Count and assign on the cluster; runs in a process of its own."""
    from pyspark.sql import SparkSession

    from fdmix import fit_mixture
    from fdmix.distributed import assign, count_moments

    builder = SparkSession.builder.master(master)
    settings = {
        "ui.enabled": "false", "driver.host": "127.0.0.1", "executor.memory": "512m", "executor.cores": "1",
        "sql.shuffle.partitions": "2", "speculation": "true", "speculation.interval": "100ms",
        "speculation.multiplier": "1", "speculation.quantile": "0.1", "speculation.minTaskRuntime": "200ms",
        "executor.extraJavaOptions": JAVA, "driver.extraJavaOptions": JAVA,
        "executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
    }  # fmt: skip
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    spark = builder.getOrCreate()
    table = corpus(600)
    pieces = [table.slice(0, 100), *random_partitions(table.slice(100), seed=3)]
    schema = "id long, text string, date string, party string"

    def frame(name):
        (folder / name).mkdir()
        numbers = spark.range(0, len(pieces), 1, len(pieces))
        return numbers.mapInArrow(SlowUntilTwice(pieces, folder / name), schema)

    moments = count_moments(frame("count"), **CLEANING)
    moments.save(folder / "moments")
    model = fit_mixture(moments, 2).mixture
    done = assign(frame("assign"), model, folder / "topics", keep=["id"])
    attempts = {name: len(list((folder / name).iterdir())) for name in ("count", "assign")}
    sys.stdout.write(json.dumps({"attempts": attempts, "documents": done.n_documents}) + "\n")
    spark.stop()


def line_with(process, pattern):
    """What the pattern finds in the first line of a log that has it."""
    return next(found[1] for line in process.stderr if (found := re.search(pattern, line)))


@contextmanager
def spark_cluster(folder):
    """The address of a master with two workers, whose hosts have different addresses."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = os.environ | {
        "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": JAVA, "SPARK_LOG_DIR": str(folder),
        "PYTHONPATH": os.pathsep.join([str(Path(fdmix.__file__).parents[1]), str(Path(__file__).parent)]),
    }  # fmt: skip
    started = []

    def start(kind, *options):
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *options]
        started.append(subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True))
        return started[-1]

    try:
        master = start("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        address = line_with(master, r"(spark://127\.0\.0\.1:\d+)")
        for number, host in enumerate(HOSTS):
            options = ["--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0"]
            worker = start("worker.Worker", *options, "-d", str(folder / f"worker-{number}"), address)
            line_with(worker, r"(Successfully registered)")
        yield address, environment
    finally:
        for process in reversed(started):
            process.terminate()
            process.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_two_attempts_that_both_finish_count_once(tmp_path):
    with spark_cluster(tmp_path) as (address, environment):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, address, str(tmp_path)],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["attempts"]["count"] >= 2
    assert found["attempts"]["assign"] >= 2
    (tmp_path / "one").mkdir()
    one = saved_bytes(read_moments(corpus(600), column="text", **CLEANING), tmp_path / "one")
    assert (tmp_path / "moments").read_bytes() == one
    assert found["documents"] == 600
    assert sorted(ds.dataset(tmp_path / "topics").to_table()["id"].to_pylist()) == list(range(600))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    from test_spark_speculation import main as run  # a name that workers find, too: not __main__

    run(sys.argv[1], Path(sys.argv[2]))
