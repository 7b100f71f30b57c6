"""Scores against hand-worked values, brute force and outside implementations."""

from itertools import permutations
from math import log

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from fdmix import Corpus, Mixture, Moments, fit_documents, metrics, worlds
from fdmix.corpus.splits import halves


def test_matching_is_the_best_permutation():
    rng = np.random.default_rng(0)
    a, b = rng.dirichlet(np.ones(6), 5), rng.dirichlet(np.ones(6), 5)
    brute = min(np.mean([abs(a[t] - b[p[t]]).sum() for t in range(5)]) for p in permutations(range(5)))
    assert metrics.matching_distance(a, b).mean == pytest.approx(brute)
    fewer = metrics.matching_distance(a, b[:3])
    assert len(fewer.distances) == 3
    with pytest.raises(ValueError, match="same words"):
        metrics.matching_distance(a, rng.dirichlet(np.ones(4), 5))
    with pytest.raises(ValueError, match="at least one"):
        metrics.matching_distance(a, b[:0])
    with pytest.raises(ValueError, match="divide each row by its sum"):
        metrics.matching_distance(a, 2 * b)


def test_matching_is_by_word():
    a = Mixture([[0.9, 0.1], [0.2, 0.8]], np.eye(2) / 2, ["a", "b"])
    b = Mixture([[0.1, 0.9], [0.8, 0.2]], np.eye(2) / 2, ["b", "a"])
    assert metrics.matching_distance(a, b).mean == 0
    with pytest.raises(ValueError, match="vocabularies differ"):
        metrics.matching_distance(a, Mixture(b.topics, b.correlations, ["b", "c"]))


def test_stability_is_the_mean_over_pairs_of_fits():
    mixture = worlds.authors(1).mixture
    other = worlds.authors(2).mixture
    assert metrics.stability([mixture, mixture]) == 0
    three = [np.eye(3)[[0, 1]], np.eye(3)[[1, 0]], np.eye(3)[[0, 2]]]  # distances 0, 1 and 1
    assert metrics.stability(three) == pytest.approx(2 / 3)
    assert metrics.stability([mixture, other]) > 1
    with pytest.raises(ValueError, match="two"):
        metrics.stability([mixture])


def test_holdout_score_is_the_mean_of_the_documents():
    world = worlds.authors(seed=3)
    corpus = world.sample(200, seed=4)
    score = metrics.holdout_log_likelihood(world.mixture, corpus, smoothing=0.0)
    theta = world.mixture.assign(corpus)
    share = corpus.counts.toarray() / corpus.lengths[:, None]
    by_hand = np.sum(share * np.log(np.maximum(theta @ world.topics, 1e-300)), axis=1)
    np.testing.assert_allclose(score.values, by_hand, atol=1e-9)
    assert float(score) == pytest.approx(by_hand.mean())
    smoothed = metrics.holdout_log_likelihood(world.mixture, corpus)
    assert smoothed.smoothing == 1e-4
    assert smoothed.mean == pytest.approx(score.mean, abs=0.01)


def test_impossible_words_cost_what_the_smoothing_says():
    mixture = Mixture([[0.5, 0.5, 0, 0]], [[1.0]])
    score = metrics.holdout_log_likelihood(mixture, [[0, 0, 1, 0]], smoothing=0.01)
    assert score.mean == pytest.approx(log(0.01 / 4))
    for prior in (None, "dirichlet"):
        halved = metrics.completion_log_likelihood(mixture, [[0, 0, 0, 4]], prior, smoothing=0.01)
        assert halved.mean == pytest.approx(log(0.01 / 4))
    with pytest.raises(ValueError, match="no document"):
        metrics.holdout_log_likelihood(mixture, [[0, 0, 0, 0]])


def test_without_smoothing_impossible_tokens_are_left_out_of_all_scores():
    mixture = Mixture([[0.5, 0.5, 0]], [[1.0]])
    for score in (
        metrics.holdout_log_likelihood(mixture, [[2, 2, 4]], smoothing=0.0),
        metrics.completion_log_likelihood(mixture, [[2, 2, 4]], smoothing=0.0),
    ):
        assert score.mean == pytest.approx(log(0.5))
        assert score.n_unknown == 4
        assert metrics.perplexity(score) == pytest.approx(2)
    assert metrics.holdout_log_likelihood(mixture, [[2, 2, 4]], smoothing=0.0).lengths.tolist() == [4]


