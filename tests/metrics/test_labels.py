"""Agreement of topics with labels, against scikit-learn's scores and known answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score, fowlkes_mallows_score, normalized_mutual_info_score

from fdmix.metrics import (
    adjusted_mutual_information,
    fowlkes_mallows,
    harmonic_purity,
    normalised_mutual_information,
    purity,
)

pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=60)


@given(pairs)
def test_scores_are_scikit_learns(pairs):
    topics, labels = map(list, zip(*pairs, strict=True))
    ours, theirs = adjusted_mutual_information(topics, labels), adjusted_mutual_info_score(labels, topics)
    assert ours == pytest.approx(theirs, abs=1e-9)
    assert fowlkes_mallows(topics, labels) == pytest.approx(fowlkes_mallows_score(labels, topics), abs=1e-9)
    if len(set(topics)) > 1 and len(set(labels)) > 1:
        theirs = normalized_mutual_info_score(labels, topics, average_method="geometric")
        assert normalised_mutual_information(topics, labels) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(("n_topics", "n_labels"), [(2, 2), (50, 20), (3, 1_000)])
def test_many_documents(n_topics, n_labels):
    """Where the sum over the hypergeometric distribution is cut."""
    rng = np.random.default_rng(0)
    topics = (n_topics * rng.random(20_000) ** 3).astype(int)
    labels = np.where(rng.random(20_000) < 0.3, topics % n_labels, rng.integers(0, n_labels, 20_000))
    expected = adjusted_mutual_info_score(labels, topics)
    assert adjusted_mutual_information(topics, labels) == pytest.approx(expected, abs=1e-9)


def test_chance_agreement_is_no_agreement():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 500)
    topics = rng.integers(0, 100, 500)
    assert purity(topics, labels) > 0.4
    assert normalised_mutual_information(topics, labels) > 0.15
    assert adjusted_mutual_information(topics, labels) == pytest.approx(0, abs=0.03)


def test_labels_of_any_kind():
    topics = [0, 0, 1, 1]
    for labels in (["a", "a", 1, 1], [None, None, "b", "b"], np.array([2.5, 2.5, 1, 1]), [("x",), ("x",), "y", "y"]):
        given_labels = np.empty(4, object)
        given_labels[:] = labels
        assert purity(topics, given_labels) == adjusted_mutual_information(topics, given_labels) == 1
    with pytest.raises(ValueError, match="one label for each document"):
        adjusted_mutual_information([0, 1], ["a"])


@given(pairs)
def test_harmonic_purity_is_the_same_both_ways(pairs):
    topics, labels = map(list, zip(*pairs, strict=True))
    found = harmonic_purity(topics, labels)
    assert found == pytest.approx(harmonic_purity(labels, topics))
    assert found == pytest.approx(2 / (1 / purity(topics, labels) + 1 / purity(labels, topics)))
    assert min(purity(topics, labels), purity(labels, topics)) <= found + 1e-12


def test_harmonic_purity_punishes_a_topic_for_each_document():
    labels = ["a"] * 5 + ["b"] * 5
    assert purity(range(10), labels) == 1
    assert harmonic_purity(range(10), labels) == pytest.approx(2 * 0.2 / 1.2)
    assert harmonic_purity([0] * 10, labels) == pytest.approx(2 * 0.5 / 1.5)
    assert harmonic_purity([1] * 5 + [0] * 5, labels) == 1
