"""Topics in the forms of other packages."""

import json
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from fdmix import Corpus, Mixture, Moments, fit_mixture, worlds

WORLD = worlds.zipf(5, 60, seed=1)
FITTED = fit_mixture(Moments.of(WORLD.sample(2000, seed=2), [f"w{u}" for u in range(60)]), 5).mixture
ALPHA = np.array([[0.3, 0.15, 0.0], [0.15, 0.1, 0.05], [0.0, 0.05, 0.2]])
SMALL = Mixture([[0.5, 0.5, 0, 0], [0.1, 0.2, 0.7, 0], [0, 0, 1, 0]], ALPHA, ["ant", "bee", "cat", "dog"])
ALIKE = Mixture(np.repeat(np.random.default_rng(0).dirichlet(np.full(40, 0.2), 50), 3, axis=0), np.eye(150) / 150)
UNUSED = Mixture([[0.5, 0.5, 0], [0, 0, 1]], [[1.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("mixture", [FITTED, SMALL, UNUSED], ids=["fitted", "small", "unused topic"])
def test_pyldavis_gets_what_it_checks(mixture):
    given = mixture.to_pyldavis(n_tokens=5000)
    topics, documents = given["topic_term_dists"], given["doc_topic_dists"]
    n_words = len(given["vocab"])
    assert topics.shape == (mixture.n_topics, n_words)
    assert documents.shape == (len(given["doc_lengths"]), mixture.n_topics)
    assert len(given["term_frequency"]) == n_words
    for rows in (topics, documents):
        assert np.allclose(rows.sum(axis=1), 1)
    assert (topics > 0).all()  # it takes logarithms
    assert (given["term_frequency"] > 0).all()
    topic_tokens = given["doc_lengths"] @ documents
    assert np.allclose(topic_tokens / topic_tokens.sum(), mixture.shares, atol=2e-6)
    assert np.allclose(given["term_frequency"], topic_tokens @ topics, rtol=1e-3)
    assert given["term_frequency"].sum() == pytest.approx(5000)


def test_layout_of_pyldavis():
    """Known answers: two topics lie at their divergence, three without a common word at log 2."""
    layout = SMALL.to_pyldavis()["mds"]
    assert layout(np.ones((1, 4)) / 4).tolist() == [[0, 0]]
    two = layout(SMALL.topics[:2])
    middle = SMALL.topics[:2].mean(axis=0)
    kl = [np.sum(p[p > 0] * np.log(p[p > 0] / middle[p > 0])) for p in SMALL.topics[:2]]
    assert np.linalg.norm(two[0] - two[1]) == pytest.approx(np.mean(kl))
    three = layout(np.eye(3))
    sides = [np.linalg.norm(three[i] - three[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert sides == pytest.approx([np.log(2)] * 3)
    many = layout(ALIKE.topics)
    assert many.shape == (150, 2)
    assert many.dtype == np.float64
    assert np.isfinite(many).all()
    assert np.ptp(many, axis=0).min() > 0.1  # in both directions


def test_pyldavis_words():
    given = SMALL.to_pyldavis()
    assert given["vocab"] == ["ant", "bee", "cat"]  # no topic has a dog
    assert np.allclose(given["topic_term_dists"], SMALL.topics[:, :3], atol=1e-5)
    assert np.allclose(given["doc_topic_dists"], ALPHA / ALPHA.sum(axis=1, keepdims=True))


def test_pyldavis_takes_it():
    pyldavis = pytest.importorskip("pyLDAvis")
    for mixture in (SMALL, UNUSED, ALIKE, Mixture([[0.5, 0.5]], [[1.0]])):
        json.loads(pyldavis.prepare(**mixture.to_pyldavis()).to_json(), parse_constant=pytest.fail)  # README's line
    prepared = pyldavis.prepare(**FITTED.to_pyldavis(), sort_topics=False, n_jobs=1)
    default = pyldavis.prepare(**FITTED.to_pyldavis() | {"mds": "pcoa"}, sort_topics=False, n_jobs=1)
    for axis in ("x", "y"):  # few topics: the default works, and is the same up to a sign
        ours, theirs = (np.array(layout.topic_coordinates[axis]) for layout in (prepared, default))
        assert np.allclose(ours, theirs) or np.allclose(ours, -theirs)
    assert np.allclose(prepared.topic_coordinates["Freq"] / 100, FITTED.shares)
    assert "NaN" not in prepared.to_json()


def test_graph_of_topics(tmp_path):
    graph = SMALL.to_networkx(n=2)
    assert graph.nodes[0] == {"words": "ant, bee", "share": pytest.approx(0.45)}
    assert [graph.nodes[t]["share"] for t in range(3)] == pytest.approx(SMALL.shares)
    assert set(graph.edges) == {(0, 1)}  # 0.15 > 0.45 0.3; 0.05 < 0.3 0.25
    edge = graph.edges[0, 1]
    assert edge["weight"] == pytest.approx(0.15)
    assert edge["lift"] == pytest.approx(0.15 / (0.45 * 0.3))
    deviations = np.sqrt((0.3 - 0.45**2) * (0.1 - 0.3**2))
    assert edge["correlation"] == pytest.approx((0.15 - 0.45 * 0.3) / deviations)
    assert set(SMALL.to_networkx(threshold=0).edges) == {(0, 1), (1, 2)}
    assert SMALL.to_networkx(threshold=9).number_of_edges() == 0
    nx.write_graphml(graph, tmp_path / "topics.graphml")  # it takes plain values only


def test_correlations_of_the_graph_are_those_of_theta():
    theta = np.random.default_rng(0).dirichlet([0.5, 1.0, 2.0], 100_000)
    theta[:, 1] = theta[:, 0]  # two topics that always come together
    theta /= theta.sum(axis=1, keepdims=True)
    graph = Mixture(np.eye(3), theta.T @ theta / len(theta)).to_networkx()
    assert graph.edges[0, 1]["correlation"] == pytest.approx(1)
    expected = np.corrcoef(theta.T)
    everything = Mixture(np.eye(3), theta.T @ theta / len(theta)).to_networkx(threshold=0)
    assert everything.edges[0, 2]["correlation"] == pytest.approx(expected[0, 2])


def test_frame_of_topics():
    frame = SMALL.to_frame(2)
    assert list(frame.columns) == ["topic", "share", "rank", "word", "probability"]
    assert frame[frame.topic == 1].word.tolist() == ["cat", "bee"]
    assert frame[frame.topic == 2].probability.tolist() == [1.0]  # it has one word only
    whole = FITTED.to_frame(None)
    assert len(whole) == np.count_nonzero(FITTED.topics)
    assert np.allclose(whole.groupby("topic").probability.sum(), 1)
    assert [group.word.tolist()[:3] for _, group in whole.groupby("topic")] == FITTED.top_words(3)


def test_bags_go_there_and_back():
    corpus = WORLD.sample(50, length=12, seed=4)
    bags = corpus.to_bags()
    assert all(isinstance(number, int) for bag in bags for pair in bag for number in pair)
    again = Corpus.from_bags(bags, n_words=corpus.n_words)
    assert (again.counts != corpus.counts).nnz == 0


@pytest.mark.parametrize(
    ("package", "method", "extra"), [("networkx", "to_networkx", "graphs"), ("pandas", "to_frame", "frames")]
)
def test_a_missing_package_is_named(package, method, extra):
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from fdmix import Mixture\n"
        f"try: Mixture([[1.0]], [[1.0]]).{method}()\n"
        "except ImportError as error: print(error)"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert f"fdmix[{extra}]" in shown
