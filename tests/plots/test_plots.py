"""Figures show the numbers they claim to show, in one style, and touch nothing else."""

import re
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from examples_of_plots import drawn, fitted, model, moments

mpl = pytest.importorskip("matplotlib")

from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.text import Text  # noqa: E402

from fdmix import FDM, Corpus, Mixture, Moments, metrics, plots  # noqa: E402
from fdmix.effects import over  # noqa: E402
from fdmix.mixture.placement import hellinger_distances, lift_distances, positions_on_map, seriated  # noqa: E402
from fdmix.plots import style  # noqa: E402

WORDS = [f"word{u}" for u in range(30)]
KINDS = list(drawn(WORDS))


@pytest.mark.parametrize("kind", KINDS)
def test_everything_is_inside_of_the_figure(kind):
    figure = drawn(WORDS)[kind]()
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0) >= -0.01
    assert box.x1 <= width + 0.01
    assert box.y1 <= height + 0.01
    assert width <= 7


@pytest.mark.parametrize("kind", KINDS)
def test_given_axes_are_drawn_into(kind):
    figure = Figure(figsize=(8, 4))
    made = []

    def axes(n=1):
        made.extend(figure.add_subplot(1, 3, place + 1) for place in range(n))
        return {"axes": made if n > 1 else made[0]}

    assert drawn(WORDS, axes)[kind]() is figure
    assert all(one.has_data() for one in made)
    assert not any(one.spines["top"].get_visible() for one in made)


@pytest.mark.parametrize("kind", KINDS)
def test_settings_of_matplotlib_stay_as_they_are(kind):
    before = dict(mpl.rcParams)
    drawn(WORDS)[kind]()
    assert dict(mpl.rcParams) == before


@pytest.mark.slow
def test_pyplot_is_not_imported(tmp_path):
    code = (
        "import sys; from fdmix import plots, worlds\n"
        "plots.save_figure(plots.topic_map(worlds.intervals().mixture), sys.argv[1])\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "map.png"], capture_output=True, check=True)
    assert done.stdout == b"False\n"


@pytest.mark.slow
def test_without_matplotlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import fdmix\n"
        "for use in (lambda: fdmix.plots, lambda: __import__('fdmix.plots')):\n"
        "    try: use()\n"
        "    except ImportError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["plots need matplotlib: pip install 'fdmix[plots]'"] * 2


def test_colours_are_those_of_the_report():
    page = (files("fdmix.report") / "page" / "1-base.css").read_text()
    light = dict(re.findall(r"--([\w-]+): light-dark\((#\w+),", page))
    assert tuple(light[f"family-{n}"] for n in range(8)) == style.FAMILIES
    assert tuple(light[name] for name in ("text", "muted", "line", "accent")) == (
        style.TEXT,
        style.MUTED,
        style.LINE,
        style.ACCENT,
    )
    assert tuple(light[name] for name in ("less", "even", "more")) == (style.LESS, style.EVEN, style.MORE)


def test_bars_are_probabilities():
    mixture = model(WORDS)
    figure = plots.topic_bars(mixture, [3, 1], 5)
    for axes, topic in zip(figure.axes, (3, 1), strict=True):
        widths = [bar.get_width() for bar in axes.patches]
        words = [label.get_text() for label in axes.get_yticklabels()]
        probability = dict(zip(WORDS, mixture.topics[topic], strict=True))
        assert widths == [probability[word] for word in words]
        assert widths == sorted(widths, reverse=True)
        assert set(words) == set(mixture.top_words(5)[topic])
    assert figure.axes[1].get_title("left").startswith("1  word0")  # its label
    assert len(plots.topic_bars(model(WORDS, 20)).axes) == 12


def test_words_of_probability_zero_have_no_bar():
    figure = plots.topic_bars(Mixture([[1.0, 0, 0], [0, 0.5, 0.5]], vocabulary=["a", "b", "c"]), n=3)
    assert sorted(len(axes.patches) for axes in figure.axes) == [1, 2]


def test_the_map_is_that_of_the_report():
    mixture = model(WORDS, 20)
    (axes,) = plots.topic_map(mixture).axes
    (circles,) = axes.collections
    assert np.allclose(circles.get_offsets(), positions_on_map(hellinger_distances(mixture.topics)))
    areas = circles.get_sizes()
    assert np.allclose(areas / areas.sum(), mixture.shares)


@pytest.mark.slow
def test_names_on_the_map_do_not_overlap():
    (axes,) = plots.topic_map(model(WORDS, 60)).axes
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) > 15
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def test_the_lift_matrix_has_the_order_of_the_report():
    mixture = model(WORDS, 8)
    axes = plots.lift_matrix(mixture).axes[0]
    order = seriated(lift_distances(mixture.correlations))
    shown = axes.images[0].get_array()
    assert np.allclose(2.0**shown, mixture.lift()[np.ix_(order, order)])
    assert [label.get_text() for label in axes.get_xticklabels()] == [str(t) for t in order]
    colours = axes.images[0].get_cmap()(axes.images[0].norm([-5.0, 0.0, 4.0]))
    assert [to_hex(colour) for colour in colours] == [style.LESS, style.EVEN, style.MORE]


