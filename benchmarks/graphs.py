"""How well are communities of small graphs found, and how much depends on single friendships?"""

import numpy as np
from experiments.graphs.karate import EDGES, WITH_MR_HI

from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import Corpus, Moments, fit_mixture
from fdmix.metrics import normalised_mutual_information

FRIENDS_OF_BOTH = 3  # the member whose friends are on both sides
REMOVED = 0.08  # of the friendships
CUTS = 20
SMALL = (2, 30, 5, 2)  # groups, members of each, neighbours inside and outside


def sides(edges, loops=0, weighting="paper", seed=0):
    """(member -> shares of two topics, number of members that are not on the side they chose)."""
    corpus = Corpus.from_graph(edges, loops=loops)
    theta = fit_mixture(Moments.of(corpus, weighting=weighting), 2, seed=seed).mixture.assign(corpus)
    members = [int(name) for name in corpus.vocabulary]
    chosen = np.array([member in WITH_MR_HI for member in members])
    wrong = int((theta.argmax(axis=1) != chosen).sum())
    if wrong > len(members) - wrong:
        theta, wrong = theta[:, ::-1], len(members) - wrong  # topics have no order
    return dict(zip(members, theta, strict=True)), wrong


def small_graph(seed):
    """(edges, group of each node) of a random graph with two small communities."""
    n_groups, size, inside, outside = SMALL
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), size)
    chance = np.where(group[:, None] == group, inside / size, outside / (group.size - size))
    return [(str(a), str(b)) for a, b in np.argwhere(np.triu(rng.random(chance.shape) < chance, 1))], group


def main():
    print(f"# graphs\n{machine()}")
    for name, settings in (
        ("each member once", {}),
        ("each member once, loops", {"loops": 1}),
        ("default weights", {"weighting": "tokens"}),
    ):
        found = [sides(EDGES, seed=seed, **settings) for seed in range(3)]
        own = [shares[FRIENDS_OF_BOTH][1] for shares, _ in found]
        wrong = [count for _, count in found]
        record(name, misplaced_least=min(wrong), misplaced_most=max(wrong), own_least=min(own), own_most=max(own))
        print(f"  {name:24} {wrong} of 34 misplaced; member 3 has {min(own):.2f} to {max(own):.2f} of his own side")
    rng = np.random.default_rng(0)
    kept = [rng.random(len(EDGES)).argsort()[round(REMOVED * len(EDGES)) :] for _ in range(CUTS)]
    for loops in (0, 1):
        wrong = sorted(sides([EDGES[e] for e in some], loops=loops)[1] for some in kept)
        record(
            f"cuts, loops={loops}", cuts=CUTS, removed_percent=100 * REMOVED, least=wrong[0], median=np.median(wrong),
            most=wrong[-1], more_than_four=sum(count > 4 for count in wrong),
        )  # fmt: skip
        print(f"  {CUTS} times without {REMOVED:.0%} of the friendships, loops={loops}: {wrong} misplaced")
    scores = []
    for seed in range(3):
        edges, group = small_graph(seed)
        corpus = Corpus.from_graph(edges, loops=1)
        theta = fit_mixture(Moments.of(corpus, weighting="paper"), 2).mixture.assign(corpus)
        known = group[[int(node) for node in corpus.vocabulary]]
        scores.append(float(normalised_mutual_information(theta.argmax(axis=1), known)))
    record("2 x 30 nodes", least=min(scores), most=max(scores))
    print(f"  2 x 30 nodes with 7 neighbours: NMI {min(scores):.2f} to {max(scores):.2f}")
