"""What the report says: quality, warnings, word pairs, groups, comparisons, the story of the fit."""

import datetime
from dataclasses import replace

import numpy as np
import pytest
from examples import small_model, texts

from fdmix import Mixture, Moments, fit_documents, fit_mixture, metrics, read_corpus, worlds
from fdmix.corpus.preparation import Cleaning
from fdmix.mixture.labels import topics_digest
from fdmix.mixture.placement import hellinger_distances
from fdmix.mixture.reliability import Reliability
from fdmix.report import gathering
from fdmix.report.comparison import compared
from fdmix.report.gathering import cleaning_in_words, gathered
from fdmix.report.groups import GroupShares
from fdmix.report.quality import quality_of, remarks_on
from fdmix.report.word_pairs import word_pairs


def titles(mixture, n_documents=100_000, moments=None):
    quality = quality_of(mixture, moments)
    return {
        remark.title: remark
        for remark in remarks_on(mixture, hellinger_distances(mixture.topics), quality, n_documents)
    }


def separate_topics(n=8, words=10):
    topics = np.kron(np.eye(n), np.full((1, words), 1 / words))
    return topics, [f"w{u}" for u in range(n * words)]


def test_good_topics_have_no_remark():
    topics, words = separate_topics()
    assert titles(Mixture(topics, vocabulary=words)) == {}


def test_near_copies_are_named():
    topics, words = separate_topics()
    topics[3] = 0.9 * topics[5] + 0.1 * topics[3]
    remark = titles(Mixture(topics, vocabulary=words))["Topics that are nearly the same"]
    assert remark.topics == [[3, 5]]


def test_a_topic_of_everything_is_named():
    topics, words = separate_topics()
    topics[2] = 1 / topics.shape[1]
    assert titles(Mixture(topics, vocabulary=words))["Topics without a subject"].topics == [[2]]


def test_a_topic_of_one_word_is_named():
    topics, words = separate_topics()
    topics[4] = 0.3 * topics[4]
    topics[4, 40] += 0.7
    assert titles(Mixture(topics, vocabulary=words))["Topics made of one word"].topics == [[4]]


def test_words_that_dominate_are_named():
    topics, words = separate_topics()
    topics = 0.8 * topics
    topics[:, 7] += 0.2
    assert titles(Mixture(topics, vocabulary=words))["Words that are on top everywhere"].words == [7]


def test_few_documents_and_tiny_topics_are_named():
    topics, words = separate_topics()
    assert "Few documents" in titles(Mixture(topics, vocabulary=words), n_documents=100)
    shares = np.array([1e-6, *[1.0] * 7])
    small = Mixture(topics, np.diag(shares / shares.sum()), words)
    assert titles(small, n_documents=1_000)["Very small topics"].topics == [[0]]
    assert titles(small, n_documents=None) == {}


def test_incoherent_topics_are_named():
    """A topic that joins words of two subjects, which never occur together."""
    mixture, moments, _, _ = small_model()
    place = mixture.vocabulary.index
    topics = np.zeros_like(mixture.topics)
    topics[0, [place(word) for word in ("cat", "loan", "dog", "bond", "cow", "fund")]] = 1 / 6
    topics[1:] = mixture.topics[1:]
    mixed = Mixture(topics, vocabulary=mixture.vocabulary)
    assert [0] in titles(mixed, moments=moments)["Topics whose words do not belong together"].topics


def test_quality_agrees_with_the_metrics():
    mixture, moments, _, _ = small_model()
    quality = quality_of(mixture, moments)
    assert np.allclose(quality.coherence, metrics.coherence(mixture, moments).topics)
    assert quality.exclusivity.mean() == pytest.approx(metrics.exclusivity(mixture))
    assert quality.diversity == metrics.diversity(mixture)
    apart, words = separate_topics()
    sharp = quality_of(Mixture(apart, np.eye(8) / 8, words), None)
    assert sharp.best_topic == pytest.approx(1)
    assert sharp.effective_topics == pytest.approx(8)
    assert sharp.topics_a_document == pytest.approx(1)
    assert np.isnan(sharp.coherence).all()


def test_a_planted_pair_is_not_explained():
    """Two words that always stand together, in all subjects: no topic can say that."""
    written, _ = texts()
    rng = np.random.default_rng(1)
    planted = [f"{text} Monte Carlo" if rng.random() < 0.1 else text for text in written]
    moments = Moments.of(read_corpus(planted, stop_words="english", add_stop_words=["text"]))
    mixture = fit_mixture(moments, 4).mixture
    pairs = word_pairs(mixture, moments)
    first = pairs.unexplained[0]
    assert {mixture.vocabulary[pairs.first[first]], mixture.vocabulary[pairs.second[first]]} == {"carlo", "monte"}
    assert pairs.ratio[first] > 3
    u, v = pairs.first[first], pairs.second[first]
    model = mixture.pair_matrix()[u, v]
    assert pairs.ratio[first] == pytest.approx(moments.matrix[u, v] / model)
    assert pairs.lift[first] == pytest.approx(moments.matrix[u, v] / (moments.unigram[u] * moments.unigram[v]))
    assert (pairs.first < pairs.second).all()


def test_pairs_are_matched_by_word():
    mixture, moments, _, _ = small_model()
    turned = moments.restrict(moments.vocabulary[::-1])
    same, other = word_pairs(mixture, moments), word_pairs(mixture, turned)
    assert np.allclose(same.seen, other.seen)
    assert np.allclose(same.ratio, other.ratio)
    part = word_pairs(mixture, moments.restrict(moments.vocabulary[5:]))
    assert part.n_unknown == 5
    with pytest.raises(ValueError, match="another text"):
        word_pairs(mixture, Moments.of([[1, 1]], ["these", "words"]))
    with pytest.raises(ValueError, match="without names"):
        word_pairs(Mixture([[0.5, 0.5]]), moments)