def test_the_curve_of_a_solution_and_of_its_model():
    solution, _ = fitted()
    for fit in (solution, solution.mixture, solution.log_likelihoods):
        x, y = plots.likelihood_curve(fit).axes[0].lines[0].get_data()
        assert np.array_equal(x, np.arange(len(solution.log_likelihoods)))
        assert np.allclose(y, solution.log_likelihoods, rtol=1e-6)
    with pytest.raises(ValueError, match="does not know how its likelihood rose"):
        plots.likelihood_curve(Mixture([[1.0]]))


def test_passes_over_documents_are_not_in_the_curve():
    solution, _ = fitted()
    told = dict(solution.mixture.provenance) | {"refined": {}}
    refined = replace(solution, mixture=replace(solution.mixture, provenance=told))
    for fit in (refined, refined.mixture):
        y = plots.likelihood_curve(fit).axes[0].lines[0].get_ydata()
        assert np.allclose(y, solution.log_likelihoods[:-1], rtol=1e-6)


def test_titles_of_bars_do_not_overlap():
    figure = plots.topic_bars(model([f"a-long-word-{u}" for u in range(30)]), columns=4)
    titles = [
        next(text for text in axes.findobj(Text) if text.get_text() == axes.get_title("left")) for axes in figure.axes
    ]
    boxes = [title.get_window_extent() for title in titles]
    assert any(title.get_text().endswith("…") for title in titles)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])
    assert max(box.x1 for box in boxes) < figure.bbox.x1


def test_the_estimator_can_be_drawn():
    estimator = FDM(3, refine=False).fit(np.random.default_rng(0).poisson(1.0, (60, 12)))
    assert len(plots.topic_bars(estimator).axes) == 3
    assert plots.likelihood_curve(estimator).axes


def test_the_histogram_counts_matched_pairs():
    one, other = model(WORDS), model(WORDS, seed=3)
    figure = plots.distance_histogram(one, other)
    distances = metrics.matching_distance(one, other).distances
    outline = figure.axes[0].patches[0].get_xy()
    counts, edges = np.histogram(distances, np.linspace(0, 2, 41))
    assert outline[:, 1].max() == counts.max()
    assert outline[:, 0].min() == edges[0]
    assert f"mean {distances.mean():.2f}" in [text.get_text() for text in figure.axes[0].texts]
    shifted = Mixture(one.topics, one.correlations, [f"x{word}" for word in WORDS])
    assert "mean 2.00" in [text.get_text() for text in plots.distance_histogram(one, shifted).axes[0].texts]


def test_bands_of_shares():
    shares = np.array([[0.1, 0.9], [0.3, 0.7], [0.2, 0.8]])
    bands = {"low": shares - 0.05, "high": shares + 0.05}
    (axes,) = plots.topic_shares(shares, ["2020-01", "2020-07", "2021-01"], topics=[0, 1], **bands).axes
    assert np.allclose(axes.lines[0].get_xdata(), [2020, 2020.5, 2021])
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(0.05)
    assert band[:, 1].max() == pytest.approx(0.35)
    assert sorted(text.get_text() for text in axes.texts) == ["topic 0", "topic 1"]


def test_shares_of_groups_have_intervals_of_their_errors():
    found = {
        "column": "section", "ordered": False, "names": ["a", "b"], "documents": [5, 5],
        "shares": [[0.4, 0.6], [0.5, 0.5]], "errors": [[0.1, 0.1], [0.0, 0.0]],
    }  # fmt: skip
    (axes,) = plots.topic_shares(found).axes
    whiskers = axes.collections[0].get_segments()
    assert whiskers[0][:, 1] == pytest.approx([0.4 - 0.196, 0.4 + 0.196])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]
    assert axes.get_xlabel() == "section"


