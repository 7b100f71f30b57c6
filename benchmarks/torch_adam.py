"""Steps per second of Adam: PyTorch against the NumPy run at the paper's size; drawn pairs against exact gradients.

Times are seconds of all cores, the best of several, taken in turn, because other work on the machine disturbs them.
FDMIX_THREADS sets the threads of PyTorch and of NumPy's BLAS (default: 1).
"""

import os
import time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.measure import machine
from benchmarks.recording import record
from benchmarks.torch import EFFICIENCY, GPUS
from fdmix import Moments, fit_mixture, worlds
from fdmix.engines import engine_for
from fdmix.fit.starts import starting_mixture
from fdmix.metrics import matching_distance
from fdmix.solvers import EM, Adam
from fdmix.solvers.adam import NumpyAdamRun
from fdmix.solvers.contract import Problem

THREADS = int(os.environ.get("FDMIX_THREADS", "1"))
ROUNDS = 6
BATCH = 512
TABLES_MOVED = 9  # of N x T in a compiled step: mu', two means and weights are read and written, weights added up
LAUNCHES = 60  # kernels of a compiled step: 40 operations, two of which sort on GPUs
STEPS = 5  # in one measurement, so that caches hold what they hold in a long run
SHARES = (0.5, 0.8, 0.9, 0.95)  # of the likelihood that EM gains from the random start
SECONDS = 25  # for each method, on the middle problem: all of them take less than three minutes
METHODS = {
    "drawn pairs, rate 0.001 (the paper's)": ("torch", Adam.paper()),
    "drawn pairs, rate 0.01 (the authors')": ("torch", Adam.authors()),
    "the same by the NumPy run": ("numba", Adam.authors()),
    "exact, rate 0.05": ("torch", Adam(exact=True, learning_rate=0.05)),
    "exact, rate 0.05, numba": ("numba", Adam(exact=True, learning_rate=0.05)),
}


def best_in_turn(works, rounds=ROUNDS, clock=time.process_time):
    """{name: best seconds}, of all cores by default; each round calls all of them once."""
    best = dict.fromkeys(works, np.inf)
    for _ in range(rounds):
        for name, work in works.items():
            begin = clock()
            work()
            best[name] = min(best[name], clock() - begin)
    return best


def steps_per_second():
    import torch

    torch.set_num_threads(THREADS)
    threadpool_limits(THREADS, "blas")
    moments = Moments.of(worlds.zipf(500, 11_000, seed=7).sample(20_000, length=30, seed=8))
    mhat = moments.matrix
    start = starting_mixture("random", mhat, 500, moments.document_frequencies, 0)

    def run(engine, **settings):
        made = engine_for(engine, mhat, 500, THREADS, **({"device": "cpu"} if engine == "torch" else {}))
        if engine == "torch":
            made.n_threads = THREADS
        return Adam(**settings).begin(Problem(made, mhat, 500, 1, 0.0, np.random.default_rng(0), 1), start)

    runs = {
        "NumPy run, float64": run("numpy"),
        "NumPy run, float32": run("numpy", precision="float32"),
        "torch, uncompiled": run("torch", compiled=False),
        "torch, compiled": run("torch", compiled=True),
    }
    assert isinstance(runs["NumPy run, float64"], NumpyAdamRun)
    for one in runs.values():
        one.take_steps(2)
    best = best_in_turn({name: lambda one=one: one.take_steps(STEPS) for name, one in runs.items()})
    best = {name: seconds / STEPS for name, seconds in best.items()}
    print(f"steps of 512 pairs, N {mhat.shape[0]:,}, T 500, {mhat.nnz:,} stored pairs, {THREADS} thread(s):")
    for name, seconds in best.items():
        times = best["NumPy run, float64"] / seconds
        record(name, milliseconds=1e3 * seconds, steps_per_second=1 / seconds, times=times)
        print(f"  {name:22} {1e3 * seconds:7.1f} ms, {1 / seconds:6.1f} steps a second, {times:5.1f} times the first")
    core, draw = runs["torch, compiled"].core, runs["torch, compiled"].draw
    u, v, _ = draw((512,))
    alpha, rows = core.alpha, torch.rand(512, 500)
    gradient, pull, _ = core.batch_gradient(u, v, None)
    factors = (rows, alpha), (rows, alpha.T), (rows.T, rows)
    parts = best_in_turn(
        {
            "drawing 512 pairs": lambda: draw((512,)),
            "gradient of the batch": lambda: core.batch_gradient(u, v, None),
            "its three matrix products": lambda: [core.product(*two) for two in factors],
            "update of all parameters": lambda: core._ascend(gradient, pull, alpha),
        }
    )
    record("parts of a step", **{name: 1e3 * seconds for name, seconds in parts.items()})
    print("  of a compiled step: " + ", ".join(f"{name} {1e3 * seconds:.1f} ms" for name, seconds in parts.items()))
    roofline(core, best["torch, compiled"])