def test_all_entries_are_kept_or_the_important_ones(monkeypatch):
    mixture, _, _, _ = small_model()
    facts, arrays = gathered(mixture, "title")
    assert facts["keptProbability"] == pytest.approx(1)
    assert arrays["probabilities"].size == (mixture.topics > 0).sum()
    monkeypatch.setattr(gathering, "MAX_ENTRIES", 60)
    monkeypatch.setattr(gathering, "ALWAYS_KEPT", 5)
    facts, arrays = gathered(mixture, "title")
    assert arrays["probabilities"].size == 60
    assert 0.5 < facts["keptProbability"] < 1


def test_the_fit_tells_its_story():
    moments = Moments.of(worlds.intervals().sample(2_000, length=20))
    solution = fit_mixture(moments, 3)
    story = solution.mixture.provenance["fit"]
    assert story["reason"] == solution.reason
    assert story["passes"] == len(solution.log_likelihoods) - 1
    assert story["curve"][-1] == [story["passes"], pytest.approx(solution.log_likelihoods[-1], rel=1e-6)]
    short = fit_mixture(moments, 3, max_passes=2, tolerance=0).mixture.provenance["fit"]
    assert not short["converged"]
    long = fit_mixture(moments, 3, max_passes=700, tolerance=0, sparsity=0).mixture.provenance["fit"]
    assert len(long["curve"]) <= 301
    refined = fit_documents(worlds.intervals().sample(2_000, length=20), 3)
    assert refined.mixture.provenance["fit"]["reason"] == refined.reason


@pytest.mark.parametrize(
    "provenance",
    [
        {"fit": 3},
        {"fit": {"curve": "x", "passes": "many", "reason": 5}},
        {"fit": {"curve": [[1], [1, "a"], [1, 2.0], [float("nan"), 1]]}},
        {"moments": "none", "seed": "x"},
        {"moments": {"documents": -1, "tokens": 1.5}},
    ],
)
def test_strange_provenance_is_left_out(provenance):
    facts, _ = gathered(Mixture([[0.5, 0.5]], provenance=provenance), "title")
    assert facts["source"]["documents"] is None


def test_cleaning_in_words():
    said = cleaning_in_words(Cleaning(stem="english", stop_words=("a", "b"), max_words=1_000, max_share=0.3))
    assert "the 1,000 most frequent words" in said
    assert "left out: 2 words of your own" in said
    assert "words in at most 30% of the documents" in said
    assert any("stemmed (english)" in text for text in said)
    assert cleaning_in_words(Cleaning(stop_words=None))


def test_groups_are_means_with_standard_errors():
    theta = np.random.default_rng(0).dirichlet([1, 2], 90)
    values = ["b", "a", None] * 30
    groups = GroupShares(2)
    groups.add(theta[:40], values[:40])
    groups.add(theta[40:], values[40:])
    facts = groups.facts("section")
    assert facts["names"] == ["a", "b"]
    assert facts["documents"] == [30, 30]
    own = theta[1::3]
    assert facts["shares"][0] == pytest.approx(own.mean(axis=0), rel=1e-3)
    assert facts["errors"][0] == pytest.approx(own.std(axis=0, ddof=1) / np.sqrt(30), rel=0.05)
    assert not facts["ordered"]
    assert GroupShares(2).facts("section") is None


def test_years_and_dates_are_ordered():
    for values, names in (
        ([2021, 2019, 2020], ["2019", "2020", "2021"]),
        ([10, 9, 100], ["9", "10", "100"]),
        ([datetime.date(2020, 3, 5), datetime.date(2019, 12, 1), None], ["2019-12", "2020-03"]),
        (["2020-05", "2019-01", "2021-01"], ["2019-01", "2020-05", "2021-01"]),
    ):
        groups = GroupShares(1)
        groups.add(np.ones((3, 1)), values)
        assert groups.facts("date")["names"] == names
        assert groups.facts("date")["ordered"]


def test_comparing_a_model_with_itself_and_with_less():
    topics, words = separate_topics()
    whole = Mixture(topics, vocabulary=words)
    same = compared(whole, Mixture(topics[::-1], vocabulary=words), "a", "b")
    assert same["mean"] == 0
    assert {(mine, theirs) for mine, theirs, _ in same["pairs"]} == {(t, 7 - t) for t in range(8)}
    fewer = Mixture(topics[:3, :30], vocabulary=words[:30])
    part = compared(whole, fewer, "a", "b")
    assert [pair[:2] for pair in part["pairs"]] == [[0, 0], [1, 1], [2, 2]]
    assert [topic for topic, _, _ in part["onlyLeft"]] == [3, 4, 5, 6, 7]
    assert all(distance == 2 for _, _, distance in part["onlyLeft"])
    assert part["onlyRight"] == []
    assert part["sharedWords"] == 30
    assert part["mean"] == 0


def test_topics_that_do_not_come_back_are_named():
    topics, names = separate_topics()
    mixture = Mixture(topics, vocabulary=names)
    n, width = mixture.n_topics, 3
    sure = Reliability(
        returned=np.where(np.arange(n) == 2, 0.2, 1.0), moved=np.full(n, 0.1), shares=np.full((n, 2), 0.1),
        correlations=np.full((2, n, n), 0.1), words=np.zeros((n, width), int),
        probabilities=np.zeros((n, width, 2)), kept=np.ones((n, width)), level=0.9, n_refits=20, n_folds=16,
        distance=0.5, digest=topics_digest(mixture.topics),
    )  # fmt: skip
    found = titles(replace(mixture, reliability=sure))
    assert found["Topics that do not come back"].topics == [[2]]
