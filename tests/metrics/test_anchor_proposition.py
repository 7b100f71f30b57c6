"""The paper's proposition: four properties of topic sets are the same property."""

import numpy as np
import pytest

from fdmix.metrics.anchor_proposition import (
    distances_from_cone,
    has_anchor_words,
    is_largest,
    smallest_coefficients,
    vertices,
)

ZERO = 1e-6


def topic_set(seed, n_topics, with_anchors):
    """A random sparse topic set over 9 words; an anchor word for each topic, or for all but one."""
    rng = np.random.default_rng(seed)
    topics = rng.gamma(0.5, size=(n_topics, 9)) * (rng.random((n_topics, 9)) < 0.7) + 1e-3 * (rng.random() < 0.5)
    topics[:, :n_topics] = np.diag(rng.uniform(0.05, 1, n_topics))
    if not with_anchors:  # topic 0 loses all words of its own
        topics[:, 0] = rng.uniform(0.05, 1, n_topics)
        alone = (topics[0] > 0) & ((topics > 0).sum(axis=0) == 1)
        topics[1, alone] = rng.uniform(0.05, 1, alone.sum())
    return topics / topics.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("with_anchors", [True, False])
@pytest.mark.parametrize("n_topics", [2, 3, 4])
def test_the_four_properties_are_one(n_topics, with_anchors):
    for seed in range(12):
        topics = topic_set(seed, n_topics, with_anchors)
        assert has_anchor_words(topics) == with_anchors
        assert (smallest_coefficients(topics) > -ZERO).all() == with_anchors  # SM
        assert (distances_from_cone(topics) < ZERO).all() == with_anchors  # P
        assert is_largest(topics) == with_anchors  # M


def test_vertices_of_anchor_word_topics_are_the_topics():
    found = vertices(topic_set(3, 3, with_anchors=True))
    assert sorted(map(tuple, found.round(9) + 0.0)) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]


def test_a_square_has_no_anchor_words_though_no_triangle_in_it_is_larger():
    """Three corners of a square: every topic is extreme, but the fourth corner is no mixture of them."""
    square = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]) / 2
    assert not has_anchor_words(square)
    assert smallest_coefficients(square).round(6).tolist() == [0, -1, 0]
    assert not is_largest(square)
    assert len(vertices(square)) == 4


def test_the_witness_is_a_distribution_that_no_mixture_gives():
    topics = topic_set(1, 3, with_anchors=False)
    a = vertices(topics)
    outside = a[(a < -ZERO).any(axis=1)]
    assert len(outside)
    assert (outside @ topics > -ZERO).all()
    np.testing.assert_allclose((outside @ topics).sum(axis=1), 1)
    np.testing.assert_allclose(a.min(axis=0), smallest_coefficients(topics), atol=1e-5)


def test_dependent_topics_are_refused():
    with pytest.raises(ValueError, match="linearly independent"):
        has_anchor_words([[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match="too many vertices"):
        vertices(np.random.default_rng(0).dirichlet(np.ones(200), 6))
