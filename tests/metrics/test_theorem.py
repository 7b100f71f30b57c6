"""The theorem's converse: among topic sets with anchor words only the truth maximises the likelihood of the pairs."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from experiments.theory import run as theory


@pytest.mark.slow
def test_other_topics_with_anchor_words_lose_and_blurred_ones_do_not():
    truth = theory.anchored_world(1)
    assert theory.lost_likelihood(truth.topics, truth.pair_matrix()) < 1e-6
    rows = theory.gaps_of_others(1, 4 * len(theory.OTHERS))
    for row in rows:
        if row["kind"] == "blurred":
            assert row["lost"] < 1e-13
        else:
            assert row["lost"] > 0.01 * row["l1"] ** 2  # quadratic: 0.02 and more on these worlds
    assert max(row["l1"] for row in rows if row["kind"] == "blurred") > 0.1


def test_sets_built_to_lose_little_have_anchor_words_and_lose_less_than_random_ones():
    truth, rng = theory.anchored_world(1), np.random.default_rng(0)
    directions, pairs, ratios = theory.flattest_directions(truth), truth.pair_matrix(), {}
    for other in (theory.flat_step, theory.noisy, theory.other_anchors):
        topics = other(truth, 0.1, rng, directions)
        assert theory.has_anchor_words(topics)
        distance = np.abs(topics - truth.topics).sum(axis=1).mean()
        ratios[other] = theory.lost_likelihood(topics, pairs) / distance**2
    assert ratios[theory.flat_step] < ratios[theory.noisy] / 3


def test_past_the_end_of_the_flat_direction_likelihood_is_lost():
    truth = theory.anchored_world(2)
    end = theory.largest_blur(truth)
    topics = (1 - 1.5 * end) * truth.topics + 1.5 * end * truth.topics.mean(axis=0)
    assert theory.lost_likelihood(topics, truth.pair_matrix()) > 1e-4


def test_random_sets_are_of_both_kinds():
    kinds = [theory.has_anchor_words(theory.random_topics(3, 8, np.random.default_rng(seed))) for seed in range(12)]
    assert 2 < sum(kinds) < 10
