"""PyTorch on the CPU: a pass against numba and NumPy, and the parts of a whole fit; calculations for GPUs."""

import time
from collections import Counter
from contextlib import contextmanager

import numpy as np

from benchmarks.measure import machine, seconds
from benchmarks.recording import record
from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.engines import engine_for, known_engine
from fdmix.engines.torch_memory import dense_size, most_topics
from fdmix.engines.torch_pairs import BLOCK
from fdmix.fit import fitting
from fdmix.solvers import em

N_WORDS = 10_500
GPUS = {  # TFlop/s of float32 without tensor cores, GB/s of memory: the makers' figures
    "RTX 4090, 24 GB": (82.6, 1008),
    "A100, 80 GB": (19.5, 2039),
    "H100 SXM, 80 GB": (66.9, 3350),
}
EFFICIENCY = 0.7  # of the makers' figures that large matrix products and copies reach, a guess
PASSES_OVER_M = 9  # times that M, the ratios and Mhat of a panel go through the memory of a GPU
SIZES_GB = (8, 24, 80)
FITS = (  # topics, words, documents, engines
    (200, 5_000, 40_000, ("numba", "torch")),
    (500, N_WORDS, 100_000, ("torch",)),
)
ON_DEVICE = ("expect", "maximise", "active")  # parts of a fit that a GPU computes
FASTER = 10  # times; what would be left of a fit


def mixture(n_topics, share=1.0):
    """Random topics over the words; with a share below 1, sparse ones."""
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.ones(N_WORDS), n_topics)
    if share < 1:
        topics = np.where(rng.random(topics.shape) < share, topics, 0)
        topics[rng.integers(0, n_topics, N_WORDS), np.arange(N_WORDS)] = 1e-4
    alpha = (np.ones((n_topics, n_topics)) / n_topics + np.eye(n_topics)) / (2 * n_topics)
    return Mixture(topics / topics.sum(axis=1, keepdims=True), alpha)


def passes(mhat):
    print(f"an EM pass (H, L, alpha), N {N_WORDS:,}, {mhat.nnz:,} pairs; goal: 1.5 times numba's dense pass")
    print("seconds by the clock, and ratio; seconds of all cores, and ratio; an EM step")
    print("      T |  numba |  torch | ratio | cores: numba | torch | ratio | step numba | step torch |  NumPy")
    for n_topics in (100, 500, 1000):
        start = mixture(n_topics)
        best, cores, steps = {}, {}, {}
        engines = {name: engine_for(name, mhat, n_topics) for name in ("numba", "torch")}
        states = {name: engine.place(start) for name, engine in engines.items()}
        for _ in range(4):  # alternate, because the load of the machine changes
            for name, engine in engines.items():
                used = time.process_time()
                took, now = seconds(lambda e=engine, s=states[name]: e.expect(s), 1)
                cores[name] = min(time.process_time() - used, cores.get(name, 9e9))
                step, _ = seconds(lambda e=engine, s=states[name], n=now: e.maximise(s, n, power=1.7), 1)
                best[name], steps[name] = min(took, best.get(name, 9e9)), min(step, steps.get(name, 9e9))
        slow = engine_for("numpy", mhat, n_topics)
        best["numpy"], _ = seconds(lambda s=slow, m=start: s.expect(s.place(m)), 1)
        record(
            f"pass, T {n_topics}", numba=best["numba"], torch=best["torch"], ratio=best["torch"] / best["numba"],
            numba_cores=cores["numba"], torch_cores=cores["torch"], ratio_cores=cores["torch"] / cores["numba"],
            numba_step=steps["numba"], torch_step=steps["torch"], numpy=best["numpy"],
        )  # fmt: skip
        print(
            f"  {n_topics:5,} | {best['numba']:5.3f} s | {best['torch']:5.3f} s | "
            f"{best['torch'] / best['numba']:5.2f} | {cores['numba']:10.3f} s | {cores['torch']:5.3f} | "
            f"{cores['torch'] / cores['numba']:5.2f} | {steps['numba']:8.3f} s | {steps['torch']:8.3f} s | "
            f"{best['numpy']:5.1f} s"
        )


def sparse_topics():
    """Would sparse topics pay in the products of a panel? M = A P', R P and R' P, with P sparse against dense."""
    import torch

    from fdmix.engines.torch_products import product_on

    n_topics, product = 500, product_on(torch, torch.device("cpu"))
    torch.set_num_threads(1)
    A, ratio = torch.rand(BLOCK, n_topics), torch.rand(BLOCK, N_WORDS)
    print(f"the products of a panel of {BLOCK} x {N_WORDS:,} words, T {n_topics}, one thread, with sparse topics P:")
    for share in (0.02, 0.05, 0.1, 0.2):
        P = torch.from_numpy(mixture(n_topics, share).topics.T.astype(np.float32)).contiguous()
        by_word, by_topic = P.to_sparse_csr(), P.T.contiguous().to_sparse_csr()
        dense, _ = seconds(lambda P=P: (product(A, P.T), product(ratio, P), product(ratio.T, A)), 5)
        sparse, _ = seconds(lambda w=by_word, t=by_topic: (w @ A.T, t @ ratio.T, product(ratio.T, A)), 5)
        layout, _ = seconds(lambda P=P: (P.to_sparse_csr(), P.T.contiguous().to_sparse_csr()), 3)
        row = {"dense": 1e3 * dense, "sparse": 1e3 * sparse, "conversion": 1e3 * layout}
        record(f"panel, {share:.0%} non-zero", **row)
        print(
            f"  {share:4.0%} non-zero: dense {1e3 * dense:5.0f} ms, sparse {1e3 * sparse:5.0f} ms; "
            f"and {1e3 * layout:5.0f} ms a pass for its layout"
        )