def test_shares_of_cells_are_drawn_with_their_intervals():
    counts, dates = np.eye(3, dtype=int)[[0, 1, 2, 0]] * 4 + 1, ["2021-01", "2021-01", "2021-03", "2021-03"]
    corpus = Corpus(counts, ["a", "b", "c"], {"date": dates})
    found = over(Mixture(np.eye(3)), Moments.by(corpus, "month(date)"))
    (axes,) = plots.topic_shares(found, topics=[1]).axes
    (line,) = (line for line in axes.lines if len(line.get_xdata()) == 3)
    assert line.get_ydata()[[0, 2]] == pytest.approx(found.shares[[0, 2], 1])
    assert np.isnan(line.get_ydata()[1])  # February has no documents: a gap
    assert axes.get_xlabel() == "month(date)"


@pytest.mark.parametrize("n_months", [3, 6, 12, 23])
def test_names_of_months_do_not_overlap(n_months):
    months = [f"{2021 + month // 12}-{month % 12 + 1:02d}" for month in range(n_months)]
    figure = plots.topic_shares(np.random.default_rng(0).dirichlet([1, 1], n_months), months)
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    assert len(boxes) >= 3
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_the_pair_matrix_is_mhat():
    pairs = moments(WORDS)
    matrix = pairs.matrix.toarray()
    for given in (pairs, pairs.matrix, matrix):
        assert np.allclose(plots.pair_matrix(given).axes[0].images[0].get_array(), matrix)
    some = plots.pair_matrix(pairs, words=[5, 2]).axes[0]
    assert np.allclose(some.images[0].get_array(), matrix[np.ix_([5, 2], [5, 2])])
    assert [label.get_text() for label in some.get_yticklabels()] == ["word5", "word2"]
    mixture = model(WORDS)
    assert np.allclose(plots.pair_matrix(mixture).axes[0].images[0].get_array(), mixture.pair_matrix())


def test_words_of_a_pair_matrix_are_matched_by_name():
    """Moments in another order of words, with one word more, give the same picture."""
    pairs, mixture = moments(WORDS), model(WORDS, 3)
    turned = Mixture(mixture.topics[:, ::-1], mixture.correlations, WORDS[::-1])
    pictures = [plots.pair_matrix(pairs, one).axes[0].images[0].get_array() for one in (mixture, turned)]
    assert np.allclose(*pictures)
    with pytest.raises(ValueError, match="no word of the model"):
        plots.pair_matrix(pairs, Mixture([[1.0]], vocabulary=["other"]))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: plots.topic_bars(model(WORDS), [9]), "there is no topic 9: topics are numbered from 0 to 4"),
        (lambda: plots.topic_bars(model(WORDS), []), "no topic is chosen"),
        (lambda: plots.topic_bars(model(WORDS), axes=[Figure().add_subplot()]), "needs 5 axes, not 1"),
        (lambda: plots.distance_histogram([3.0]), "between 0 and 2"),
        (lambda: plots.distance_histogram(np.ones((2, 2))), "give both of them"),
        (lambda: plots.topic_shares([0.1, 0.9]), "a table of groups x topics"),
        (lambda: plots.topic_shares([[0.1, 0.9]], ["a", "b"]), "shares of 1 groups and names of 2"),
        (lambda: plots.topic_shares([[0.1, 0.9]], low=[[0, 0]]), "give low and high, or neither"),
        (lambda: plots.topic_shares([[0.1, 0.9]], topics=[2]), "from 0 to 1"),
        (lambda: plots.topic_shares([[0.1, 0.9]], mixture=model(WORDS)), "of 2 topics, and the model has 5"),
        (lambda: plots.pair_matrix(np.ones((2, 3))), "is square"),
        (lambda: plots.pair_matrix(np.eye(2), scale="root"), "'linear' or 'log'"),
        (lambda: plots.pair_matrix(np.eye(2), words=[2]), "from 0 to 1"),
        (lambda: plots.pair_matrix(np.eye(2), model(WORDS)), "without names"),
        (lambda: plots.likelihood_curve([1.0]), "does not know"),
    ],
)
def test_wrong_arguments_are_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
