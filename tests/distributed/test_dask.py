"""Dask with real worker processes: any partitions, killed workers and failed tasks give the bytes of one machine."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from distributed_documents import corpus, random_partitions, saved_bytes
from engines_installed import needs_dask

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

pytestmark = [needs_dask, pytest.mark.slow]
TABLE = corpus(3_000)
CLEANING = {"stem": "english", "phrases": True, "min_count": 3, "folds": 3}


@pytest.fixture(scope="module")
def one_machine(tmp_path_factory):
    return saved_bytes(read_moments(TABLE, column="text", **CLEANING), tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("kind", ["bag of strings", "bag of records", "dataframe", "delayed"])
def test_any_partitions_give_the_bytes_of_one_machine(kind, client, one_machine, tmp_path):
    import dask.bag
    import dask.dataframe

    pieces = random_partitions(TABLE, seed=len(kind))
    documents = {
        "bag of strings": lambda: dask.bag.from_sequence(TABLE.column("text").to_pylist(), npartitions=7),
        "bag of records": lambda: dask.bag.from_delayed([dask.delayed(piece.to_pylist()) for piece in pieces]),
        "dataframe": lambda: dask.dataframe.from_pandas(TABLE.to_pandas(), npartitions=5, sort=False),
        "delayed": lambda: [dask.delayed(piece) for piece in pieces],
    }[kind]()
    seen = []
    total = count_moments(documents, **CLEANING, split_every=2, report=lambda *step: seen.append(step))
    assert saved_bytes(total, tmp_path) == one_machine
    assert {name for name, _, _ in seen} >= {"reading", "counting"}
    assert all(0 < done <= total for _, done, total in seen)


def test_groups_give_the_bytes_of_one_machine(client, tmp_path):
    import dask

    one = read_moments_by(TABLE, "month(date),party", layout=Layout("text"), min_count=3)
    pieces = [dask.delayed(piece) for piece in random_partitions(TABLE, seed=1)]
    total = count_moments(pieces, by="month(date),party", min_count=3)
    assert saved_bytes(total, tmp_path) == saved_bytes(one, tmp_path)


def once(marker, action):
    """Do something the first time that any process comes here."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return
    action()


def loaded(piece, marker):
    """A partition whose worker dies the first time that it is read."""
    once(marker, lambda: os.kill(os.getpid(), signal.SIGKILL))
    return piece


def test_a_worker_that_dies_while_it_reads_changes_nothing(client, one_machine, tmp_path):
    import dask

    pieces = random_partitions(TABLE, seed=2)
    documents = [dask.delayed(loaded)(piece, tmp_path / f"died-{n % 2}") for n, piece in enumerate(pieces)]
    total = count_moments(documents, **CLEANING)
    assert (tmp_path / "died-0").exists()
    assert (tmp_path / "died-1").exists()
    assert saved_bytes(total, tmp_path) == one_machine


def test_a_worker_that_dies_with_tokens_and_sums_changes_nothing(client, one_machine, tmp_path):
    import dask

    before = client.run(os.getpid)

    def kill_one(step, done, total):
        if step == "counting" and done >= 1:
            once(tmp_path / "killed", lambda: os.kill(next(iter(before.values())), signal.SIGKILL))

    documents = [dask.delayed(piece) for piece in random_partitions(TABLE, seed=3)]
    total = count_moments(documents, **CLEANING, split_every=2, report=kill_one)
    assert (tmp_path / "killed").exists()
    assert saved_bytes(total, tmp_path) == one_machine


def failing(piece, folder):
    """A partition that cannot be read the first two times."""
    tries = len(list(folder.iterdir()))
    (folder / f"try-{tries}").touch()
    if tries < 2:
        raise OSError("the disk did not answer")
    return piece


def test_a_task_that_fails_twice_changes_nothing(client, one_machine, tmp_path):
    import dask

    pieces = random_partitions(TABLE, seed=4)
    (tmp_path / "tries").mkdir()
    with dask.annotate(retries=3):
        first = dask.delayed(failing)(pieces[0], tmp_path / "tries")
    total = count_moments([first, *map(dask.delayed, pieces[1:])], **CLEANING)
    assert len(list((tmp_path / "tries").iterdir())) == 3
    assert saved_bytes(total, tmp_path) == one_machine


