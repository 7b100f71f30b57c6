"""A node's neighbours are its document; topics are communities that may overlap."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from experiments.graphs.karate import EDGES, WITH_MR_HI

from fdmix import Corpus, Moments, fit_mixture, metrics


def misplaced(corpus, seed=0):
    """The members whom two communities put on the other side than they went."""
    mixture = fit_mixture(Moments.of(corpus, weighting="paper"), 2, seed=seed).mixture
    side = mixture.assign(corpus).argmax(axis=1)
    hi = side[corpus.vocabulary.index("1")]
    return {
        int(name) for name, s in zip(corpus.vocabulary, side, strict=True) if (s == hi) != (int(name) in WITH_MR_HI)
    }


def test_the_club_is_the_known_one():
    graph = nx.karate_club_graph()
    assert {frozenset(edge) for edge in EDGES} == {frozenset((u + 1, v + 1)) for u, v in graph.edges}
    assert len(EDGES) == 78
    assert {u + 1 for u, club in graph.nodes(data="club") if club == "Mr. Hi"} == WITH_MR_HI


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_split_of_the_karate_club(seed):
    """All but member 9, who had more friends on the officers' side and was three weeks from his black belt."""
    assert misplaced(Corpus.from_graph(EDGES), seed) == {9}


def test_with_loops_the_same_member_is_misplaced():
    assert misplaced(Corpus.from_graph(EDGES, loops=1)) == {9}


def test_two_communities_that_share_nodes():
    """Two cliques of 12 with 4 nodes in both: those belong to both topics, and the others to one."""
    graph = nx.compose(nx.complete_graph(range(12)), nx.complete_graph(range(8, 20)))
    corpus = Corpus.from_graph(graph, loops=1)
    mixture = fit_mixture(Moments.of(corpus), 2).mixture
    theta = mixture.assign(corpus)
    assert (theta[[*range(8), *range(12, 20)]].max(axis=1) > 0.99).all()
    assert np.allclose(theta[8:12], 0.5, atol=0.05)
    assert ((mixture.topics > 1e-3).sum(axis=0) == [1] * 8 + [2] * 4 + [1] * 8).all()


def test_planted_communities():
    sizes = [100] * 5
    chances = np.full((5, 5), 0.01) + np.eye(5) * 0.09
    corpus = Corpus.from_graph(nx.stochastic_block_model(sizes, chances, seed=1))
    theta = fit_mixture(Moments.of(corpus), 5).mixture.assign(corpus)
    assert metrics.normalised_mutual_information(np.repeat(np.arange(5), 100), theta.argmax(axis=1)) > 0.95


def test_all_forms_of_a_graph_agree():
    edges = [("a", "b"), ("b", "c", 2), ("a", "c"), ("d", "d"), ("a", "b")]
    adjacency = np.array([[0, 2, 1, 0], [2, 0, 2, 0], [1, 2, 0, 0], [0, 0, 0, 1]])
    listed = Corpus.from_graph(edges)
    assert listed.vocabulary == ("a", "b", "c", "d")
    assert np.array_equal(listed.counts.toarray(), adjacency)
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 2), ("b", "c", 2), ("a", "c", 1), ("d", "d", 1)])
    multi = nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c"), ("b", "c"), ("a", "c"), ("d", "d")])
    for form in (graph, multi):
        corpus = Corpus.from_graph(form)
        assert corpus.vocabulary == listed.vocabulary
        assert np.array_equal(corpus.counts.toarray(), adjacency)
    for matrix in (sp.csr_array(adjacency), sp.coo_matrix(adjacency), sp.csc_array(adjacency.astype(float))):
        corpus = Corpus.from_graph(matrix)
        assert corpus.vocabulary is None
        assert np.array_equal(corpus.counts.toarray(), adjacency)
    numbers = Corpus.from_graph(np.array([[3, 5], [5, 4]]))
    assert numbers.vocabulary == ("3", "5", "4")


def test_directions_and_loops():
    edges = [(1, 2), (1, 3), (3, 1)]
    assert Corpus.from_graph(edges, directed=True).counts.toarray().tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    directed = nx.DiGraph(edges)
    assert Corpus.from_graph(directed).counts.toarray().tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert Corpus.from_graph(directed, loops=2).counts.toarray().tolist() == [[2, 1, 1], [0, 2, 0], [1, 0, 2]]
    assert Corpus.from_graph([]).counts.shape == (0, 0)


@pytest.mark.parametrize(
    ("edges", "error"),
    [
        ([(1, 2, 0.5)], "whole"),
        ([(1, 2, -1)], "whole"),
        ([(1, 2, "often")], "whole"),
        ([(1, 2, 3, 4)], "edge 0"),
        (["ab", "bc"], "edge 0"),
        ([(1, "1")], "repeats"),
        (sp.csr_array(np.ones((2, 3))), "square"),
        (nx.Graph([(1, 2, {"weight": 1.5})]), "whole"),
        ([(1, 2, float("nan"))], "whole"),
    ],
)
def test_bad_graphs_are_refused(edges, error):
    with pytest.raises(ValueError, match=error):
        Corpus.from_graph(edges)


def test_what_is_no_graph():
    for wrong in ("ab", 3, np.ones(4)):
        with pytest.raises(TypeError, match="networkx"):
            Corpus.from_graph(wrong)
    with pytest.raises(ValueError, match="loops"):
        Corpus.from_graph([(1, 2)], loops=-1)
