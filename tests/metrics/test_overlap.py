"""Inverted rank-biased overlap: known answers, and the formula written out for two lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdmix.metrics import inverted_rank_biased_overlap as irbo

lists = st.permutations(range(12)).map(lambda order: [str(word) for word in order[:6]])


@given(lists, lists, st.floats(0.05, 0.95))
def test_it_is_the_formula(a, b, p):
    shared = [len(set(a[:d]) & set(b[:d])) for d in range(7)]
    overlap = p**6 * shared[6] / 6 + (1 - p) / p * sum(p**d * shared[d] / d for d in range(1, 7))
    assert irbo([a, b], 6, persistence=p) == pytest.approx(1 - overlap)


def test_known_answers():
    assert irbo([["a", "b"], ["c", "d"]]) == pytest.approx(1)
    assert irbo([["a", "b"], ["a", "b"], ["a", "b"]]) == pytest.approx(0)
    assert irbo([["a", "b", "c"], ["a", "b"]]) == pytest.approx(0)  # a shorter list that agrees as far as it goes
    on_top = irbo([["a", "b", "c"], ["a", "x", "y"]])
    below = irbo([["b", "c", "a"], ["x", "y", "a"]])
    assert on_top < below  # a shared first word is worse
    pairs = [irbo([["a", "b"], ["a", "c"]]), irbo([["a", "b"], ["d", "e"]]), irbo([["a", "c"], ["d", "e"]])]
    assert irbo([["a", "b"], ["a", "c"], ["d", "e"]]) == pytest.approx(np.mean(pairs))


def test_lists_of_different_lengths():
    """Webber's equation 32 by hand: X_1 = 1, X_2 = 1 for (a, b, c) and (a), s = 1, l = 3, p = 1/2.

    1 x (1/2 x 1 + 1/4 x (1 + 1)/2 + 1/8 x (1 + 2)/3) + (0/3 + 1) x 1/8 = 1: all that is known agrees.
    For (b, a, c) and (a): X_1 = 0, X_2 = X_3 = 1, so (1/4 x 1/2 + 1/8 x 1/3) + (1/3 + 0) x 1/8 = 5/24.
    """
    assert irbo([["a", "b", "c"], ["a"]], persistence=0.5) == pytest.approx(0)
    assert irbo([["b", "a", "c"], ["a"]], persistence=0.5) == pytest.approx(1 - 5 / 24)


def test_topics_as_probabilities():
    topics = [[0.5, 0.3, 0.2, 0], [0.5, 0, 0.2, 0.3]]
    assert irbo(topics, 2) == pytest.approx(irbo([["0", "1"], ["0", "3"]]))


def test_bad_arguments():
    with pytest.raises(ValueError, match="at least two topics"):
        irbo([["a", "b"]])
    with pytest.raises(ValueError, match="persistence"):
        irbo([["a"], ["b"]], persistence=1)
