"""Shares over time and groups: unbiased, with honest intervals; drifts are found, and noise is not."""

import numpy as np
import pytest
from effects.drifts import drawn, drifting, overlapping_topics, words_of
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from fdmix import Corpus, Mixture, Moments
from fdmix.cells import MomentsByGroup
from fdmix.effects import compare, over, word_changes
from fdmix.effects.margins import Margin, WordMatch
from fdmix.effects.share_fit import ShareFit


def estimate(mixture, moments):
    words = WordMatch.of(mixture, moments.vocabulary, moments.n_words)
    return ShareFit(words.topics, mixture.shares).fit(Margin.of(moments, words))


def test_shares_maximise_the_likelihood_of_the_word_margin():
    rng = np.random.default_rng(0)
    topics = overlapping_topics(rng, 4, 30)
    mixture = Mixture(topics)
    moments = Moments.of(drawn(rng, topics, np.array([0.5, 0.3, 0.2, 0.0]), 200), folds=5)
    found = estimate(mixture, moments).shares

    def loss(x):
        s = np.exp(x - x.max())
        return -moments.unigram @ np.log((s / s.sum()) @ topics)

    best = min((minimize(loss, start, tol=1e-12) for start in rng.normal(size=(3, 4))), key=lambda each: each.fun)
    assert loss(np.log(found + 1e-12)) <= best.fun + 1e-5
    assert_allclose(found.sum(), 1)
    assert found.min() >= 0


