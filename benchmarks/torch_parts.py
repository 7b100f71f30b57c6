"""What single choices of the torch engine bring, on the CPU: libraries of matrix products, fused steps of a panel,
products of lower precision, and how its pairs are laid out."""

import tempfile
import time
from pathlib import Path

from benchmarks.measure import machine, peak_megabytes
from benchmarks.recording import record
from benchmarks.torch import N_WORDS
from benchmarks.torch_adam import best_in_turn
from fdmix import Moments, fit_mixture, worlds
from fdmix.engines.torch_pairs import BLOCK
from fdmix.engines.torch_products import by_onednn, product_on
from fdmix.metrics import matching_distance

LAYOUT = """
from fdmix import Moments
from fdmix.engines.torch_engine import {layout}, TorchEngine
pairs = Moments.load({path!r}).pair_matrix()
TorchEngine(pairs, 1, 1, "cpu", layout={layout})
def measured():
    return TorchEngine(pairs, 1, 1, "cpu", layout={layout})
"""


def libraries():
    """GFlop/s of the three products of a panel: M = A P', R P and R' P."""
    import torch

    P, ratio = torch.rand(BLOCK, 500), torch.rand(BLOCK, BLOCK)

    def products(multiply):
        return lambda: [(multiply(P, P.T), multiply(ratio, P), multiply(ratio.T, P)) for _ in range(10)]

    best = best_in_turn({"onednn": products(by_onednn(torch)), "mkl": products(torch.mm)}, 12)
    speed = {name: 10 * 3 * 2 * BLOCK * BLOCK * 500 / seconds / 1e9 for name, seconds in best.items()}
    print("products of 512 x 500 x 512, one thread: " + ", ".join(f"{k} {v:.0f} GFlop/s" for k, v in speed.items()))
    record("products", **speed)


def fused():
    """The steps between the products of a panel, as separate operations and as one compiled loop."""
    import torch

    def steps(x, M):
        M = M.clamp_min(1e-30)
        return x / M, (x * M.log()).sum(dim=1)

    def in_place(x, M):
        M.clamp_min_(1e-30)
        return x / M, M.log_().mul_(x).sum(dim=1)

    x, product = torch.rand(BLOCK, BLOCK), product_on(torch, torch.device("cpu"))
    first = torch.rand(BLOCK, BLOCK) + 0.5
    compiled = torch.compile(steps, dynamic=False)
    begin = time.perf_counter()
    compiled(x, first)
    compiling = time.perf_counter() - begin
    works = {"separate": lambda: in_place(x, first.clone()), "copy": first.clone, "fused": lambda: compiled(x, first)}
    for n_topics in (100, 500):
        P = torch.rand(BLOCK, n_topics)
        works[f"products, T {n_topics}"] = lambda P=P: (product(P, P.T), product(x, P), product(x.T, P))
    with torch.no_grad():
        best = best_in_turn({name: lambda work=work: [work() for _ in range(20)] for name, work in works.items()}, 12)
    row = {name: 1e3 * seconds / 20 for name, seconds in best.items()}
    row["separate"] -= row.pop("copy")
    for n_topics in (100, 500):
        whole = row["separate"] + row[f"products, T {n_topics}"]
        row[f"share, T {n_topics}"] = 100 * (row["separate"] - row["fused"]) / whole
    said = ", ".join(f"{name} {taken:.2f}" for name, taken in row.items())
    print(f"a panel of 512 x 512, one thread, compiled in {compiling:.0f} s; ms and %: {said}")
    record("fused", compiling=compiling, **{name.replace(", ", " "): taken for name, taken in row.items()})


def precision():
    """Fits with products of lower precision; those of TF32, which CPUs do not have, are rounded in the tests."""
    world = worlds.zipf(20, 1000, seed=2)
    moments = Moments.of(world.sample(6_000, length=20, seed=3))
    fits = {name: fit_mixture(moments, 20, engine=name, n_threads=1) for name in ("numba", "torch", "torch-bfloat16")}
    full = fits["torch"].mixture
    for name, fit in fits.items():
        error = matching_distance(fit.mixture, world.mixture).mean
        moved = matching_distance(fit.mixture, full).mean
        passes = len(fit.log_likelihoods) - 1
        print(f"  {name:15} l1 to the truth {error:.4f}, to torch {moved:.2e}, {passes} passes")
        record(name, error=error, moved=moved, passes=passes)


def layouts():
    """Memory of an engine while it lays out its pairs, over that of the moments."""
    moments = Moments.of(worlds.zipf(500, N_WORDS, seed=1).sample(100_000, length=30, seed=2))  # as passes have
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "some.moments")
        moments.save(path)
        row = {name: peak_megabytes(LAYOUT.format(layout=name, path=path)) for name in ("ON_CPU", "ON_GPU")}
    row["pairs"] = moments.pair_matrix().n_stored
    print(f"laying out {row['pairs']:,} pairs: {row['ON_CPU']:.0f} MB for CPUs, {row['ON_GPU']:.0f} MB for GPUs")
    record("laying out", **row)


def main():
    import torch

    print(f"# torch_parts\n{machine()}, PyTorch {torch.__version__}")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        libraries()
        fused()
    finally:
        torch.set_num_threads(before)
    precision()
    layouts()
