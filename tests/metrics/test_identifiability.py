"""Whether the pairs can tell topics from others."""

import numpy as np
import pytest

from fdmix import Mixture, Moments, fit_documents, fit_mixture, worlds
from fdmix.metrics import identifiability, matching_distance
from fdmix.metrics.identifiability import blurred, largest_blur, without_smoothing


def anchored_topics(n_topics=4, n_words=20, seed=0):
    topics = np.random.default_rng(seed).dirichlet(np.full(n_words, 0.5), n_topics)
    topics[:, :n_topics] = 0.1 * np.eye(n_topics)
    return topics / topics.sum(axis=1, keepdims=True)


def test_slack_is_what_other_topics_have_of_the_best_own_word():
    found = identifiability([[0.5, 0.4, 0.1, 0], [0, 0.4, 0.2, 0.4]], vocabulary=["ant", "bee", "cow", "dog"])
    assert found.slack.tolist() == [0, 0]
    assert [anchor.name for anchor in found.anchors] == ["ant", "dog"]
    assert found.n_anchored == 2
    assert found.warning is None
    np.testing.assert_allclose(identifiability([[0.7, 0.3], [0.3, 0.7]]).slack, 0.3)


def test_a_topic_without_a_word_of_its_own_is_named():
    topics = np.array([[0.5, 0.5, 0, 0, 0], [0, 0, 0.5, 0.5, 0], [0.2, 0.2, 0.2, 0.2, 0.2], [0, 0, 0, 0, 1]])
    found = identifiability(topics)
    assert found.without_own_word == [2]
    assert "1 of 4 topics has no word" in found.warning
    assert "(topic 2)" in found.warning


def test_rare_words_do_not_speak_for_a_topic_unless_asked():
    topics = [[0.599, 0.4, 0.001], [0.4, 0.6, 0]]
    assert identifiability(topics).slack[0] > 0.3
    assert identifiability(topics, least=0).slack[0] == 0
    with pytest.raises(ValueError, match="least is a share"):
        identifiability(topics, least=2)


def test_smoothing_of_documents_is_taken_off():
    sharp = anchored_topics()
    background = (sharp.mean(axis=0) + 1 / 20) / 2
    smooth = Mixture(0.99 * sharp + 0.01 * background, provenance={"refined": {"background": 0.01}})
    assert identifiability(Mixture(smooth.topics)).n_anchored == 0
    assert identifiability(smooth).n_anchored == 4
    np.testing.assert_allclose(without_smoothing(smooth), sharp, atol=0.01)
    assert ((without_smoothing(smooth) > 0) <= (sharp > 0)).all()


def test_smoothing_of_gibbs_sampling_is_taken_off():
    counts = np.array([[5, 3, 0, 0, 0], [0, 2, 4, 0, 0], [0, 2, 0, 4, 0]]) + 0.01
    counts[:, 4] = 0  # a word without a token, which the sampler does not know
    topics = counts / counts.sum(axis=1, keepdims=True)
    assert identifiability(Mixture(topics, provenance={"eta": 0.01})).n_anchored == 3
    assert identifiability(Mixture(topics)).n_anchored == 0


def test_what_all_topics_share_is_not_taken_for_smoothing():
    """The words of these topics are shared far beyond the smoothing: no anchor word may appear."""
    topics = np.array([[0.6, 0.3, 0.1], [0.3, 0.1, 0.6], [0.1, 0.6, 0.3]])
    found = identifiability(Mixture(topics, provenance={"refined": {"background": 0.001}}))
    assert found.n_anchored == 0
    assert (found.slack > 0.3).all()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_blurred_topics_tie_exactly(seed):
    """The flat direction: the same pair matrix, and so the same likelihood of any pairs, from other topics."""
    truth = worlds.World(anchored_topics(seed=seed), [0.2, 0.3, 0.1, 0.4]).mixture
    most = largest_blur(truth)
    mhat = Moments.of(worlds.World(truth.topics, 0.25).sample(500, length=20, seed=seed), weighting="paper").matrix
    for share in (0.1 * most, 0.5 * most, most):
        other = blurred(truth, share)
        np.testing.assert_allclose(other.pair_matrix(), truth.pair_matrix(), atol=1e-15)
        assert abs(other.log_likelihood(mhat) - truth.log_likelihood(mhat)) < 1e-12
        assert matching_distance(other, truth).mean == pytest.approx(
            share * np.abs(truth.topics - truth.shares @ truth.topics).sum(axis=1).mean()
        )
        assert identifiability(other).n_anchored == 0
        np.testing.assert_allclose(other.shares, truth.shares)
    assert blurred(truth, most).correlations.min() < 1e-12
    with pytest.raises(ValueError, match="at most without a change of the pairs"):
        blurred(truth, most + 0.01)


def test_topics_that_never_meet_cannot_be_blurred():
    apart = Mixture([[1, 0], [0, 1]], np.eye(2) / 2)
    assert largest_blur(apart) == 0


@pytest.mark.slow
def test_fits_to_anchored_topics_have_anchor_words():
    world = worlds.World(anchored_topics(n_topics=5, n_words=60, seed=2), 0.2)
    corpus = world.sample(4_000, length=30, seed=3)
    assert identifiability(fit_mixture(Moments.of(corpus), 5).mixture).n_anchored == 5
    refined = fit_documents(corpus, 5).mixture
    assert (refined.topics > 0).all(axis=0).sum() > 50  # smoothing: nearly all words are in all topics
    assert identifiability(refined).slack.max() < 0.05
