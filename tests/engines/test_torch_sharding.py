"""Several processes share a fit, by gloo on the CPU."""

import os
import socket
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from pytorch import needs_torch

from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.engines.torch_pairs import Panel
from fdmix.engines.torch_sharding import SeveralProcesses

pytestmark = [needs_torch, pytest.mark.slow]

FIT = """
import os, signal, sys
import numpy as np
from fdmix import Mixture, Moments, fit_mixture
from fdmix.runtime.processes import is_leader

path, out, what, where = *sys.argv[1:4], int(sys.argv[4])
rank, here = int(os.environ["RANK"]), int(os.environ["RANK"]) == where
settings = {"time_limit": 1e-6 if what == "late" and here else 1e4}
if what == "other starts":
    topics = np.random.default_rng(rank).dirichlet(np.ones(1200), 8)
    settings["start"] = Mixture(topics, np.full((8, 8), 1 / 64))

def watch(progress):
    if progress.passes == 5 and here and what in ("killed", "interrupted"):
        os.kill(os.getpid(), signal.SIGKILL if what == "killed" else signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    solution = fit_mixture(
        Moments.load(path), 8, engine="torch", device="cpu", max_passes=30, callback=watch, **settings
    )
except ConnectionError as error:
    print(error, file=sys.stderr)
    sys.exit(3)
if is_leader() and what != "other starts":
    solution.mixture.save(out)
if is_leader() or what != "shared":
    print(solution.log_likelihoods[-1], len(solution.log_likelihoods), solution.stop.name)
"""


