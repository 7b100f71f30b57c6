"""One run of Adam that goes on where it was: checkpoint and curve are kept in its folder."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from benchmarks.measure import machine

from fdmix import Mixture
from fdmix.engines import engine_for
from fdmix.fit.starts import starting_mixture
from fdmix.metrics import matching_distance
from fdmix.moments.full_matrix import rearranged
from fdmix.solvers import Adam
from fdmix.solvers.contract import Problem as Fit
from fdmix.storage import replacing


class Plan(NamedTuple):
    """Settings of Adam, where it starts, and the seed of a random start."""

    solver: Adam
    start: str
    seed: int = 0


# Compiled, because a run is long.
PAPER, AUTHORS = replace(Adam.paper(), compiled=True), replace(Adam.authors(), compiled=True)
EXACT = Adam(exact=True, learning_rate=0.05, compiled=True)
RUNS = {
    "paper": Plan(PAPER, "random"),
    "authors": Plan(AUTHORS, "random"),
    "exact": Plan(EXACT, "random"),
    "truth": Plan(PAPER, "truth"),
    "ours": Plan(AUTHORS, "anchors"),
    "ours-exact": Plan(EXACT, "anchors"),
}
VARIANTS = {  # what the end depends on: the run `authors` with one thing changed
    "authors-seed-1": Plan(AUTHORS, "random", 1),
    "authors-seed-2": Plan(AUTHORS, "random", 2),
    "authors-seed-3": Plan(AUTHORS, "random", 3),
    "authors-128-pairs": Plan(replace(AUTHORS, batch=128), "random"),
    "authors-2048-pairs": Plan(replace(AUTHORS, batch=2048), "random"),
    "authors-truth": Plan(AUTHORS, "truth"),
}
LOOKS = 1.3  # factor on the steps between two measurements of l1, which take as long as many steps at T = 500
CHECKPOINT_EVERY = 60  # seconds
TOLERANCE = 1e-5  # of the likelihood gained; ten passes that gain less end a run
EXACT_TOLERANCE = 1e-6  # the same where a pass is a single step


def continued(name, problem, folder, seconds, device="auto", threads=None):
    """Go on with a run for so many seconds, or until it settles; the curve so far.

    The curve has seconds of the processor, which other work on the machine changes less than those of the clock.
    """
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    curve = read_curve(folder)
    if curve and curve[-1]["settled"]:
        print(f"{name}: settled already, after {curve[-1]['steps']:,} steps")
        return curve
    run = _begun(name, problem, device, threads)
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.is_file():
        kept = torch.load(checkpoint, weights_only=True)
        run.restore(kept["tensors"])
        run.objectives, spent = kept["objectives"], kept["seconds"]
        curve = [point for point in curve if point["steps"] <= run.n_steps]
        print(f"{name}: going on after {run.n_steps:,} steps and {spent:.0f} s")
    else:
        curve, spent = [], 0.0
    _measured(run, problem)  # not timed: the first call compiles
    begin = saved = time.perf_counter()
    spent -= time.process_time()
    while run.settled is None and time.perf_counter() - begin < seconds:
        steps, took = run.n_steps, spent + time.process_time()
        due = not curve or steps >= LOOKS * max(1, curve[-1]["steps"])
        found = _measured(run, problem) if due else {}
        likelihood = run.step()
        if due:
            curve.append({"steps": steps, "seconds": took, "likelihood": likelihood, "settled": False} | found)
            print(f"{name}: {_told(curve[-1], run)}", flush=True)
        if time.perf_counter() - saved > CHECKPOINT_EVERY:
            saved = time.perf_counter()
            _keep(run, curve, folder, spent + time.process_time())
    took = spent + time.process_time()
    last = {"steps": run.n_steps, "seconds": took, "settled": run.settled is not None, "machine": machine()}
    last |= _measured(run, problem)
    last["likelihood"] = run.engine.expect(run.snapshot().state, joint=False).log_likelihood
    curve.append(last)
    print(f"{name}: {_told(last, run)}; {run.settled or 'the time is up, call again to go on'}", flush=True)
    _keep(run, curve, folder, took)
    return curve


def read_curve(folder):
    path = folder / "curve.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def _begun(name, problem, device, threads):
    solver, start, seed = (RUNS | VARIANTS)[name]
    solver = solver if solver.exact else replace(solver, steps=problem.steps)
    seen, n_topics = problem.seen, problem.truth.n_topics
    mhat = rearranged(problem.moments.matrix, seen)
    if start == "truth":
        first = _true_start(problem)
    else:
        first = starting_mixture(start, mhat, n_topics, problem.moments.document_frequencies[seen], seed)
    engine = engine_for("torch", mhat, n_topics, threads, device)
    tolerance = EXACT_TOLERANCE if solver.exact else TOLERANCE
    return solver.begin(Fit(engine, mhat, n_topics, 1, tolerance, np.random.default_rng([seed, 1]), threads), first)


def _true_start(problem):
    """The true topics over the words that have pairs: does the likelihood keep them?"""
    topics = problem.truth.topics[:, problem.seen]
    return Mixture(topics / topics.sum(axis=1, keepdims=True), problem.truth.correlations)


def _measured(run, problem):
    """l1, topics missed and the trace of alpha, now."""
    now = run.snapshot()
    found = run.engine.mixture(now.state)
    topics = np.zeros(problem.truth.topics.shape)
    topics[:, problem.seen] = found.topics
    distance = matching_distance(Mixture(topics, found.correlations), problem.truth)
    return {"l1": float(distance.mean), "missed": int(distance.missed), "trace": now.trace}


def _told(point, run):
    speed = "" if run.steps_per_second is None else f", {run.steps_per_second:,.1f} steps a second"
    return (
        f"{point['steps']:,} steps, {point['seconds']:.0f} s, L {point['likelihood']:.4f}, l1 {point['l1']:.3f}, "
        f"missed {point['missed']}, trace {point['trace']:.3f}{speed}"
    )


def _keep(run, curve, folder, seconds):
    import torch

    kept = {"tensors": run.tensors(), "objectives": run.objectives, "seconds": seconds}
    with replacing(folder / "checkpoint.pt") as file:
        torch.save(kept, file)
    with replacing(folder / "curve.jsonl") as file:
        file.write("".join(json.dumps(point) + "\n" for point in curve).encode())