def roofline(core, step):
    """What a step must move and multiply, and how long that takes on this machine and, calculated, on GPUs."""
    import torch

    entries, n_topics = core.weights.numel(), core.weights.shape[1]
    moved = TABLES_MOVED * 4 * entries
    flops = 3 * 2 * BATCH * n_topics**2
    one, two, three = (torch.rand_like(core.weights) for _ in range(3))
    factors = torch.rand(BATCH, n_topics), torch.rand(n_topics, n_topics)
    took = best_in_turn(
        {"memory": lambda: torch.add(one, two, out=three), "product": lambda: core.product(*factors)}, 12
    )
    giga = 3 * 4 * entries / took["memory"] / 1e9
    tera = 2 * BATCH * n_topics**2 / took["product"] / 1e12
    least = moved / giga / 1e9 + flops / tera / 1e12
    record(
        "roofline", megabytes=moved / 1e6, gigaflop=flops / 1e9, gigabytes_per_second=giga, teraflops=tera,
        milliseconds=1e3 * least, share=100 * least / step,
    )  # fmt: skip
    print(
        f"  a step moves {moved / 1e6:.0f} MB and takes {flops / 1e9:.2f} GFlop in products; at {giga:.0f} GB/s and "
        f"{tera:.2f} TFlop/s, as measured here, that is {1e3 * least:.1f} ms, {least / step:.0%} of the step"
    )
    print(f"  on GPUs, A CALCULATION ({EFFICIENCY:.0%} of the makers' figures, {LAUNCHES} kernels of 5 us):")
    for name, (tera, giga) in GPUS.items():
        work = (moved / giga / 1e9 + flops / tera / 1e12) / EFFICIENCY
        record(f"calculated step, {name}", milliseconds=1e3 * work)
        print(f"    {name:16} {1 / max(work, 5e-6 * LAUNCHES):6,.0f} steps a second, {1e3 * work:.2f} ms of work")


def per_likelihood_gained():
    world = worlds.zipf(100, 3_000, seed=7)
    moments = Moments.of(world.sample(20_000, length=30, seed=8))
    random = fit_mixture(moments, 100, solver=EM(0), start="random")
    first, last = random.log_likelihoods[0], random.log_likelihoods[-1]
    print(f"middle problem from a random start, L {first:.4f}; EM without sparsity ends at {last:.4f}")
    print(f"seconds until this share of EM's gain: {', '.join(f'{share:g}' for share in SHARES)}; most {SECONDS} s")
    for name, (engine, solver) in METHODS.items():
        curve = []
        options = {"engine": engine, "n_threads": THREADS, "time_limit": SECONDS, "max_passes": 10**6, "tolerance": 0}
        fit_mixture(moments, 100, solver=solver, **options | {"time_limit": 1})  # compiles
        solution = fit_mixture(
            moments,
            100,
            solver=solver,
            callback=lambda now, curve=curve: curve.append((now.seconds, now.log_likelihood)),
            **options,
        )
        gains = [(seconds, (value - first) / (last - first)) for seconds, value in curve]
        reached = [next((s for s, gain in gains if gain >= share), None) for share in SHARES]
        l1 = matching_distance(solution.mixture, world.mixture).mean
        told = ", ".join("-" if at is None else f"{at:.1f}" for at in reached)
        record(
            name, likelihood=solution.log_likelihoods[-1], l1=l1, **dict(zip(map(str, SHARES), reached, strict=True))
        )
        print(f"  {name:38} {told:24} ends at {solution.log_likelihoods[-1]:.4f}, l1 {l1:.3f}", flush=True)


def main():
    print(f"# Adam\n{machine()}")
    steps_per_second()
    per_likelihood_gained()
