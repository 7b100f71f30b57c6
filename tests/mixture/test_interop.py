"""Topics in the forms of other packages."""

import json
import subprocess
import sys
from importlib.util import find_spec

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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "call", "advice"),
    [
        ("networkx", "to_networkx()", "pip install 'fdmix[graphs]'"),
        ("pandas", "to_frame(library='pandas')", "pip install 'fdmix[frames]'"),
        ("polars", "to_frame(library='polars')", "pip install polars"),
    ],
)
def test_a_missing_package_is_named(package, call, advice):
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from fdmix import Mixture\n"
        f"try: Mixture([[1.0]], [[1.0]]).{call}\n"
        "except ImportError as error: print(error)"
    )
    assert advice in output_of(code)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "found"), [((), "pandas"), (("pandas",), "polars"), (("pandas", "polars"), "pyarrow")]
)
def test_tables_are_of_the_library_that_is_installed(missing, found):
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, *rest):\n"
        f"        if name in {missing!r}: raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from fdmix import Mixture\n"
        "print(type(Mixture([[1.0]], [[1.0]]).to_frame()).__module__)"
    )
    assert output_of(code).startswith(found)


def output_of(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


NEEDS_POLARS = pytest.mark.skipif(find_spec("polars") is None, reason="polars is not installed")
LIBRARIES = ["pandas", pytest.param("polars", marks=NEEDS_POLARS), "arrow"]


def records(table):
    """The rows of a table of any library, as dictionaries of plain values."""
    if hasattr(table, "to_pylist"):
        return table.to_pylist()
    return table.to_dicts() if hasattr(table, "to_dicts") else table.to_dict("records")


@pytest.mark.parametrize("library", LIBRARIES)
def test_words_in_every_library(library):
    rows = records(SMALL.to_frame(2, library=library))
    assert [(row["topic"], row["rank"], row["word"]) for row in rows] == [
        (0, 1, "ant"), (0, 2, "bee"), (1, 1, "cat"), (1, 2, "bee"), (2, 1, "cat"),
    ]  # fmt: skip
    assert rows[-1]["share"] == pytest.approx(0.25)
    assert rows[-1]["probability"] == 1
    with pytest.raises(ValueError, match="there are pandas, polars, arrow"):
        SMALL.to_frame(library="excel")


def test_the_order_of_a_frame_is_that_of_the_ranking():
    frame = SMALL.to_frame(3, ranking="exclusive")
    assert frame[frame.topic == 1].word.tolist() == SMALL.typical_words(3, "exclusive")[1] == ["cat", "bee", "ant"]
    by_probability = FITTED.to_frame(None, ranking="probability")
    assert all((np.diff(group.probability) <= 0).all() for _, group in by_probability.groupby("topic"))
    assert all(
        group["rank"].tolist() == list(range(1, len(group) + 1)) for _, group in by_probability.groupby("topic")
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_row_for_each_topic(library):
    rows = records(SMALL.topic_table(2, library=library))
    assert [list(row["words"]) for row in rows] == SMALL.typical_words(2)
    assert [row["label"] for row in rows] == SMALL.suggested_labels()
    assert [list(row["related"]) for row in rows] == [SMALL.related(t) for t in range(3)]


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_have_the_labels_that_people_gave(library):
    named = SMALL.labelled({0: "insects"})
    names = ["insects", *SMALL.suggested_labels()[1:]]
    assert named.topic_names() == names
    assert [row["label"] for row in records(named.topic_table(2, library=library))] == names
    assert records(named.document_table([[3, 1, 0, 0]], library=library))[0]["label"] == "insects"


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_row_for_each_document(library):
    counts = [[3, 1, 0, 0], [0, 0, 0, 2], [0, 0, 4, 0]]  # no topic has the last word
    rows = records(SMALL.document_table(counts, library=library))
    assert [row["known_words"] for row in rows] == [4, 0, 4]
    assert rows[0]["topic"] == 0
    assert rows[0]["label"] == SMALL.suggested_labels()[0]
    assert isinstance(rows[0]["topic"], int)
    assert rows[1]["topic"] is None or str(rows[1]["topic"]) == "<NA>"
    theta = SMALL.assign(counts)
    assert [[row[f"topic_{t}"] for t in range(3)] for row in rows] == theta.tolist()
    assert rows[2]["share"] == theta[2].max()
