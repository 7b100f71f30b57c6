"""Error, likelihood and time of each solver and each start, on the same moments."""

import time

from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import Moments, fit_mixture, worlds
from fdmix.metrics import matching_distance
from fdmix.solvers import EM, Adam

SOLVERS = {  # name -> (settings, start)
    "em (default)": (EM(), "auto"),
    "em, sparsity=0": (EM(sparsity=0), "auto"),
    "adam, paper's settings": (Adam.paper(), "auto"),
    "adam, authors' settings": (Adam.authors(), "auto"),
    "adam, exact gradients": (Adam(exact=True, learning_rate=0.05), "auto"),
    "adam, paper's settings, anchors": (Adam.paper(), "anchors"),
    "adam, authors' settings, anchors": (Adam.authors(), "anchors"),
    "adam, exact gradients, anchors": (Adam(exact=True, learning_rate=0.05), "anchors"),
    "adam, trace penalty 0.3, anchors": (Adam(trace_penalty=0.3), "anchors"),
    "adam, half drawn evenly, anchors": (Adam(uniform_share=0.5), "anchors"),
}


def report(name, world, moments, **options):
    begin = time.perf_counter()
    solution = fit_mixture(moments, world.topics.shape[0], **options)
    seconds = time.perf_counter() - begin
    distance = matching_distance(solution.mixture, world.mixture)
    trace, passes = solution.mixture.correlations.trace(), len(solution.log_likelihoods) - 1
    record(
        name, l1=distance.mean, missed=distance.missed, likelihood=solution.log_likelihoods[-1], trace=trace,
        passes=passes, seconds=seconds,
    )  # fmt: skip
    print(
        f"  {name:38} l1 {distance.mean:.3f}, missed {distance.missed:2}, L {solution.log_likelihoods[-1]:.5f}, "
        f"trace {trace:.3f}, {passes:4} passes, {seconds:.2f} s",
        flush=True,
    )


def main():
    print(f"# solvers\n{machine()}")
    world = worlds.authors(seed=7)
    moments = Moments.of(world.sample(50_000, length=30, seed=8))
    fit_mixture(moments, 20)  # compile
    truth = world.mixture.log_likelihood(moments.matrix)
    record("truth", likelihood=truth, trace=world.law.correlations.trace())
    print(
        f"authors' problem (T 20, N 250, D 50,000); truth: L {truth:.5f}, trace {world.law.correlations.trace():.3f}"
    )
    for name, (solver, start) in SOLVERS.items():
        tolerance = 0.01 if name[0] == "e" else 0.001
        report(name, world, moments, solver=solver, start=start, max_passes=1000, tolerance=tolerance)
    world = worlds.zipf(100, 3_000, seed=7)
    moments = Moments.of(world.sample(20_000, length=30, seed=8))
    print("middle problem (T 100, N 3,000, D 20,000), sparse EM from each start:")
    for start in ("anchors", "d2", "rows", "noise"):
        report(start, world, moments, start=start)
