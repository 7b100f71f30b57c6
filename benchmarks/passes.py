"""How fast is an EM pass? Against sgemm in the same run, dense against sparse, by topics and by documents."""

import numpy as np

from benchmarks.measure import machine, seconds
from benchmarks.recording import record
from fdmix import Mixture, Moments, worlds
from fdmix.engines import engine_for


def sgemm_rate(size=2000, repeats=8):
    """GFlop/s of a float32 matrix product on all cores, the best of several."""
    a = np.random.default_rng(0).random((size, size), dtype=np.float32)
    time, _ = seconds(lambda: a @ a, repeats)
    return 2 * size**3 / time / 1e9


def engine_and_states(world, moments, n_topics):
    mhat = moments.matrix
    engine = engine_for("numba", mhat, n_topics)
    rng = np.random.default_rng(1)
    dense = rng.dirichlet(np.full(mhat.shape[0], 1.0), n_topics)
    alpha = (np.ones((n_topics, n_topics)) / n_topics + np.eye(n_topics)) / (2 * n_topics)
    sharp = np.where(world.topics > 1e-4, world.topics, 0)
    sharp[np.argmax(world.topics, axis=0), np.arange(sharp.shape[1])] = world.topics.max(axis=0)
    sharp /= sharp.sum(axis=1, keepdims=True)
    return engine, engine.place(Mixture(dense, alpha)), engine.place(Mixture(sharp, alpha))


def full_step(engine, state):
    return engine.maximise(state, engine.expect(state), power=1.7)


def main():
    print(f"# passes\n{machine()}")
    world = worlds.zipf(500, 10_500, seed=1)
    corpus = world.sample(100_000, length=30, seed=2)
    moments = Moments.of(corpus)
    engine, dense, sparse = engine_and_states(world, moments, 500)
    n_pairs = engine.pairs.n_stored
    engine.expect(dense), engine.expect(sparse)
    rates, topics_only, both = [], [], []
    for _ in range(4):  # alternate, because the load of the machine changes
        rates.append(sgemm_rate())
        topics_only.append(seconds(lambda: engine.expect(dense, joint=False), 3)[0])
        both.append(seconds(lambda: engine.expect(dense), 3)[0])
    print(f"N 10,500, T 500, {n_pairs:,} pairs; sgemm {max(rates):.0f} GFlop/s; counting 4 nnz T (target 50 %):")
    record("sgemm", rate=max(rates))
    record("size", stored_pairs=n_pairs, million_stored_pairs=n_pairs / 1e6)
    for name, time in (
        ("dense pass for the topics (P alpha, L, H alpha)", min(topics_only)),
        ("dense pass for topics and alpha (and P'H)", min(both)),
        ("its pairs alone (without three products at sgemm's rate)", min(both) - 15.75 / max(rates)),
    ):
        rate = 4 * n_pairs * 500 / time / 1e9
        record(name, seconds=time, rate=rate, percent_of_sgemm=100 * rate / max(rates))
        print(f"  {name:58} {time:.3f} s, {rate:.0f} GFlop/s, {rate / max(rates):.0%} of sgemm")
    full, _ = seconds(lambda: full_step(engine, dense), 3)
    fast, _ = seconds(lambda: full_step(engine, sparse), 5)
    active = engine.active(sparse) / 10_500
    record("EM step, dense", seconds=full)
    record("EM step, sparse", seconds=fast, active_topics=active, times_as_fast=full / fast)
    print(
        f"  EM step with dense topics {full:.3f} s, with {active:.1f} active topics a word {fast:.3f} s: "
        f"{full / fast:.1f} times as fast (target 4)"
    )
    print("  the same with T topics, dense:")
    for n_topics in (100, 200, 500, 1000):
        other = worlds.zipf(n_topics, 10_500, seed=1)
        some, state, _ = engine_and_states(other, moments, n_topics)
        some.expect(state)
        time, _ = seconds(lambda some=some, state=state: some.expect(state), 3)
        record(f"T {n_topics}", seconds=time)
        print(f"    T {n_topics:5,}: {time:.3f} s a pass")
    print("  with D documents, T 100 (the pass sees pairs, not documents):")
    for n_documents in (50_000, 100_000, 200_000, 400_000):
        more = Moments.of(worlds.zipf(100, 3_000, seed=1).sample(n_documents, length=30, seed=3))
        some, state, _ = engine_and_states(worlds.zipf(100, 3_000, seed=1), more, 100)
        some.expect(state)
        time, _ = seconds(lambda some=some, state=state: some.expect(state), 5)
        record(f"D {n_documents}", milliseconds=time * 1e3, stored_pairs=some.pairs.n_stored)
        print(f"    D {n_documents:9,}: {time * 1e3:.1f} ms a pass, {some.pairs.n_stored:,} pairs")