def test_topics_scores_and_samples_are_those_of_one_process(client, tmp_path):
    """Assign, evaluate, representatives and sample in worker processes, against the same partitions in this one."""
    import dask
    import pyarrow.dataset as ds

    model = fit_mixture(read_moments(TABLE, column="text", min_count=3), 3).mixture
    pieces = random_partitions(TABLE, seed=5)
    here, there = LocalPartitions(pieces), [dask.delayed(piece) for piece in pieces]
    assert evaluate(there, model) == evaluate(here, model)
    assert representatives(there, model, 4) == representatives(here, model, 4)
    assert sample(there, 50) == sample(here, 50)
    assign(here, model, tmp_path / "here", keep=["id"])
    done = assign(there, model, tmp_path / "there", keep=["id"])
    assert done.n_documents == TABLE.num_rows
    assert ds.dataset(tmp_path / "there").to_table() == ds.dataset(tmp_path / "here").to_table()


def test_a_scheduler_without_workers_is_told(scheduler, caplog):
    import dask

    client, _ = scheduler
    worker = None

    def start_later():
        time.sleep(2)
        nonlocal worker
        worker = started_worker(client.scheduler.address, Path(fdmix.__file__).parents[1])

    thread = threading.Thread(target=start_later)
    thread.start()
    try:
        total = count_moments([dask.delayed(TABLE)], min_count=3)
    finally:
        thread.join()
        worker.kill()
        worker.wait()
    assert total == read_moments(TABLE, column="text", min_count=3)
    assert "the Dask scheduler has no workers yet" in caplog.text


def test_bad_partitions_are_named(client):
    import dask

    good, other = TABLE, TABLE.rename_columns(["id", "body", "date", "party"])
    with pytest.raises(PartitionError, match=r"partition 2: .*no column 'text'"):
        count_moments([dask.delayed(piece) for piece in (good, good, other)])


def test_a_worker_that_always_dies_is_named(client):
    import dask

    documents = [dask.delayed(os.kill)(dask.delayed(os.getpid)(), signal.SIGKILL), dask.delayed(TABLE)]
    with pytest.raises(ClusterError, match="several workers died while they worked on"):
        count_moments(documents)


@pytest.fixture
def scheduler():
    """The address of a scheduler without workers, and its process."""
    from distributed import Client

    command = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        address = next(line.split()[-1] for line in process.stderr if "Scheduler at:" in line)
        with Client(address) as client:
            yield client, process
        process.kill()


def started_worker(address, fdmix_folder):
    """A worker process that finds fdmix in this folder."""
    command = [sys.executable, "-m", "dask", "worker", address, "--no-nanny", "--no-dashboard"]
    return subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": str(fdmix_folder)}, stderr=subprocess.DEVNULL, cwd=fdmix_folder
    )


@pytest.mark.parametrize("there", ["another version", "nothing"])
def test_workers_with_another_fdmix_are_refused(there, scheduler, tmp_path):
    import dask

    client, _ = scheduler
    if there == "nothing":
        (tmp_path / "fdmix.py").write_text("raise ModuleNotFoundError(\"No module named 'fdmix'\", name='fdmix')")
        message = "a worker does not have this fdmix .*: install fdmix"
    else:
        ours = Path(fdmix.__file__).parent
        shutil.copytree(ours, tmp_path / "fdmix", ignore=shutil.ignore_patterns("__pycache__", "page"))
        init = tmp_path / "fdmix" / "__init__.py"
        init.write_text(init.read_text().replace(f'"{fdmix.__version__}"', '"99.0"'))
        message = rf"worker tcp.* has fdmix 99\.0, and this process has {fdmix.__version__}"
    worker = started_worker(client.scheduler.address, tmp_path)
    try:
        client.wait_for_workers(1, timeout=60)
        with pytest.raises(ClusterError, match=message):
            count_moments([dask.delayed(TABLE)])
    finally:
        worker.kill()
        worker.wait()


def slow_piece(piece):
    time.sleep(30)
    return piece


def test_a_cluster_that_goes_away_is_an_error_in_words(scheduler, tmp_path):
    import dask

    client, process = scheduler
    worker = started_worker(client.scheduler.address, Path(fdmix.__file__).parents[1])
    try:
        client.wait_for_workers(1, timeout=60)
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
            pytest.raises(ClusterError, match="went away"),
        ):
            count_moments([dask.delayed(TABLE), dask.delayed(slow_piece)(TABLE)], report=lambda *_: process.kill())
    finally:
        worker.kill()
        worker.wait()
