"""How long it takes to choose the number of topics: 12 numbers from 10 to 300 x 10 folds; goal: 3 minutes.

    python -m benchmarks choosing --save     # the paragraphs of machine-learning papers (FDMIX_DATA)
    python -m benchmarks.choosing --folds 1  # one fold of the ten: a tenth of the fits
    python -m benchmarks.choosing --cold     # each number from scratch instead of by merging, to compare

All ten folds are `choose_n_topics` with all its scores. Fewer print their seconds, and the log-likelihood of left-out
pairs for each number.
"""

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.recording import record
from fdmix import Moments, worlds
from fdmix.choice import choose_n_topics, numbers_of_topics
from fdmix.choice.choosing import FOLDS
from fdmix.choice.fold_path import fold_path
from fdmix.runtime.threads import one_blas_thread


def counts_of(n_documents):
    """Paragraphs of papers, or documents of a world with 100 topics if the data is not there."""
    path = Path(os.environ.get("FDMIX_DATA", "")) / "mlpapers.npz"
    if not path.is_file():
        print("FDMIX_DATA has no mlpapers.npz: documents are drawn from a world with 100 topics")
        return worlds.zipf(100, 5000).sample(n_documents or 50_000, length=30).counts
    data = np.load(path)
    table = sp.csr_array(
        (data["data"].astype(np.int32), data["indices"].astype(np.int32), data["indptr"].astype(np.int64)),
        shape=tuple(data["shape"]),
    )
    return table if n_documents is None else table[:: max(1, table.shape[0] // n_documents)]


def whole(moments, topics, counting):
    """All folds as `choose_n_topics` does it, with all scores."""
    begin, worked = time.perf_counter(), time.process_time()
    choice = choose_n_topics(moments, topics)
    took, worked = time.perf_counter() - begin, time.process_time() - worked
    print(f"{choice}\n{choice.verdict}\n{took:.1f} s of wall time (target: 180 s), {worked:.0f} s of processor time")
    numbers = len(choice.candidates) - 1
    record(
        f"{FOLDS} folds x {numbers} numbers", documents=moments.n_documents, counting=counting, choosing=took,
        processor=worked,
    )  # fmt: skip


def main(arguments=()):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", default="10..300")
    parser.add_argument("--documents", type=int, default=None, help="about this many, evenly taken")
    parser.add_argument("--folds", type=int, default=FOLDS, help="folds to leave out, of ten")
    parser.add_argument("--cold", action="store_true")
    given = parser.parse_args(arguments)
    begin = time.perf_counter()
    moments = Moments.of(counts_of(given.documents), folds=FOLDS)
    counting = time.perf_counter() - begin
    print(f"{moments!r}: counted in {counting:.1f} s")
    numbers = (1, *numbers_of_topics(given.topics))
    if given.folds == FOLDS and not given.cold:
        return whole(moments, given.topics, counting)
    with one_blas_thread:
        for fold, left_out in enumerate(moments.folds[: given.folds]):
            begin = time.perf_counter()
            learned = replace(moments, folds=(), held_out=None) - left_out
            found = [
                (fit.mixture.n_topics, fit.score) for fit in fold_path(learned, left_out, numbers, cold=given.cold)
            ]
            scores = "  ".join(f"{n}: {score:.4f}" for n, score in reversed(found))
            print(f"fold {fold}: {time.perf_counter() - begin:.1f} s  {scores}", flush=True)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
