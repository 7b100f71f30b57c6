"""How long do shares over time take after counting? 120 months x 100 topics, 1,000 documents each (target 10 s)."""

import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import machine, seconds
from benchmarks.recording import record
from fdmix import Corpus, Mixture, MomentsByGroup
from fdmix.effects import over, word_changes

N_MONTHS, N_TOPICS, N_WORDS = 120, 100, 8_000
N_DOCUMENTS, LENGTH = 1_000, 15  # in each month; tokens of a document


def world(rng):
    """(mixture without a zero in its topics, corpus with a column `date`): dense topics are the slow case."""
    common = rng.dirichlet(np.full(N_WORDS, 0.1))
    topics = 0.7 * rng.dirichlet(np.full(N_WORDS, 0.02), size=N_TOPICS) + 0.3 * common
    topics = (topics + 1e-7) / (topics + 1e-7).sum(axis=1, keepdims=True)
    cumulative = np.cumsum(topics, axis=1)
    tables, dates = [], []
    for month in range(N_MONTHS):
        shares = rng.dirichlet(np.full(N_TOPICS, 3.0))
        theta = np.cumsum(rng.dirichlet(3 * shares + 1e-3, size=N_DOCUMENTS), axis=1)
        topic = (rng.random((N_DOCUMENTS, LENGTH))[:, :, None] > theta[:, None, :]).sum(axis=2).ravel()
        topic = np.minimum(topic, N_TOPICS - 1)
        words = np.empty(topic.size, int)
        for t in range(N_TOPICS):
            chosen = topic == t
            words[chosen] = np.minimum(np.searchsorted(cumulative[t], rng.random(chosen.sum())), N_WORDS - 1)
        starts = np.arange(N_DOCUMENTS + 1) * LENGTH
        tables.append(sp.csr_array((np.ones(words.size, np.int32), words, starts), shape=(N_DOCUMENTS, N_WORDS)))
        dates += [f"{2010 + month // 12}-{month % 12 + 1:02}-01"] * N_DOCUMENTS
    vocabulary = [f"w{u}" for u in range(N_WORDS)]
    return Mixture(topics, vocabulary=vocabulary), Corpus(
        sp.vstack(tables, format="csr"), vocabulary, {"date": dates}
    )


def main():
    print(f"# cells\n{machine()}")
    mixture, corpus = world(np.random.default_rng(0))
    few = MomentsByGroup.of(corpus[: 4 * N_DOCUMENTS], "month(date)")
    word_changes(mixture, few)  # compile
    counting, cells = seconds(lambda: MomentsByGroup.of(corpus, "month(date)"), repeats=1)
    pairs = sum(cell.n_pairs for cell in cells.cells.values())
    print(
        f"{N_MONTHS} months x {N_TOPICS} topics, {len(corpus):,} documents, {pairs / 1e6:.0f} million pairs in cells"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells"
        saving, _ = seconds(lambda: cells.save(path), repeats=1)
        loading, cells = seconds(lambda: MomentsByGroup.load(path), repeats=1)
        size = path.stat().st_size
        worked = time.process_time()
        answering, shares = seconds(lambda: over(mixture, cells), repeats=3)
        worked = (time.process_time() - worked) / 3
        words, _ = seconds(lambda: word_changes(mixture, cells, shares), repeats=1)
    record(
        f"{N_MONTHS} months x {N_TOPICS} topics", counting=counting, loading=loading, over=answering,
        processor=worked, words=words, megabytes=size / 1e6,
    )  # fmt: skip
    print(f"  counting      {counting:6.1f} s\n  saving        {saving:6.1f} s, {size / 1e6:,.0f} MB")
    print(f"  loading       {loading:6.1f} s\n  over          {answering:6.1f} s (target: 10 s)")
    print(f"    of processor time {worked:.1f} s")
    print(f"  word_changes  {words:6.1f} s")


if __name__ == "__main__":
    main()
