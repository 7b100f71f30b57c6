"""How long does the tree of 500 topics over 11,000 words take? Run `python -m benchmarks.tree`.

Without files, 100,000 documents of 30 tokens are drawn.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from benchmarks.recording import record
from fdmix import Mixture, Moments, worlds


def main(arguments: Sequence[str] = ()) -> None:
    """Print the wall and CPU seconds of a tree, and how far a cut's loss is from the likelihoods themselves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", help="file of moments")
    parser.add_argument("--model", help="model folder")
    parser.add_argument("--topics", type=int, default=500)
    parser.add_argument("--words", type=int, default=11_000)
    given = parser.parse_args(arguments)
    if given.moments and given.model:
        moments, mixture = Moments.load(given.moments), Mixture.load(given.model)
    else:
        world = worlds.zipf(given.topics, given.words, seed=0)
        moments, mixture = Moments.of(world.sample(100_000, 30, seed=0)), world.mixture
    Mixture(mixture.topics[:3], vocabulary=mixture.vocabulary).tree(moments)  # compiles
    wall, cpu = time.perf_counter(), time.process_time()
    tree = mixture.tree(moments)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    mhat = moments.matrix
    n = mixture.n_topics // 4
    true = mixture.log_likelihood(mhat) - tree.cut(n).log_likelihood(mhat)
    print(f"{mixture.n_topics} topics, {mixture.n_words:,} words, {moments.n_pairs:,} pairs")
    print(f"{wall:.1f} s ({cpu:.1f} s of CPU time)")
    record(f"{mixture.n_topics} topics", wall=wall, processor=cpu, words=mixture.n_words, pairs=moments.n_pairs)
    print(f"cut of {n}: loses {tree.loss(n):.7f}; by the likelihoods {true:.7f}")


if __name__ == "__main__":
    main(sys.argv[1:])
