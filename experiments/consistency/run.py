"""Matched l1 against the number of documents, for topics with anchor words: `fdmix reproduce consistency`.

The paper's theorem: as documents are added, only the true topics maximise the likelihood among topic sets with anchor
words. So the error must fall to zero, at best with the inverse square root of D.
"""

from __future__ import annotations

import time
from itertools import product

import numpy as np

from experiments.methods import COLOURS
from experiments.results import Results
from fdmix import Moments, baselines, fit_mixture, plots, worlds
from fdmix.metrics import matching_distance

METHODS = {
    "FDM": lambda moments, n: fit_mixture(moments, n).mixture,
    "FDM without sparsity": lambda moments, n: fit_mixture(moments, n, sparsity=0).mixture,
    "EP": baselines.extreme_points,
}


THETAS = {"few topics a document": 0.2, "many topics a document": 1.0}  # theta ~ Dir(this)


def world_with_anchors(seed, n_topics=10, n_words=200, anchor_mass=0.05, theta=0.2):
    """A world of topics ~ Dir(0.1), each with one anchor word that no other topic has."""
    topics = worlds.dirichlet_topics(n_topics, np.full(n_words, 0.1), seed)
    topics[:, :n_topics] = 0
    topics *= (1 - anchor_mass) / topics.sum(axis=1, keepdims=True)
    topics[:, :n_topics] = np.eye(n_topics) * anchor_mass
    return worlds.World(topics, theta)


def measure(sizes, seeds, say):
    """One row for each theta, D, seed and method: matched l1 and seconds."""
    rows = []
    for theta, n_documents, seed in product(THETAS, sizes, seeds):
        world = world_with_anchors(seed, theta=THETAS[theta])
        moments = Moments.of(world.sample(n_documents, length=30, seed=seed + 1000))
        for name, method in METHODS.items():
            begin = time.perf_counter()
            distance = matching_distance(method(moments, world.topics.shape[0]), world.mixture).mean
            rows.append(
                {"theta": theta, "D": n_documents, "seed": seed, "method": name, "l1": distance}
                | {"seconds": round(time.perf_counter() - begin, 3)}
            )
            say(f"{theta}, D {n_documents:9,} seed {seed} {name:21} l1 {distance:.4f}")
    return rows


def slope(rows, theta, name, from_size):
    """The exponent of D in l1 ~ D^slope, fitted to the larger corpora."""
    chosen = [
        (row["D"], row["l1"])
        for row in rows
        if (row["theta"], row["method"]) == (theta, name) and row["D"] >= from_size
    ]
    sizes, errors = np.log(np.array(chosen)).T
    return float(np.polyfit(sizes, errors, 1)[0])


def run(scale, out, data, say, **_):
    sizes = [1_000, 10_000, 100_000] + ([1_000_000] if scale == "paper" else [])
    rows = measure(sizes, (1, 2, 3), say)
    slopes = {theta: {name: round(slope(rows, theta, name, 10_000), 3) for name in METHODS} for theta in THETAS}
    results = Results(out, "Consistency: error against documents", scale, {"slopes": slopes, "measured": rows})

    def mean(theta, size, name):
        return float(np.mean([r["l1"] for r in rows if (r["theta"], r["D"], r["method"]) == (theta, size, name)]))

    results.rows = [
        {"theta": theta, "documents": size} | {name: mean(theta, size, name) for name in METHODS}
        for theta in THETAS
        for size in sizes
    ]

    for picture, theta in zip(("consistency", "consistency-dense"), THETAS, strict=True):
        lines = {name: (sizes, [mean(theta, size, name) for size in sizes]) for name in METHODS}
        lines["slope -1/2"] = (sizes, mean(theta, sizes[0], "FDM") * (np.array(sizes) / sizes[0]) ** -0.5)
        figure = plots.score_lines(lines, below="documents", left="matched l1", log="xy", colours=COLOURS)
        results.add_figure(picture, f"Matched l1 against the number of documents, {theta}", figure)
    few, many = slopes.values()
    results.verdict = (
        f"The theorem says that the error goes to zero as documents are added. With few topics a document it falls "
        f"as D^{few['FDM']} for FDM and D^{few['EP']} for EP, with many as D^{many['FDM']} and D^{many['EP']}; plain "
        f"maximum likelihood stays where it entered the flat direction."
    )
    results.write()
