"""How fast are word pairs counted? Against SciPy's sparse product: time, memory, growth with the corpus."""

import numpy as np
import scipy.sparse as sp

from benchmarks import data
from benchmarks.measure import machine, peak_megabytes, seconds
from benchmarks.recording import record
from fdmix import Moments


def by_scipy(counts):
    """Mhat = (X' diag(v) X - diag(X' v)) / sum of w in floating point, with w = l - 1 and v = w / (l (l - 1))."""
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    used = lengths >= 2
    counts = counts.astype(np.float64)
    weight = np.where(used, 1 / np.maximum(lengths, 1.0), 0)
    total = counts.T @ (sp.diags_array(weight) @ counts) - sp.diags_array(counts.T @ weight)
    return total / (lengths[used] - 1).sum()


def compare(name, counts):
    print(f"\n{name}: {counts.shape[0]:,} documents, {counts.shape[1]:,} words, {counts.nnz:,} counts")
    print(f"  before counting, Moments.estimate says: {Moments.estimate(counts)}")
    _ = Moments.of(counts[:100]).matrix  # compile
    ours, moments = seconds(lambda: Moments.of(counts))
    alone, _ = seconds(lambda: Moments.of(counts, n_threads=1))
    with_matrix, matrix = seconds(lambda: Moments.of(counts).matrix)
    theirs, expected = seconds(lambda: by_scipy(counts), repeats=3)
    difference = abs(matrix - expected).max() / expected.max()
    assert difference < 1e-9, "the values must be the same"
    updates = Moments.estimate(counts).updates
    record(
        name, scipy=theirs, seconds=ours, one_thread=alone, with_matrix=with_matrix, ratio=theirs / ours,
        ratio_one_thread=theirs / alone, ratio_with_matrix=theirs / with_matrix, additions=updates / 1e6,
        nanoseconds=ours / updates * 1e9, difference=difference,
    )  # fmt: skip
    print(f"  scipy X' diag(w) X        {theirs:7.3f} s")
    print(f"  Moments.of, 1 thread      {alone:7.3f} s  {theirs / alone:5.1f} times as fast")
    print(f"  Moments.of                {ours:7.3f} s  {theirs / ours:5.1f} times as fast  (target 4)")
    print(f"  Moments.of(...).matrix    {with_matrix:7.3f} s  {theirs / with_matrix:5.1f} times as fast")
    print(f"  {updates:,} additions, {ours / updates * 1e9:.2f} ns each; {moments.n_pairs:,} pairs")
    print(f"  largest difference from scipy, relative to the largest entry: {difference:.1e}")
    return moments


def memory(name, counts_code, moments):
    peak = peak_megabytes(
        f"from fdmix import Moments; from benchmarks import data\n"
        f"Moments.of([[1, 1]]); counts = {counts_code}\ndef measured(): return Moments.of(counts)"
    )
    result = moments.nbytes / 2**20
    record(f"{name}, memory", peak_megabytes=peak, result_megabytes=result)
    print(
        f"  peak memory over the input {peak:,.0f} MB; result {result:,.0f} MB, target {1.5 * result + 200:,.0f} MB"
    )


def growth(counts):
    print("\ngrowth with documents (mlpapers, streamed in chunks of 10,000):")
    per_document = []
    for n in (50_000, 100_000, 200_000):
        part = counts[:n]
        time, _ = seconds(lambda part=part: Moments.of(part))
        per_document.append(time / n * 1e6)
        record(f"{n} documents", microseconds_a_document=per_document[-1])
        print(f"  {n:7,} documents at once: {time:.3f} s, {per_document[-1]:.2f} us a document")
    for copies in (4, 8, 16):
        code = (
            "from fdmix import Moments; from benchmarks import data\n"
            "Moments.of([[1, 1]]); counts = data.mlpapers()[:60_000]\n"
            f"chunks = (counts[k:k + 10_000] for _ in range({copies}) for k in range(0, 60_000, 10_000))\n"
            "def measured(): return Moments.of(chunks)"
        )
        peak = peak_megabytes(code)
        record(f"streamed {copies} times", peak_megabytes=peak)
        print(f"  {60_000 * copies:7,} documents streamed: peak {peak:,.0f} MB over the input")


def main():
    print(f"# moments\n{machine()}")
    counts = data.mlpapers()
    if counts is not None:
        memory("mlpapers", "data.mlpapers()", compare("mlpapers", counts))
        growth(counts)
    short = data.short_documents()
    memory("short documents", "data.short_documents()", compare("short documents", short))