@pytest.fixture(scope="module")
def moments(tmp_path_factory):
    path = tmp_path_factory.mktemp("shared") / "some.moments"
    Moments.of(worlds.zipf(8, 1200, seed=1).sample(3000, length=20, seed=2)).save(path)
    return path


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def started(n_processes, moments, out, what="shared", where=-1):
    """Processes as torchrun starts them, but none of which looks after the others.

    moments : the path, which may have a place for {rank}; what : happens in the process `where`
    """
    shared = {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(n_processes),
        "LOCAL_WORLD_SIZE": str(n_processes), "OMP_NUM_THREADS": "1", "FDMIX_TIMEOUT": "60",
    }  # fmt: skip
    return [
        subprocess.Popen(
            [sys.executable, "-c", FIT, str(moments).format(rank=rank), str(out), what, str(where)],
            env=os.environ | shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(n_processes)
    ]  # fmt: skip


def ended(processes):
    """(exit code, output, errors) of each; none may hang."""
    try:
        said = [process.communicate(timeout=120) for process in processes]
        return [(process.returncode, *texts) for process, texts in zip(processes, said, strict=True)]
    finally:
        for process in processes:
            process.kill()


@pytest.mark.parametrize("n_processes", [2, 3])
def test_several_processes_find_the_topics_of_one(n_processes, moments, tmp_path):
    alone = fit_mixture(Moments.load(moments), 8, engine="torch", device="cpu", max_passes=30)
    results = ended(started(n_processes, moments, tmp_path / "model"))
    assert [code for code, _, _ in results] == [0] * n_processes, results
    likelihood, others = float(results[0][1].split()[0]), [output for _, output, _ in results[1:]]
    assert others == [""] * (n_processes - 1)
    assert likelihood == pytest.approx(alone.log_likelihoods[-1], rel=1e-6)
    found = Mixture.load(tmp_path / "model")
    assert np.abs(found.topics - alone.mixture.topics).sum(axis=1).max() < 1e-3
    np.testing.assert_allclose(found.correlations, alone.mixture.correlations, atol=1e-4)


def test_a_killed_process_ends_the_others_with_a_sentence(moments, tmp_path):
    results = ended(started(3, moments, tmp_path / "model", "killed", 1))
    assert [code for code, _, _ in results] == [3, -9, 3], results
    for rank in (0, 2):
        assert f"process {rank} of 3 lost touch with the others" in results[rank][2]
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(("what", "stop", "passes"), [("interrupted", "INTERRUPTED", 5), ("late", "TIME_LIMIT", 1)])
def test_one_process_stops_all_of_them_after_the_same_pass(what, stop, passes, moments, tmp_path):
    results = ended(started(2, moments, tmp_path / "model", what, 1))
    assert [code for code, _, _ in results] == [0, 0], results
    said = [output.split() for _, output, _ in results]
    assert said[0] == said[1]
    assert passes <= int(said[0][1]) <= passes + 2  # the likelihoods of the passes and that of the result
    assert said[0][2] == stop
    assert Mixture.load(tmp_path / "model").n_topics == 8


def test_all_processes_start_from_the_topics_of_the_first(moments, tmp_path):
    results = ended(started(2, moments, tmp_path / "model", "other starts"))
    assert [code for code, _, _ in results] == [0, 0], results
    topics = np.random.default_rng(0).dirichlet(np.ones(1200), 8)
    start = Mixture(topics, np.full((8, 8), 1 / 64))
    alone = fit_mixture(Moments.load(moments), 8, engine="torch", device="cpu", max_passes=30, start=start)
    for _, output, _ in results:
        assert float(output.split()[0]) == pytest.approx(alone.log_likelihoods[-1], rel=1e-6)


@pytest.mark.parametrize("other", [{"seed": 5}, {"n_words": 1190}])
def test_processes_with_other_input_are_refused(other, tmp_path):
    """Without a look at the input, they would add up pairs of two corpora."""
    sizes = {"seed": 2, "n_words": 1200}
    for rank, made in enumerate([sizes, sizes | other]):
        corpus = worlds.zipf(8, made["n_words"], seed=1).sample(3000, length=20, seed=made["seed"])
        Moments.of(corpus).save(tmp_path / f"{rank}.moments")
    results = ended(started(2, tmp_path / "{rank}.moments", tmp_path / "model"))
    for code, _, errors in results:
        assert code == 1
        assert "the 2 processes do not fit the same" in errors
    assert not (tmp_path / "model").exists()


def test_processes_that_do_not_come_are_missed(moments, tmp_path):
    alone = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2", "RANK": "0"}
    command = [sys.executable, "-m", "fdmix", "fit", str(moments), "--topics", "3", "--engine", "torch"]
    for seconds, sentence in (("2", "not all of the 2 processes"), ("soon", "FDMIX_TIMEOUT is a number of seconds")):
        done = subprocess.run(
            [*command, "--device", "cpu", "--out", str(tmp_path / "model")],
            env=os.environ | alone | {"FDMIX_TIMEOUT": seconds}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert sentence in done.stderr


def test_torchrun_starts_the_command_line_and_one_process_writes(moments, tmp_path):
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "fdmix", "fit",
        str(moments), "--topics", "3", "--engine", "torch", "--device", "cpu", "--out", str(tmp_path / "model"),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Wrote ") == 1
    assert done.stdout.count("Most probable words") <= 1
    assert Mixture.load(tmp_path / "model").n_topics == 3


def test_torchrun_ends_with_the_sentence_of_the_process_that_failed(tmp_path):
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "fdmix", "fit",
        "nothing.moments", "--topics", "3", "--engine", "torch", "--out", str(tmp_path / "model"),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 1
    assert "fdmix: there is no file or folder 'nothing.moments'" in done.stderr.partition("Root Cause")[2]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["topics", "model"], "2 processes were started, as by torchrun, but only fdmix fit shares its work"),
        (["fit", "some.moments", "--topics", "3", "--out", "model"], "only --engine torch shares a fit"),
        (["fit", "-", "--topics", "3", "--out", "model", "--engine", "torch"], "standard input reaches only one"),
    ],
)
def test_work_that_several_processes_do_not_share_is_refused(arguments, sentence, tmp_path):
    """They would all do the same and write to the same place."""
    several = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1", "WORLD_SIZE": "2", "RANK": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "fdmix", *arguments],
        cwd=tmp_path, env=os.environ | several, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert sentence in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_each_process_of_a_computer_needs_a_gpu_of_its_own(monkeypatch):
    """On a pretended computer with two GPUs."""
    import torch

    from fdmix.engines.torch_engine import TorchEngine

    engine = TorchEngine.__new__(TorchEngine)
    engine.torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: True, device_count=lambda: 2))
    for name, value in {"MASTER_ADDR": "127.0.0.1", "RANK": "0", "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=r"3 processes .* need a GPU each, but there are 2: .*--nproc-per-node 2"):
        engine._chosen(torch.device("cuda"))
    with pytest.raises(ValueError, match=r"3 processes .* need a GPU each, and cuda:1 is one: use device='cuda'"):
        engine._chosen(torch.device("cuda:1"))
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")  # one on each of three computers
    assert engine._chosen(torch.device("cuda:1")) == torch.device("cuda:1")


def test_shards_are_unequal_parts_of_about_equal_work():
    class Three(SeveralProcesses):
        def __init__(self, rank):
            self.rank, self.size = rank, 3

    parts = [Panel(begin, begin + 512, 5120, None) for begin in range(0, 5120, 512)]
    shards = [Three(rank).mine(parts) for rank in range(3)]
    assert sorted(part.begin for shard in shards for part in shard) == [part.begin for part in parts]
    work = [sum(part.work for part in shard) for shard in shards]
    assert max(work) < 1.2 * min(work)
    assert len({len(shard) for shard in shards}) > 1
    assert [len(Three(rank).mine(parts[:2])) for rank in range(3)] == [1, 1, 0]
