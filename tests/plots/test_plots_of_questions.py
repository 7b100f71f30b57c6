"""Figures of what people ask a model: how sure it is, what edits did, which words rise, which topics merge."""

from dataclasses import replace

import numpy as np
import pytest
from effects.drifts import drifting
from examples_of_plots import model, moments, sure, trends

from fdmix import MomentsByGroup, plots
from fdmix.effects import over

WORDS = [f"word{u}" for u in range(30)]


def texts_of(figure):
    """All text of a figure."""
    figure.draw_without_rendering()
    found = [text.get_text() for axes in figure.axes for text in axes.texts]
    for axes in figure.axes:
        found += [axes.get_title(), axes.get_title(loc="left"), axes.get_xlabel()]
        found += [label.get_text() for label in axes.get_yticklabels()]
    return found


def test_intervals_are_drawn_from_end_to_end_and_say_what_they_are():
    mixture = sure(model(WORDS))
    figure = plots.share_intervals(mixture, [3, 0])
    ends = [line.get_segments()[0][:, 0] for line in figure.axes[0].collections]
    np.testing.assert_allclose(ends, mixture.reliability.shares[[3, 0]])
    assert "share of the topic, 90% interval" in texts_of(figure)
    assert {"100%", "20%", "comes back"} <= set(texts_of(figure))
    with pytest.raises(ValueError, match="fdmix reliability finds it"):
        plots.share_intervals(model(WORDS))


def test_a_tree_joins_topics_where_they_merge():
    mixture = model(WORDS)
    tree = mixture.tree(moments(WORDS))
    axes = plots.topic_tree(tree, 2).axes[0]
    lines = [line for line in axes.lines if len(line.get_xdata()) == 4]
    assert len(lines) == tree.n_topics - 1
    lost = np.sqrt(np.maximum.accumulate(np.maximum(np.cumsum(tree.costs), 0)))
    np.testing.assert_allclose([line.get_xdata()[1] for line in lines], lost)
    cut = axes.lines[-1].get_xdata()[0]
    assert lost[-2] <= cut <= lost[-1]


def test_edits_show_shares_before_and_after_and_their_cost():
    mixture, pairs = model(WORDS), moments(WORDS)
    changes = mixture.edit(pairs).merge(0, 2).fit(others="stay").changes
    figure = plots.edit_changes(changes)
    points = sorted(float(line.get_xdata()[0]) for line in figure.axes[0].lines)
    sides = [side for change in changes.topics for side in (change.before, change.after) if side is not None]
    np.testing.assert_allclose(points, sorted(side.share for side in sides))
    verb = "cost" if changes.cost >= 0 else "gained"
    assert any(f"{verb} {abs(changes.cost):.4f}" in text for text in texts_of(figure))
    assert any(text.startswith("gone: ") for text in texts_of(figure))


def test_words_that_rise_are_above_those_that_fall():
    figure = plots.word_trends(trends(WORDS), model(WORDS))
    assert len(figure.axes) == 2  # topics 1 and 3; no word of the others changes
    first = figure.axes[0]
    assert [label.get_text() for label in first.get_yticklabels()] == [WORDS[0], WORDS[1]]
    np.testing.assert_allclose([bar.get_width() for bar in first.patches], np.log2([4, 0.2]))
    with pytest.raises(ValueError, match="from 0 to 4"):
        plots.word_trends(trends(WORDS), model(WORDS), [5])


def test_shares_over_time_have_their_intervals_and_leave_gaps():
    world = drifting(seed=3, n=100)
    keep = np.array([not date.startswith("2020-03") for date in world.corpus.documents["date"]])
    shares = over(world.mixture, MomentsByGroup.of(world.corpus[keep], "month(date)"))
    figure = plots.topic_shares(shares, mixture=world.mixture, topics=[0])
    drawn = figure.axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(drawn, shares.shares[:, 0])
    assert np.isnan(drawn).sum() == 1
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()][:2] == ["2020-01", "2020-03"]
    assert len(figure.axes[0].collections[0].get_paths()) >= 1


def test_shares_over_time_of_several_groups_have_a_panel_for_each():
    world = drifting(seed=3, n=60)
    party = np.array(["D", "R", "D"])[np.arange(len(world.corpus)) % 3]
    corpus = replace(world.corpus, documents={**world.corpus.documents, "party": party})
    shares = over(world.mixture, MomentsByGroup.of(corpus, "month(date),party"))
    figure = plots.topic_shares(shares, topics=[0, 1])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["D", "R"]
    rows = [place for place, key in enumerate(shares.keys) if key[1] == "R"]
    np.testing.assert_allclose(figure.axes[1].lines[1].get_ydata(), shares.shares[rows, 1])
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
