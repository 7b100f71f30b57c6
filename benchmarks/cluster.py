"""What does a cluster cost? CPU seconds and memory of Dask and Spark against two threads, and Spark's own LDA.

Goal: at most 1.5 times the CPU seconds of the plain path on a million tweets. The fixed part (starting processes and
importing) is measured with 2,000 documents. FDMIX_PROBLEMS chooses some of the names in PROBLEMS.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.data import data_file
from benchmarks.measure import machine
from benchmarks.recording import record

PROBLEMS = ("plain", "dask", "dask_cluster", "dask_threads", "spark", "spark_frame", "spark_lda")
N_DOCUMENTS, N_FEW = 1_000_000, 2_000
N_PARTITIONS = 8
N_LDA, N_TEST, N_TOPICS, LDA_ITERATIONS = 60_000, 10_000, 50, 20
SPARK = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "3g",
         "spark.sql.shuffle.partitions": "8", "spark.driver.host": "127.0.0.1"}  # fmt: skip


def piece(path, number):
    """A row group of the text column."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(path).read_row_group(number, columns=["text"])


def plain(path):
    from fdmix import read_moments

    return read_moments(path, column="text", preset="tweets", n_threads=2)


def dask(path):
    """The file, which workers read: fdmix starts a worker process for each of two cores."""
    from fdmix.distributed import count_moments

    return count_moments(path, column="text", preset="tweets", engine="dask")


def dask_cluster(path, n_workers=2):
    """Delayed tables, on a cluster of the user's with Dask's own settings."""
    import pyarrow.parquet as pq
    from dask import delayed
    from distributed import Client, LocalCluster

    from fdmix.distributed import count_moments

    groups = range(pq.ParquetFile(path).metadata.num_row_groups)
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=2 // n_workers, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        return count_moments([delayed(piece)(path, number) for number in groups], preset="tweets")


def dask_threads(path):
    """The same with one worker process, which has two threads."""
    return dask_cluster(path, 1)


def session():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def spark(path):
    """The file, which workers read: fdmix starts Spark on the cores of this machine."""
    from fdmix.distributed import count_moments

    return count_moments(path, column="text", preset="tweets", engine="spark")


def spark_frame(path):
    """A DataFrame, which Java reads, in a session with Java's own settings."""
    from fdmix.distributed import count_moments

    running = session()
    total = count_moments(running.read.parquet(path), preset="tweets")
    running.stop()
    return total


def spark_lda(path):
    """Spark's LDA and fdmix on the same documents and words: seconds to fit, and completion of other documents."""
    import numpy as np
    import pyarrow.parquet as pq
    from pyspark.ml.clustering import LDA
    from pyspark.ml.linalg import SparseVector, VectorUDT
    from pyspark.sql.types import StructField, StructType

    from fdmix import Mixture, fit_mixture, metrics, read_corpus
    from fdmix.distributed import count_moments

    table = pq.read_table(path, columns=["text"])
    train, test = table.slice(0, N_LDA), table.slice(N_LDA, N_TEST)
    running = session()
    begin = time.perf_counter()
    frame = running.createDataFrame(train.to_pandas()).repartition(N_PARTITIONS)
    moments = count_moments(frame, preset="tweets")
    counted = time.perf_counter() - begin
    begin = time.perf_counter()
    ours = fit_mixture(moments, N_TOPICS).mixture
    fitted = time.perf_counter() - begin
    held_out = read_corpus(test, column="text", like=moments)
    corpus = read_corpus(train, column="text", like=moments)
    counts, n_words = corpus.counts, corpus.n_words
    rows = [
        (SparseVector(n_words, counts.indices[a:b], counts.data[a:b].astype(float)),)
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    ]
    vectors = running.createDataFrame(rows, StructType([StructField("features", VectorUDT())])).cache()
    vectors.count()
    result = {"count on Spark, s": counted, "fit of fdmix, s": fitted}
    models = {"fdmix": ours}
    for optimizer in ("online", "em"):
        begin = time.perf_counter()
        lda = LDA(k=N_TOPICS, maxIter=LDA_ITERATIONS, optimizer=optimizer, seed=1).fit(vectors)
        result[f"Spark LDA ({optimizer}), s"] = time.perf_counter() - begin
        topics = np.asarray(lda.topicsMatrix().toArray()).T
        models[f"Spark LDA ({optimizer})"] = Mixture(
            topics / topics.sum(axis=1, keepdims=True), vocabulary=moments.vocabulary
        )
    for name, mixture in models.items():
        result[f"completion, {name}"] = metrics.completion_log_likelihood(mixture, held_out, "dirichlet").mean
        result[f"NPMI, {name}"] = float(np.nanmean(metrics.coherence(mixture, moments).topics))
    running.stop()
    return result