def test_completion_by_brute_force():
    world = worlds.authors(seed=6)
    corpus = world.sample(40, length=9, seed=7)
    score = metrics.completion_log_likelihood(world.mixture, corpus, smoothing=0.01, seed=3)
    given, held = halves(corpus.counts, seed=3)
    smooth = 0.99 * world.topics + 0.01 / 250
    theta = world.mixture.assignment(given, smoothing=0.01).theta
    by_hand = np.sum(held.toarray() * np.log(theta @ smooth), axis=1) / 4
    np.testing.assert_allclose(score.values, by_hand, atol=1e-12)
    again, other = (
        metrics.completion_log_likelihood(world.mixture, corpus, smoothing=0.01, seed=seed).mean for seed in (3, 4)
    )
    assert again == score.mean != other


def test_halves_share_out_every_token():
    corpus = worlds.authors(seed=3).sample(50, length=7, seed=5)
    first, second = halves(corpus.counts, seed=1)
    assert ((first + second) != corpus.counts).nnz == 0
    assert (np.asarray(first.sum(axis=1)) == 4).all()


def test_completion_with_a_prior_ranks_the_truth_first():
    world = worlds.authors(seed=6)
    corpus = world.sample(1500, length=20, seed=7)
    blurred = Mixture(0.8 * world.topics + 0.2 * world.topics.mean(axis=0), world.law.correlations)
    for prior, truth_is_first in (("dirichlet", True), (None, False)):  # None rewards blur, as its docstring says
        true, blur = (metrics.completion_log_likelihood(m, corpus, prior).mean for m in (world.mixture, blurred))
        assert (true > blur) is truth_is_first


def test_the_holdout_score_rewards_topics_that_overfit():
    """Topics fitted to 300 documents beat the true ones on these documents, and lose on others."""
    world = worlds.authors(seed=6)
    corpus = world.sample(1500, length=20, seed=7)
    overfitted = fit_documents(corpus[:300], 20).mixture
    on_its_own = [metrics.holdout_log_likelihood(m, corpus[:300]).mean for m in (world.mixture, overfitted)]
    on_others = [
        metrics.completion_log_likelihood(m, corpus[300:], "dirichlet").mean for m in (world.mixture, overfitted)
    ]
    assert on_its_own[1] > on_its_own[0] + 0.02
    assert on_others[1] < on_others[0] - 0.1


def test_weighted_means_skip_documents_without_a_score():
    score = metrics.holdout_log_likelihood([[0.25, 0.75]], [[1, 0], [0, 0], [0, 1]], smoothing=0.0)
    assert score.weighted_mean([3, 100, 1]) == pytest.approx((3 * log(0.25) + log(0.75)) / 4)


def test_perplexity_weighs_tokens():
    mixture = Mixture([[0.5, 0.25, 0.25]], [[1.0]])
    score = metrics.holdout_log_likelihood(mixture, [[2, 0, 0], [0, 1, 0]], smoothing=0.0)
    assert metrics.perplexity(score) == pytest.approx(np.exp(-(2 * log(0.5) + log(0.25)) / 3))


def test_pair_likelihood_is_the_models():
    world = worlds.authors(seed=3)
    moments = Moments.of(world.sample(2000, seed=4))
    value = metrics.pair_log_likelihood(world.mixture, moments, smoothing=0.0)
    assert value == pytest.approx(world.mixture.log_likelihood(moments.matrix), abs=1e-5)
    words = [f"w{u}" for u in range(250)]
    named = Mixture(world.topics, world.law.correlations, words)
    unlike = Moments.of(world.sample(2000, seed=4).counts, [*words[:-1], "new"])
    assert metrics.pair_log_likelihood(named, unlike) == pytest.approx(value, abs=0.05)
    with pytest.raises(ValueError, match="no words to match"):
        metrics.pair_log_likelihood(world.mixture, Moments.of([[1, 1]]))
    with pytest.raises(ValueError, match="smoothing"):
        metrics.pair_log_likelihood(world.mixture, moments, smoothing=2)
    small = Mixture([[0.4, 0.4, 0.2], [0.1, 0.2, 0.7]], np.eye(2) / 2, list("abc"))
    with_all, with_seen = (
        metrics.pair_log_likelihood(small, Moments.of(counts, words), smoothing=0.0)
        for counts, words in (([[3, 2, 0]], list("abc")), ([[2, 3]], list("ba")))
    )
    assert with_all == pytest.approx(with_seen)


DOCUMENTS = [["a", "b", "c"], ["a", "b"], ["a", "c"], ["b"], ["d", "a"]]


