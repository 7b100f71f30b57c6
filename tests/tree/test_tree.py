"""Trees of topics: against brute force, and what every cut must be."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.tree import Tree, growing


def merged(mixture, s, t):
    """The mixture with topic t merged into topic s, written down from the definition."""
    p = mixture.shares
    topics, alpha = mixture.topics.copy(), mixture.correlations.copy()
    topics[s] = (p[s] * topics[s] + p[t] * topics[t]) / (p[s] + p[t])
    alpha[s] += alpha[t]
    alpha[:, s] += alpha[:, t]
    return Mixture(np.delete(topics, t, axis=0), np.delete(np.delete(alpha, t, axis=0), t, axis=1))


def brute_force(mixture, mhat):
    """Groups of topics after each step that tries every merge by its full likelihood, and what each step costs."""
    groups, before = [[t] for t in range(mixture.n_topics)], mixture.log_likelihood(mhat)
    found, costs = [sorted(groups)], []
    while len(groups) > 1:
        tried = [(merged(mixture, s, t).log_likelihood(mhat), s, t) for s, t in combinations(range(len(groups)), 2)]
        after, s, t = max(tried)
        mixture = merged(mixture, s, t)
        groups[s] = sorted(groups[s] + groups.pop(t))
        found.append(sorted(groups))
        costs.append(before - after)
        before = after
    return found, costs


def small_problem(seed, n_topics=6):
    world = worlds.zipf(n_topics, 60, seed=seed)
    moments = Moments.of(world.sample(400, 20, seed), [f"w{u}" for u in range(60)])
    topics = 0.9 * world.topics + 0.1 / 60  # every pair has a chance
    shares = np.random.default_rng(seed).dirichlet(np.full(n_topics, 2.0))
    alpha = 0.5 * np.diag(shares) + 0.5 * np.outer(shares, shares)
    return Mixture(topics, alpha, moments.vocabulary), moments


@pytest.mark.parametrize("seed", range(5))
def test_merges_and_costs_are_those_of_brute_force(seed):
    mixture, moments = small_problem(seed)
    tree = mixture.tree(moments)
    groups, costs = brute_force(mixture, moments.matrix)
    assert [tree.groups(n) for n in range(6, 0, -1)] == groups
    np.testing.assert_allclose(tree.costs, costs, rtol=1e-3, atol=2e-7)
    assert not tree.is_sampled


@pytest.mark.parametrize("seed", range(3))
def test_costs_add_up_to_the_loss_of_each_cut(seed):
    mixture, moments = small_problem(seed, n_topics=9)
    tree, whole = mixture.tree(moments), mixture.log_likelihood(moments.matrix)
    for n in range(1, 10):
        assert tree.loss(n) == pytest.approx(whole - tree.cut(n).log_likelihood(moments.matrix), rel=1e-3, abs=1e-6)


def test_every_cut_is_a_mixture_in_closed_form():
    mixture, moments = small_problem(0)
    mixture = replace(mixture, prior=np.arange(1.0, 7), labels={t: f"label {t}" for t in range(6)})
    tree = mixture.tree(moments)
    for n in range(1, 7):
        cut, groups = tree.cut(n), tree.groups(n)
        assert cut.n_topics == n
        assert sorted(t for group in groups for t in group) == list(range(6))
        np.testing.assert_allclose(cut.shares, [mixture.shares[group].sum() for group in groups])
        np.testing.assert_allclose(cut.shares @ cut.topics, mixture.shares @ mixture.topics)
        np.testing.assert_allclose(cut.prior, [mixture.prior[group].sum() for group in groups])
        assert cut.labels == {k: f"label {group[0]}" for k, group in enumerate(groups) if len(group) == 1}
        assert cut.vocabulary == mixture.vocabulary
    assert tree.cut(6) is mixture


def test_copies_of_a_topic_merge_first_and_cost_nothing():
    mixture, moments = small_problem(1)
    topics = np.vstack([mixture.topics, mixture.topics[2]])
    half = np.eye(6)[[0, 1, 2, 3, 4, 5, 2]] * np.array([1, 1, 0.5, 1, 1, 1, 0.5])[:, None]
    split = Mixture(topics, half @ mixture.correlations @ half.T, moments.vocabulary)
    tree = split.tree(moments)
    assert tree.merges[0].tolist() == [2, 6]
    assert tree.costs[0] == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(tree.cut(6).pair_matrix(), mixture.pair_matrix(), rtol=1e-9)


def test_the_leaves_of_each_group_are_neighbours_in_the_order():
    mixture, moments = small_problem(3, n_topics=12)
    tree = mixture.tree(moments)
    place = np.argsort(tree.leaf_order())
    for n in range(1, 13):
        for group in tree.groups(n):
            assert np.ptp(place[group]) == len(group) - 1


def grouped_problem():
    """Forty topics in eight groups whose members share words, and the groups."""
    rng = np.random.default_rng(0)
    common = np.repeat(rng.dirichlet(np.full(300, 0.05), 8), 5, axis=0)
    world = worlds.World(0.6 * common + 0.3 * rng.dirichlet(np.full(300, 0.05), 40) + 0.1 / 300, 0.05)
    moments = Moments.of(world.sample(3000, 30, 0))
    return world.mixture, moments, [list(range(begin, begin + 5)) for begin in range(0, 40, 5)]


def test_the_limited_search_is_near_the_exhaustive_one(monkeypatch):
    """Both find the groups, and lose about the same."""
    mixture, moments, groups = grouped_problem()
    monkeypatch.setattr(growing, "EXHAUSTIVE_WORK", 1e12)
    exhaustive = mixture.tree(moments)
    monkeypatch.setattr(growing, "EXHAUSTIVE_WORK", 0)
    monkeypatch.setattr(growing, "SEARCH_WORK", 5e7)
    limited = mixture.tree(moments)
    assert exhaustive.groups(8) == limited.groups(8) == groups
    for n in (30, 20, 8, 3):
        assert limited.loss(n) <= exhaustive.loss(n) + 0.01 * exhaustive.loss(1)


def test_costs_of_a_sample_agree_with_all_pairs():
    mixture, moments, groups = grouped_problem()
    exact, sampled = mixture.tree(moments), mixture.tree(moments, max_pairs=moments.n_pairs // 2)
    assert sampled.is_sampled
    assert not exact.is_sampled
    assert sampled.groups(8) == groups
    assert sampled.loss(1) == pytest.approx(exact.loss(1), rel=0.05)


def test_the_number_of_threads_changes_no_bit():
    mixture, moments = small_problem(2, n_topics=12)
    one, two = mixture.tree(moments, n_threads=1), mixture.tree(moments, n_threads=2)
    assert (one.merges == two.merges).all()
    assert (one.costs == two.costs).all()


def test_words_are_matched_by_name():
    mixture, moments = small_problem(0)
    order = np.random.default_rng(0).permutation(60)
    other = Mixture(mixture.topics[:, order], mixture.correlations, [moments.vocabulary[u] for u in order])
    np.testing.assert_allclose(other.tree(moments).costs, mixture.tree(moments).costs, rtol=1e-3, atol=1e-6)


def test_a_topic_without_share_and_pairs_without_a_chance():
    """A topic that never occurs merges for nothing; pairs that the model excludes change no cost to infinity."""
    topics = [[0.5, 0.5, 0, 0], [0.4, 0.6, 0, 0], [0, 0.1, 0.9, 0]]
    alpha = [[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0]]
    moments = Moments.of(np.array([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2]]))
    tree = Mixture(topics, alpha).tree(moments)
    assert np.isfinite(tree.costs).all()
    assert tree.cut(1).n_topics == 1


def test_one_topic_is_a_tree_without_merges():
    moments = Moments.of(np.array([[2, 1], [1, 2]]))
    tree = Mixture([[0.5, 0.5]]).tree(moments)
    assert tree.costs.size == 0
    assert tree.groups(1) == [[0]]


@pytest.mark.parametrize("n", [0, -1, 7, 2.5])
def test_a_cut_that_is_not_there_is_refused(n):
    mixture, moments = small_problem(0)
    with pytest.raises(ValueError, match="topics"):
        mixture.tree(moments).cut(n)


def test_moments_of_other_words_are_refused():
    mixture, moments = small_problem(0)
    with pytest.raises(ValueError, match="counted from another text"):
        mixture.tree(moments.named([f"x{u}" for u in range(60)]))
    with pytest.raises(ValueError, match="without names"):
        Mixture([[0.5, 0.5]]).tree(moments)


def test_a_tree_of_a_fit():
    moments = Moments.of(worlds.intervals().sample(2000, seed=0))
    solution = fit_mixture(moments, 5)
    tree = solution.mixture.tree(moments)
    assert isinstance(tree, Tree)
    assert (tree.costs > -1e-4).all()