def measured(name, path):
    """Run a function above in a process of its own: CPU seconds and peak memory of it and of all that it starts."""
    import psutil

    begin = time.perf_counter()
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.cluster", name, str(path)]
    root = Path(__file__).parents[1]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=root)
    seen, finished = {}, threading.Event()

    def watch():
        root = psutil.Process(process.pid)
        while not finished.wait(0.1):
            for each in [root, *children(root)]:
                try:
                    used, memory = each.cpu_times(), each.memory_info().rss
                    old = seen.get(each.pid, ("", 0, 0))
                    kind = "driver" if each.pid == root.pid else ("JVM" if each.name() == "java" else "worker")
                    seen[each.pid] = (kind, used.user + used.system, max(memory, old[2]))
                except psutil.Error:
                    continue

    thread = threading.Thread(target=watch)
    thread.start()
    printed = process.communicate()[0]
    finished.set()
    thread.join()
    cpu, peak = {}, {}
    for kind, used, memory in seen.values():
        cpu[kind] = cpu.get(kind, 0) + used
        peak[kind] = max(peak.get(kind, 0), memory)
    return {
        "wall": time.perf_counter() - begin, "cpu": sum(cpu.values()), "cpu by kind": cpu,
        "peak MB": {kind: n / 2**20 for kind, n in peak.items()}, "result": json.loads(printed.splitlines()[-1]),
    }  # fmt: skip


def children(root):
    import psutil

    try:
        return root.children(recursive=True)
    except psutil.Error:
        return []


def main():
    path = data_file("tweets.parquet")
    if path is None:
        return
    names = os.environ.get("FDMIX_PROBLEMS", ",".join(PROBLEMS)).split(",")
    print(f"# cluster\n{machine()}, load {os.getloadavg()[0]:.0f}")
    import pyarrow.parquet as pq

    whole = pq.read_table(path, columns=["text"])
    with tempfile.TemporaryDirectory() as folder:
        numbers = {"few": N_FEW, "all": N_DOCUMENTS}
        paths = {size: Path(folder) / f"{size}.parquet" for size in numbers}
        for size, n in numbers.items():
            pq.write_table(whole.slice(0, n), paths[size], row_group_size=max(1, n // N_PARTITIONS))
        del whole
        found = {}
        for name in [each for each in PROBLEMS[:6] if each in names]:
            for size, n in numbers.items():
                found[name, size] = run = measured(name, paths[size])
                print(f"{name:12} {n:9,} documents: {json.dumps(rounded(run))}", flush=True)
                peaks = {f"{kind}_gigabytes": megabytes * 2**20 / 1e9 for kind, megabytes in run["peak MB"].items()}
                parts = {f"{kind}_seconds": seconds for kind, seconds in run["cpu by kind"].items()}
                record(f"{name}, {n} documents", cpu_seconds=run["cpu"], **parts, **peaks)
            if "plain" in names:
                tell_ratios(name, {key: run["cpu"] for key, run in found.items()})
        if len({run["result"] for (_, size), run in found.items() if size == "all"}) > 1:
            raise AssertionError("the engines do not agree")
        if "spark_lda" in names:
            result = measured("spark_lda", paths["all"])["result"]
            record("Spark LDA", **result)
            print(json.dumps(rounded(result), indent=1))


def tell_ratios(name, cpu):
    """CPU seconds of an engine against the plain path, with and without what 2,000 documents take."""
    whole = cpu[name, "all"] / cpu["plain", "all"]
    rest = (cpu[name, "all"] - cpu[name, "few"]) / (cpu["plain", "all"] - cpu["plain", "few"])
    record(f"{name} to plain", ratio=whole, ratio_without_fixed_part=rest)
    print(f"{name:12} CPU ratio to plain: {whole:.2f} in all, {rest:.2f} without the fixed part", flush=True)


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return round(value, 3 if abs(value) < 100 else 0) if isinstance(value, float) else value


if __name__ == "__main__":
    name, path = sys.argv[1:3]
    outcome = {
        "plain": plain, "dask": dask, "dask_cluster": dask_cluster, "dask_threads": dask_threads, "spark": spark,
        "spark_frame": spark_frame, "spark_lda": spark_lda,
    }[name](path)  # fmt: skip
    print(json.dumps(outcome if isinstance(outcome, dict) else outcome.checksum()))