@contextmanager
def watched(spent, clock=time.process_time):
    """Adds up the seconds of all cores in the parts of a fit, which other work on the machine changes little."""
    kinds = [known_engine(name) for name in ("numba", "torch")]
    places = [
        *((kind, name) for kind in kinds for name in ("expect", "maximise", "place", "mixture", "active")),
        (em, "merged"), (em, "unmixed"), (em, "swapped"), (em, "blur_of"),
        (fitting, "starting_mixture"), (fitting, "with_word_ranking"), (fitting, "engine_for"),
    ]  # fmt: skip
    before = [getattr(where, name) for where, name in places]

    def timed(name, function):
        def call(*args, **kwargs):
            begin = clock()
            try:
                return function(*args, **kwargs)
            finally:
                spent[name] += clock() - begin

        return call

    for (where, name), function in zip(places, before, strict=True):
        setattr(where, name, timed(name, function))
    try:
        yield
    finally:
        for (where, name), function in zip(places, before, strict=True):
            setattr(where, name, function)


def whole_fits():
    print("where a whole fit to pairs spends its time, in seconds of all cores")
    for n_topics, n_words, n_documents, engines in FITS:
        moments = Moments.of(worlds.zipf(n_topics, n_words, seed=1).sample(n_documents, length=30, seed=2))
        for name in engines:
            spent = Counter()
            begin, wall = time.process_time(), time.perf_counter()
            with watched(spent):
                solution = fit_mixture(moments, n_topics, engine=name)
            took, wall = time.process_time() - begin, time.perf_counter() - wall
            n_passes = len(solution.log_likelihoods) - 1
            spent["rest"] = took - sum(spent.values())
            on_device = sum(spent[part] for part in ON_DEVICE)
            left = took - on_device * (1 - 1 / FASTER)
            parts = ", ".join(f"{part} {taken:.1f}" for part, taken in spent.most_common())
            print(f"  T {n_topics}, {name}: {took:.1f} s, {wall:.1f} s by the clock, {n_passes} passes: {parts}")
            shares = {part: spent[part] / left for part in ("swapped", "merged", "starting_mixture", "engine_for")}
            print(
                f"    with passes and steps {FASTER} times as fast: {left:.1f} s, {took / left:.1f} times as fast as "
                f"now; " + ", ".join(f"{part} {share:.0%}" for part, share in shares.items())
            )
            record(
                f"fit, T {n_topics}, {name}", seconds=took, wall=wall, passes=n_passes, left=left,
                times_as_fast=took / left, on_host=left - on_device / FASTER, **spent,
            )  # fmt: skip


def memory_table():
    print("most topics that fit, by the memory model with all pairs in panels (a calculation); * pairs streamed")
    print("   words | " + " | ".join(f"{size:3} GB" for size in SIZES_GB))
    for n_words in (10_500, 30_000, 100_000):
        row, topics = [], {}
        for size in SIZES_GB:
            free = int(0.9 * size * 1e9)
            streamed = most_topics(dense_size(n_words, 1), 1 << 14, free)
            fits = [t for t in range(50, streamed + 1, 50) if dense_size(n_words, t).bytes(1 << 14) <= free]
            row.append(f"{fits[-1]:,}" if fits else f"{streamed:,}*" if streamed else "none")
            topics |= {f"{size} GB": fits[-1] if fits else 0, f"{size} GB, streamed": streamed}
        record(f"fitting, {n_words} words", **topics)
        print(f" {n_words:7,} | " + " | ".join(f"{cell:>6}" for cell in row))


def roofline():
    print(f"seconds per EM pass on GPUs: A CALCULATION, not a measurement ({EFFICIENCY:.0%} of the makers' figures)")
    for name, (tera, giga) in GPUS.items():
        row = {}
        for n_topics in (100, 500, 1000):
            flops = 3 * N_WORDS**2 * n_topics + 6 * N_WORDS * n_topics**2
            moved = PASSES_OVER_M * 4 * N_WORDS**2 / 2 + 40 * N_WORDS * n_topics * 4
            row[f"T {n_topics}"] = (flops / tera / 1e9 + moved / giga / 1e6) / EFFICIENCY
        record(f"calculated pass, {name}", **row)
        print(f"  {name:16} " + ", ".join(f"{topics:7}: {taken:5.1f} ms" for topics, taken in row.items()))


def main():
    import torch

    print(f"# torch\n{machine()}, PyTorch {torch.__version__}")
    passes(Moments.of(worlds.zipf(500, N_WORDS, seed=1).sample(100_000, length=30, seed=2)).matrix)
    sparse_topics()
    whole_fits()
    memory_table()
    roofline()