def test_coherence_by_hand():
    corpus = Corpus.from_documents(DOCUMENTS)
    npmi = metrics.coherence([["a", "b"]], corpus).topics[0]
    assert npmi == pytest.approx(log((2 / 5) / (4 / 5 * 3 / 5)) / -log(2 / 5))
    u_mass = metrics.coherence([["a", "b", "c"]], corpus, "u_mass").topics[0]
    assert u_mass == pytest.approx(np.mean([log(3 / 4), log(3 / 4), log(2 / 3)]))
    assert metrics.coherence([["b", "d"]], corpus).topics[0] == -1
    assert np.isnan(metrics.coherence([["a", "unknown"], ["a", "b"]], corpus).topics[0])
    with pytest.raises(ValueError, match="same vocabulary"):
        metrics.coherence([["x", "unknown"]], corpus)
    with pytest.raises(ValueError, match="lists of words"):
        metrics.coherence(["ab"], corpus)
    with pytest.raises(ValueError, match="n_words"):
        metrics.coherence([["a", "b"]], corpus, n_words=0)
    unused = Corpus([[1, 1, 0], [1, 0, 0]], ["a", "b", "c"])
    assert metrics.coherence([["c", "a", "b"]], unused, "u_mass").topics[0] == pytest.approx(0)
    assert metrics.coherence([["a", "b"], ["b", "d"]], corpus).mean == pytest.approx((npmi - 1) / 2)


def test_coherence_from_pair_counts():
    moments = Moments.of(Corpus.from_documents(DOCUMENTS))
    mhat, p = moments.matrix.toarray(), moments.unigram
    value = metrics.coherence([["a", "b"]], moments).topics[0]
    assert value == pytest.approx(log(mhat[0, 1] / (p[0] * p[1])) / -log(mhat[0, 1]))
    with pytest.raises(ValueError, match="needs documents"):
        metrics.coherence([["a", "b"]], moments, "u_mass")


def test_sliding_windows():
    """Windows of two tokens over a b c a: ab, bc, ca. Every pair meets once in three."""
    value = metrics.coherence([["a", "b", "c"]], [["a", "b", "c", "a"]], window=2).topics[0]
    assert value == pytest.approx(log((1 / 3) / (2 / 3) ** 2) / -log(1 / 3))
    together = metrics.coherence([["a", "b"]], [["a", "b"], ["c", "d"]], "c_v").topics[0]
    apart = metrics.coherence([["a", "c"]], [["a", "b"], ["c", "d"]], "c_v").topics[0]
    assert together == pytest.approx(1)
    assert apart < together
    with pytest.raises(ValueError, match="lists of tokens"):
        metrics.coherence([["a", "b"]], ["a b c"])
    with pytest.raises(ValueError, match="token lists"):
        metrics.coherence([["a", "b"]], Corpus.from_documents(DOCUMENTS), "c_v")
    with pytest.raises(ValueError, match="there is no coherence"):
        metrics.coherence([["a", "b"]], DOCUMENTS, "c_w")


def test_true_topics_are_more_coherent_than_random_ones():
    world = worlds.authors(seed=3)
    corpus = world.sample(3000, seed=4)
    shuffled = Mixture(np.random.default_rng(0).permuted(world.topics, axis=1), world.law.correlations)
    assert metrics.coherence(world.mixture, corpus).mean > metrics.coherence(shuffled, corpus).mean + 0.1


def test_diversity_exclusivity_and_anchor_words_by_hand():
    mixture = Mixture([[0.7, 0.3, 0, 0], [0, 0.2, 0.3, 0.5]], np.eye(2) / 2, list("wxyz"))
    assert metrics.diversity(mixture, 2) == 1.0
    assert metrics.exclusivity(mixture, 1) == 1.0
    assert metrics.exclusivity(mixture, 2) == pytest.approx((1 + 0.3 / 0.5 + 1 + 1) / 4)
    assert metrics.diversity(Mixture([[0.7, 0.3, 0], [0.2, 0.3, 0.5]]), 2) == 3 / 4
    anchors = metrics.anchor_words(mixture)
    assert [(anchor.name, anchor.purity) for anchor in anchors] == [("w", 1.0), ("z", 1.0)]
    with pytest.raises(ValueError, match="n_words"):
        metrics.diversity(mixture, 0)


def test_agreement_with_labels():
    rng = np.random.default_rng(1)
    found, labels = rng.integers(0, 4, 200), rng.integers(0, 3, 200)
    expected = normalized_mutual_info_score(labels, found, average_method="geometric")
    assert metrics.normalised_mutual_information(found, labels) == pytest.approx(expected)
    assert metrics.purity(labels, labels) == 1
    assert metrics.purity(np.eye(3)[labels], labels) == 1
    with pytest.raises(ValueError, match="one label"):
        metrics.purity([0, 1], ["a"])