@pytest.mark.parametrize("seed", range(10))
def test_shares_are_the_most_likely_ones_where_topics_do_not_fit(seed):
    """Much text that no topic has: steps of Fisher scoring that are not shortened jump back and forth for ever."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(200, 0.03), size=20)
    foreign = rng.dirichlet(np.full(200, 0.03), size=2).mean(axis=0)
    margin = 0.5 * rng.dirichlet(np.full(20, 0.1)) @ topics + 0.5 * foreign
    shares = ShareFit(topics, np.full(20, 0.05)).fit(Margin(margin, np.tile(margin / 4, (4, 1)), 1.0)).shares
    slopes = topics @ (margin / (shares @ topics))  # of L: at its maximum none is above 1
    assert slopes.max() < 1 + 1e-5


def test_exact_margins_give_exact_shares_and_no_error():
    topics = overlapping_topics(np.random.default_rng(1), 5, 40)
    shares = np.array([0.4, 0.3, 0.2, 0.1, 0.0])
    exact = Margin(shares @ topics, np.tile(shares @ topics / 4, (4, 1)), 1.0)
    found = ShareFit(topics, np.full(5, 0.2)).fit(exact)
    assert_allclose(found.shares, shares, atol=1e-4)
    assert_allclose(found.estimates, shares, atol=1e-4)
    assert_allclose(found.errors, 0, atol=1e-9)


def test_sparse_and_dense_topics_give_the_same_shares():
    rng = np.random.default_rng(2)
    topics = rng.dirichlet(np.full(60, 0.02), size=6)
    topics = np.where(topics > 0.02, topics, 0)
    topics /= topics.sum(axis=1, keepdims=True)
    moments = Moments.of(drawn(rng, topics, np.full(6, 1 / 6), 100), folds=4)
    words = WordMatch.of(Mixture(topics), None, 60)
    margin = Margin.of(moments, words)
    sparse, dense = (ShareFit(words.topics, np.full(6, 1 / 6)) for _ in range(2))
    dense.topics = words.topics
    assert not isinstance(sparse.topics, np.ndarray)
    assert_allclose(sparse.fit(margin).estimates, dense.fit(margin).estimates, atol=1e-4)


def test_a_drift_is_found_with_its_gaps():
    world = drifting(seed=3, n=300)
    dates = np.array(world.corpus.documents["date"])
    corpus = world.corpus[~np.char.startswith(dates, "2020-03")]
    found = over(world.mixture, MomentsByGroup.of(corpus, "month(date)"))
    assert [key[0] for key in found.keys] == world.months
    assert found.documents.tolist() == [300, 300, 0, 300, 300, 300]
    assert np.isnan(found.shares[2]).all()
    rows = [0, 1, 3, 4, 5]
    assert np.abs(found.shares[rows] - world.shares[rows]).max() < 0.06
    assert_allclose(found.shares[rows].sum(axis=1), 1)
    assert ((found.low <= found.shares) & (found.shares <= found.high))[rows].all()
    table = found.columns()
    assert len(table["share"]) == 6 * 8
    assert table["share"][2 * 8] is None
    trends = found.trends()
    assert trends["slope"][0] == pytest.approx(0.03, abs=0.01)
    assert trends["slope"][1] == pytest.approx(-0.03, abs=0.01)
    assert (trends["q"][:2] < 0.01).all()
    assert (trends["low"][:2] < [0.03, -0.03]).all()


def test_compare_finds_the_topics_that_differ():
    world = drifting(seed=4, n=400, n_months=2, slope=0.1)
    cells = MomentsByGroup.of(world.corpus, "month(date)")
    differences = compare(world.mixture, cells["2020-01"], cells["2020-02"])
    assert (differences.q[:2] < 0.01).all()
    assert differences.low[0] < 0.1 < differences.high[0]
    assert differences.low[1] < -0.1 < differences.high[1]
    same = compare(world.mixture, cells.select(date="2020-01"), cells.select(date="2020-02"))
    assert_allclose(same.differences, differences.differences)


def test_words_of_the_moments_are_matched_by_name_and_unknown_ones_left_out():
    world = drifting(seed=5, n=100)
    counts = np.hstack([world.corpus.counts.toarray()[:, ::-1], np.ones((len(world.corpus), 1), int)])
    other = Corpus(counts, (*world.corpus.vocabulary[::-1], "unknown"), world.corpus.documents)
    a = over(world.mixture, MomentsByGroup.of(world.corpus, "month(date)"))
    b = over(world.mixture, MomentsByGroup.of(other, "month(date)"))
    assert_allclose(a.shares, b.shares, atol=0.02)  # a longer document has a little more weight
    assert (b.known < 1).all()


def test_what_cannot_be_answered_is_refused_in_words():
    world = drifting(n=20)
    cells = MomentsByGroup.of(world.corpus, "month(date)", folds=0)
    with pytest.raises(ValueError, match="keep no folds"):
        over(world.mixture, cells)
    cells = MomentsByGroup.of(world.corpus, "month(date)", folds=3)
    with pytest.raises(ValueError, match="level of intervals"):
        over(world.mixture, cells, level=90)
    other = Mixture(world.mixture.topics, vocabulary=[f"x{u}" for u in range(world.mixture.n_words)])
    with pytest.raises(ValueError, match="knows none of the words"):
        over(other, cells)
    with pytest.raises(ValueError, match="trend needs cells by one calendar"):
        over(world.mixture, MomentsByGroup.of(world.corpus, "date", folds=3)).trends()
    with pytest.raises(ValueError, match="no names to match"):
        over(Mixture([[0.5, 0.5]]), cells)


def test_a_cell_with_one_document_has_an_error_bar_from_the_others():
    world = drifting(seed=6, n=100)
    corpus = world.corpus[: 5 * 100 + 1]
    found = over(world.mixture, MomentsByGroup.of(corpus, "month(date)"))
    assert found.documents[-1] == 1
    assert (found.errors[-1] > 2 * found.errors[0]).all()
    assert ((found.low[-1] <= world.shares[-1]) & (world.shares[-1] <= found.high[-1])).mean() > 0.5


def test_cells_too_small_to_test_any_word_report_none():
    """Of one cell and of all: both were errors of SciPy, which has no array for no entries."""
    world = drifting(seed=6, n=100)
    one_small = MomentsByGroup.of(world.corpus[: 5 * 100 + 1], "month(date)")
    assert "2020-06" not in word_changes(world.mixture, one_small).cells["month(date)"]
    all_small = word_changes(world.mixture, MomentsByGroup.of(world.corpus[[0, 100, 200, 300]], "month(date)"))
    assert len(all_small.cells["word"]) == len(all_small.trend["word"]) == 0


def test_words_that_rise_within_a_topic_are_found_and_others_are_not():
    rng = np.random.default_rng(7)
    topics = overlapping_topics(rng)
    swapped = topics.copy()
    rising, falling = np.argsort(-topics[2] * (topics.argmax(axis=0) == 2))[:2]
    swapped[2, [rising, falling]] = 2.5 * topics[2, rising], topics[2, falling] - 1.5 * topics[2, rising]
    swapped[2] = np.maximum(swapped[2], 0) / np.maximum(swapped[2], 0).sum()
    shares, n = np.full(8, 1 / 8), 1_000
    counts = np.vstack([drawn(rng, each, shares, n) for each in (topics, topics, swapped, swapped)])
    dates = np.repeat(["2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01"], n)
    corpus = Corpus(counts, words_of(topics), {"date": dates})
    mixture = Mixture((topics + swapped) / 2, vocabulary=words_of(topics))
    changes = word_changes(mixture, MomentsByGroup.of(corpus, "month(date)"))
    trend = list(zip(changes.trend["topic"], changes.trend["word"], np.sign(changes.trend["z"]), strict=True))
    assert (2, f"w{rising:03}", 1) in trend
    assert (2, f"w{falling:03}", -1) in trend
    assert changes.trend["change"][trend.index((2, f"w{rising:03}", 1))] > 1.5
    assert sum(topic != 2 for topic, _, _ in trend) <= 2
    assert (2, f"w{rising:03}") in set(zip(changes.cells["topic"], changes.cells["word"], strict=True))


@pytest.mark.slow
def test_a_world_without_change_has_few_reports():
    reported = 0
    for seed in range(6):
        world = drifting(seed=20 + seed, slope=0.0, n=200)
        cells = MomentsByGroup.of(world.corpus, "month(date)")
        found = over(world.mixture, cells)
        reported += int((found.trends()["q"] < 0.05).sum() > 0)
        changes = word_changes(world.mixture, cells, found)
        reported += int(len(changes.trend["word"]) > 0) + int(len(changes.cells["word"]) > 0)
    assert reported <= 4  # of 18 tables


@pytest.mark.slow
@pytest.mark.parametrize(("n", "length"), [(60, 30), (250, 10)])
def test_intervals_are_honest(n, length):
    """Nominal 90 %: between 85 and 95 % of the intervals hold the truth, for shares, slopes and differences."""
    inside, slopes, differences = [], [], []
    for seed in range(25):
        world = drifting(seed=seed, n_months=6, n=n, length=length)
        cells = MomentsByGroup.of(world.corpus, "month(date)")
        found = over(world.mixture, cells, level=0.9)
        inside.append((found.low <= world.shares) & (world.shares <= found.high))
        truth = np.zeros(8)
        truth[:2] = 0.03, -0.03
        trends = found.trends()
        slopes.append((trends["low"] <= truth) & (truth <= trends["high"]))
        pair = compare(world.mixture, cells["2020-01"], cells["2020-06"], level=0.9)
        gap = world.shares[5] - world.shares[0]
        differences.append((pair.low <= gap) & (gap <= pair.high))
    assert 0.85 <= np.mean(inside) <= 0.95
    assert 0.85 <= np.mean(slopes) <= 0.95
    assert 0.85 <= np.mean(differences) <= 0.95
