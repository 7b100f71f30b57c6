"""Several processes share the steps of Adam, by gloo on the CPU."""

import os
import socket
import subprocess
import sys

import numpy as np
import pytest
from pytorch import needs_torch

from fdmix import Moments, fit_mixture, worlds
from fdmix.solvers import Adam

pytestmark = [needs_torch, pytest.mark.slow]

# Each process takes its part of the same pairs; one process takes all of them. Then a whole fit with own pairs.
STEPS = """
import os, sys
import numpy as np
import torch
from fdmix import Moments, fit_mixture
from fdmix.engines import engine_for
from fdmix.fit.starts import starting_mixture
from fdmix.runtime.processes import process_count
from fdmix.solvers import Adam
from fdmix.solvers.contract import Problem

moments = Moments.load(sys.argv[1])
mhat, rank, size = moments.matrix, int(os.environ.get("RANK", 0)), process_count()
start = starting_mixture("random", mhat, 6, moments.document_frequencies, 0)
engine = engine_for("torch", mhat, 6, 1, "cpu")
solver = Adam(precision="float64", batch=60 // size, steps=50, learning_rate=0.02)
run = solver.begin(Problem(engine, mhat, 6, 1, 0.0, np.random.default_rng(0), 1), start)
pairs = torch.randint(0, mhat.shape[0], (8, 2, size, 60 // size), generator=torch.Generator().manual_seed(7))
first = run.draw((1000,))[0][:20].tolist()
for u, v in pairs:
    run.core.by_batch(u[rank], v[rank], None)
fit = fit_mixture(moments, 6, solver=solver, engine="torch", device="cpu", max_passes=8, n_threads=1)
np.savez(
    sys.argv[2], topics=run.core.topics.values.numpy(), alpha=run.core.logits.values.numpy(), drawn=first,
    fitted=fit.mixture.topics, likelihood=fit.log_likelihoods[-1],
)
"""

KILLED = """
import os, signal, sys
from fdmix import Moments, fit_mixture
from fdmix.solvers import Adam

def watch(progress):
    if progress.passes == 3 and os.environ["RANK"] == "1":
        os.kill(os.getpid(), signal.SIGKILL)

try:
    fit = fit_mixture(
        Moments.load(sys.argv[1]), 6, solver=Adam(steps=20), engine="torch", device="cpu", max_passes=50, tolerance=0,
        n_threads=1, callback=watch,
    )
except ConnectionError as error:
    print(error, file=sys.stderr)
    sys.exit(3)
fit.mixture.save(sys.argv[2])
"""


def started(n_processes, code, *arguments):
    """Processes as torchrun starts them, but none of which looks after the others."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    several = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(n_processes)}
    shared = {"OMP_NUM_THREADS": "1", "FDMIX_TIMEOUT": "60"} | (several if n_processes > 1 else {})
    return [
        subprocess.Popen(
            [sys.executable, "-c", code, *(str(argument).format(rank=rank) for argument in arguments)],
            env=os.environ | shared | ({"RANK": str(rank)} if n_processes > 1 else {}),
            stderr=subprocess.PIPE, text=True,
        )
        for rank in range(n_processes)
    ]  # fmt: skip


def ended(processes):
    """(exit codes, errors); none may hang."""
    try:
        errors = [process.communicate(timeout=120)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [process.returncode for process in processes], errors


def ran(n_processes, moments, folder):
    codes, errors = ended(started(n_processes, STEPS, moments, folder / f"{n_processes}-{{rank}}.npz"))
    assert codes == [0] * n_processes, errors
    return [np.load(folder / f"{n_processes}-{rank}.npz") for rank in range(n_processes)]


@pytest.fixture(scope="module")
def moments(tmp_path_factory):
    path = tmp_path_factory.mktemp("moments") / "some.moments"
    Moments.of(worlds.zipf(6, 150, seed=1).sample(2_000, length=20, seed=2)).save(path)
    return path


@pytest.fixture(scope="module")
def results(moments, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    return {n: ran(n, moments, folder) for n in (1, 2, 3)}


@pytest.mark.parametrize("n_processes", [2, 3])
def test_several_processes_take_the_steps_of_one_with_the_joined_batch(results, n_processes):
    (alone,), several = results[1], results[n_processes]
    for one in several:
        np.testing.assert_allclose(one["topics"], alone["topics"], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(one["alpha"], alone["alpha"], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n_processes", [2, 3])
def test_processes_draw_different_pairs_and_hold_the_same_topics(results, n_processes):
    a, *others = results[n_processes]
    for b in others:
        assert (a["drawn"] != b["drawn"]).any()
        np.testing.assert_array_equal(a["fitted"], b["fitted"])
    assert results[1][0]["likelihood"] == pytest.approx(float(a["likelihood"]), abs=0.05)


def test_a_killed_process_ends_the_others_with_a_sentence(moments, tmp_path):
    codes, errors = ended(started(3, KILLED, moments, tmp_path / "model-{rank}"))
    assert codes == [3, -9, 3], errors
    for rank in (0, 2):
        assert f"process {rank} of 3 lost touch with the others" in errors[rank]
    assert list(tmp_path.iterdir()) == []


def test_one_process_needs_no_group():
    moments = Moments.of(worlds.zipf(6, 150, seed=1).sample(500, length=20, seed=2))
    solver = Adam(steps=5)
    assert fit_mixture(moments, 6, solver=solver, engine="torch", device="cpu", max_passes=2, n_threads=1).mixture
