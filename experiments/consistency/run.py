"""Matched l1 against the number of documents, for topics with anchor words: `python -m experiments.consistency.run`.

The paper's theorem: among topic sets with anchor words the likelihood is maximised, as documents are added, only by
the true one. So the error must fall to zero, and as one over the root of D if all goes well.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from fdmix import Moments, baselines, fit_mixture, worlds
from fdmix.metrics import matching_distance
from fdmix.storage import replacing

HERE = Path(__file__).parent
METHODS = {
    "FDM": lambda moments, n: fit_mixture(moments, n).mixture,
    "FDM without sparsity": lambda moments, n: fit_mixture(moments, n, sparsity=0).mixture,
    "EP": baselines.extreme_points,
}
COLOURS = {"FDM": "#0072B2", "FDM without sparsity": "#E69F00", "EP": "#009E73"}  # safe for colour-blind readers


def world_with_anchors(seed, n_topics=10, n_words=200, anchor_mass=0.05):
    """Topics ~ Dir(0.1), and one word each that no other topic has."""
    topics = worlds.dirichlet_topics(n_topics, np.full(n_words, 0.1), seed)
    topics[:, :n_topics] = 0
    topics *= (1 - anchor_mass) / topics.sum(axis=1, keepdims=True)
    topics[:, :n_topics] = np.eye(n_topics) * anchor_mass
    return worlds.World(topics, 0.2)


def measure(sizes, seeds):
    """For each method and D the matched l1 of every seed, and the seconds of the last."""
    rows = []
    for n_documents in sizes:
        for seed in seeds:
            world = world_with_anchors(seed)
            moments = Moments.of(world.sample(n_documents, length=30, seed=seed + 1000))
            for name, method in METHODS.items():
                begin = time.perf_counter()
                distance = matching_distance(method(moments, world.topics.shape[0]), world.mixture).mean
                rows.append(
                    {"D": n_documents, "seed": seed, "method": name, "l1": distance}
                    | {"seconds": round(time.perf_counter() - begin, 3)}
                )
                print(f"D {n_documents:9,} seed {seed} {name:21} l1 {distance:.4f}", flush=True)
    return rows


def slope(rows, name, from_size):
    """The exponent of D in l1 ~ D^slope, fitted to the larger corpora."""
    chosen = [(row["D"], row["l1"]) for row in rows if row["method"] == name and row["D"] >= from_size]
    sizes, errors = np.log(np.array(chosen)).T
    return float(np.polyfit(sizes, errors, 1)[0])


def draw(rows, path):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4.2), layout="constrained")
    axes = figure.add_subplot()
    sizes = sorted({row["D"] for row in rows})
    for name, colour in COLOURS.items():
        means = [np.mean([row["l1"] for row in rows if (row["D"], row["method"]) == (size, name)]) for size in sizes]
        axes.loglog(sizes, means, "o-", color=colour, label=name)
    first = np.mean([row["l1"] for row in rows if (row["D"], row["method"]) == (sizes[0], "FDM")])
    axes.loglog(sizes, first * (np.array(sizes) / sizes[0]) ** -0.5, ":", color="grey", label="slope -1/2")
    axes.set(xlabel="documents", ylabel="matched l1", title="Topics with anchor words")
    axes.legend()
    with replacing(path) as file:
        FigureCanvasAgg(figure).print_png(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", choices=["small", "paper"], default="small")
    parser.add_argument("--out", type=Path, default=HERE)
    arguments = parser.parse_args()
    sizes = [1_000, 10_000, 100_000] + ([1_000_000] if arguments.scale == "paper" else [])
    rows = measure(sizes, seeds=(1, 2, 3))
    result = {
        "scale": arguments.scale,
        "rows": rows,
        "slopes": {name: round(slope(rows, name, 10_000), 3) for name in METHODS},
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    with replacing(arguments.out / "result.json") as file:
        file.write(json.dumps(result, indent=1).encode())
    draw(rows, arguments.out / "figure.png")
    print(f"slopes: {result['slopes']}")


if __name__ == "__main__":
    main()
