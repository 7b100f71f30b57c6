"""The number of topics: found where it is known, refused in noise, the same for the same seed."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest

from fdmix import Moments, choose_n_topics, worlds
from fdmix.choice import Choice, numbers_of_topics
from fdmix.choice.fold_path import fold_path


def noise(n_words=300):
    """A world of one topic: documents are draws from the unigram."""
    return worlds.World(worlds.zipf_base(n_words)[None], 1.0)


PAIRS_OF_TOPICS = np.kron(np.eye(6), np.ones((2, 2)))  # theta of the two topics of a pair goes together
CORRELATED = worlds.World(
    worlds.dirichlet_topics(12, 40 * worlds.zipf_base(500), 77),
    worlds.LogisticNormal(np.zeros(12), 2.5 * np.eye(12) + 1.5 * PAIRS_OF_TOPICS),
)
UNEQUAL = worlds.World(
    worlds.dirichlet_topics(7, 60 * worlds.zipf_base(600), 88), np.array([0.6, 0.4, 0.3, 0.2, 0.15, 0.1, 0.08])
)


def test_a_known_number_of_topics_is_found():
    corpus = worlds.zipf(6, 200).sample(2000, seed=1)
    choice = choose_n_topics(Moments.of(corpus, folds=5), [2, 4, 6, 8, 12])
    assert choice.n_topics == 6
    assert choice.has_topics
    assert choice.verdict.startswith("Take 6 topics")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "length"),
    [
        (worlds.authors(), 30),
        (worlds.zipf(20, 600), 30),
        (worlds.zipf(20, 600), worlds.geometric_lengths(4000, 30)),
        (worlds.zipf(20, 600), worlds.geometric_lengths(4000, 8)),
    ],
    ids=["authors", "zipf", "unequal lengths", "short documents"],
)
def test_twenty_topics_are_found_in_worlds_of_different_kinds(world, length):
    choice = choose_n_topics(world.sample(4000, length=length, seed=1), [5, 10, 15, 18, 20, 22, 25, 30, 40])
    assert choice.n_topics == 20
    assert set(choice.others) == {"completion", "coherence", "exclusivity", "stability"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "documents", "length", "numbers"),
    [
        (CORRELATED, 6000, worlds.geometric_lengths(6000, 30, 5), [4, 8, 10, 12, 14, 16, 24]),
        (UNEQUAL, 5000, 50, [3, 5, 6, 7, 8, 10, 14]),
        (worlds.zipf(30, 1500, seed=99), 15_000, 12, [10, 20, 25, 30, 36, 45]),
    ],
    ids=["12 correlated topics", "7 topics of unequal shares", "30 topics of short documents"],
)
def test_the_number_is_found_in_worlds_drawn_after_the_rule_was_fixed(world, documents, length, numbers):
    choice = choose_n_topics(Moments.of(world.sample(documents, length, 6), folds=5), numbers)
    assert choice.n_topics == len(world.topics)


def test_noise_has_no_topics():
    choice = choose_n_topics(Moments.of(noise().sample(1500, seed=2), folds=5), [2, 4, 8])
    assert choice.n_topics == 1
    assert not choice.has_topics
    assert choice.verdict.startswith("There are no topics")


@pytest.mark.slow
def test_noise_has_no_topics_in_any_of_ten_draws():
    lengths = worlds.geometric_lengths(1000, 20)
    found = [choose_n_topics(noise(200).sample(1000, lengths, seed=s), [2, 3, 6], folds=5) for s in range(10)]
    assert [choice.n_topics for choice in found] == [1] * 10


@pytest.mark.slow
def test_merging_is_hardly_worse_than_fits_from_scratch():
    moments = Moments.of(worlds.zipf(12, 300).sample(3000, seed=1), folds=5)
    learned = moments.without_fold(0)
    numbers = (1, 4, 8, 12, 18, 24)  # with 1, the range of the scores is the gain over word frequencies
    warm = [fit.score for fit in fold_path(learned, moments.folds[0], numbers)]
    cold = [fit.score for fit in fold_path(learned, moments.folds[0], numbers, cold=True)]
    assert (np.array(cold) - warm).max() < 0.05 * np.ptp(cold)


def test_the_left_out_fold_is_not_looked_at():
    a = Moments.of(worlds.zipf(4, 60).sample(400, seed=1), folds=3)
    b = Moments.of(worlds.zipf(4, 60).sample(400, seed=2), folds=3)
    learned = a.without_fold(0)
    one, other = ([fit.mixture.topics for fit in fold_path(learned, m.folds[0], (3, 5))] for m in (a, b))
    assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


def test_the_same_seed_gives_the_same_bits():
    corpus = worlds.intervals().sample(600, length=15, seed=3)
    one, other = (choose_n_topics(corpus, "2..5", folds=3, seed=4, n_threads=n) for n in (1, 2))
    assert one.scores.keys() == other.scores.keys()
    assert all(np.array_equal(one.scores[name], other.scores[name], equal_nan=True) for name in one.scores)


def test_the_smallest_number_within_a_standard_error_is_chosen():
    gains = np.array([[0, 1.0, 1.95, 2.0], [0, 1.0, 2.05, 2.2]])  # means 0, 1, 2.0, 2.1; the best has error 0.1
    choice = Choice((1, 5, 10, 20), {"pairs": gains - 9}, "pairs", 100)
    assert choice.standard_errors()[-1] == pytest.approx(0.1)
    assert (choice.n_topics, choice.best()) == (10, 20)
    assert "within one standard error" in choice.verdict


def test_the_largest_number_tried_is_remarked_on():
    scores = np.array([[0, 1.0, 2.0], [0, 1.01, 2.01]])
    assert "try larger ones" in Choice((1, 5, 10), {"pairs": scores}, "pairs", 100).verdict


def test_tables(tmp_path):
    scores = {"pairs": np.array([[0, 1.0], [0, 1.1]]), "coherence": np.array([[np.nan, 0.1], [np.nan, 0.3]])}
    choice = Choice((1, 5), scores, "pairs", 100)
    choice.save(tmp_path / "t.csv")
    choice.save(tmp_path / "t.parquet")
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["chosen"] for row in rows] == ["False", "True"]
    assert [row["coherence"] for row in rows] == ["", "0.2"]
    assert pq.read_table(tmp_path / "t.parquet").to_pydict() == choice.columns()
    with pytest.raises(ValueError, match=r"\.csv, \.parquet or \.json"):
        choice.save(tmp_path / "t.xlsx")


def test_ranges_have_equal_ratios():
    assert numbers_of_topics("10..300")[0] == 10
    assert numbers_of_topics("10..300")[-1] == 300
    assert len(numbers_of_topics("10..300")) == 12
    assert numbers_of_topics([20, 5, 5]) == (5, 20)


@pytest.mark.parametrize("given", ["", "ten", "300..10", "1", "0..5", "1...5", "-3", [0, 5], [2.5]])
def test_bad_numbers_are_refused(given):
    with pytest.raises((ValueError, TypeError), match="topics"):
        numbers_of_topics(given)


def test_bad_input_is_refused_in_words():
    corpus = worlds.intervals().sample(300, length=10)
    with pytest.raises(ValueError, match="keep no folds"):
        choose_n_topics(Moments.of(corpus), [2, 3])
    with pytest.raises(ValueError, match="use fewer folds"):
        choose_n_topics(corpus, [2, 3], folds=100)
    with pytest.raises(ValueError, match="at least 3 folds"):
        choose_n_topics(Moments.of(corpus, folds=2), [2, 3])
    with pytest.raises(ValueError, match="more than the 100 words"):
        choose_n_topics(corpus, [2, 300], folds=3)
    with pytest.raises(ValueError, match="none can be completed"):
        choose_n_topics(Moments.of(corpus, folds=3), [2], criterion="completion")
    with pytest.raises(ValueError, match="there is no criterion"):
        choose_n_topics(corpus, [2], criterion="elbow")
    with pytest.raises(TypeError, match="read_corpus"):
        choose_n_topics("reviews.csv", [2])
