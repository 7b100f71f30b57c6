"""The evaluator: the same for topics and for word lists, with known answers."""

import numpy as np
import pytest

from fdmix import Corpus, metrics, worlds
from fdmix.compare import Documents
from fdmix.compare.evaluation import PRIORS, _best_prior, scores_of, with_seen_words
from fdmix.compare.found import Found
from fdmix.compare.scores import SCORES
from fdmix.corpus.sequences import TokenSequences


@pytest.fixture(scope="module")
def world():
    """(topics, documents of one topic each with this topic as label, split)."""
    topics = np.kron(np.eye(4), np.ones(6) / 6)
    rng = np.random.default_rng(0)
    label = rng.integers(0, 4, 300)
    lists = [[f"w{u}" for u in rng.choice(24, 12, p=topics[t])] for t in label]
    corpus = Corpus.from_documents(lists, [f"w{u}" for u in range(24)])
    sequences = TokenSequences.of(lists, corpus.vocabulary)
    return topics, Documents.of(corpus, sequences, labels=[f"label {t}" for t in label])


def scored(found, documents, n_words=5):
    train, test = (documents[part] for part in documents.split(0.2, 0))
    return scores_of(found, documents, train, test, n_words)


def test_the_true_topics(world):
    topics, documents = world
    found = scored(Found(topics, prior=0.1), documents)
    assert set(found) <= set(SCORES)
    for name in ("nmi", "ami", "purity", "harmonic_purity", "fmi", "accuracy", "diversity", "irbo"):
        assert found[name] == pytest.approx(1), name
    assert found["completion"] == pytest.approx(np.log(1 / 6), abs=0.05)
    assert found["npmi"] > 0.8
    assert found["c_v"] > 0.9
    assert found["npmi_by_probability"] == found["npmi"]
    blurred = scored(Found(0.5 * topics + 0.5 / 24, prior=0.1), documents)
    assert blurred["completion"] < found["completion"] - 0.1


def test_word_lists_alone_have_no_likelihood(world):
    topics, documents = world
    words = [[f"w{u}" for u in range(6 * t, 6 * t + 5)] for t in range(4)]
    found = scored(Found(words=words), documents)
    assert "completion" not in found
    assert "nmi" not in found
    assert found["npmi"] > 0.8
    train, test = documents.split(0.2, 0)
    theta = documents.corpus.counts @ topics.T
    found = scored(Found(words=words, theta=lambda: (theta[train], theta[test])), documents)
    assert found["nmi"] == pytest.approx(1)
    assert found["accuracy"] == 1


def test_a_method_may_rank_words_by_itself(world):
    topics, documents = world
    words = [["w0", "w6", "w12", "w18"]] * 4
    found = scored(Found(topics, words), documents)
    assert found["npmi"] == pytest.approx(-1)
    assert found["npmi_by_probability"] > 0.8
    assert found["diversity"] == pytest.approx(0.25)


def test_counts_alone_have_no_windows(world):
    topics, documents = world
    found = scored(Found(topics), Documents(documents.corpus, labels=documents.labels))
    assert "c_v" not in found
    assert "npmi" in found


@pytest.mark.parametrize("best", range(len(PRIORS)))
def test_the_best_prior_of_a_score_with_one_maximum(best):
    assert _best_prior(lambda prior: -abs(np.log(prior / PRIORS[best]))) == (PRIORS[best], 0)


def test_topics_without_words_are_uniform():
    mixture = Found(np.array([[2.0, 0, 2], [0, 0, 0]])).mixture(("a", "b", "c"))
    assert mixture.topics.tolist() == [[0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]]


def test_completion_is_that_of_metrics():
    world = worlds.intervals()
    documents = Documents.of(world.sample(300, length=20))
    train, test = (documents[part] for part in documents.split(0.2, 3))
    found = scores_of(Found(world.mixture, prior="dirichlet"), documents, train, test, 10)
    known = with_seen_words(test.corpus, train.corpus)
    own = metrics.completion_log_likelihood(world.mixture, known, prior="dirichlet").mean
    assert found["completion_own_prior"] == own
    assert found["holdout"] == metrics.holdout_log_likelihood(world.mixture, known).mean


def test_words_that_no_method_could_learn_are_not_scored():
    """Two models that differ only in how little they give to an unseen word have the same likelihood."""
    counts = np.zeros((40, 4), int)
    counts[:, :3] = np.random.default_rng(0).integers(1, 4, (40, 3))
    counts[30:, 3] = 5  # in held-out documents only
    whole = Documents(Corpus(counts, list("abcd")))
    train, test = whole[np.arange(30)], whole[np.arange(30, 40)]
    assert with_seen_words(test.corpus, train.corpus).counts.toarray()[:, 3].sum() == 0
    shares = [0.3, 0.3, 0.4]
    sharp, smooth = ([[*(np.array(shares) * (1 - rare)), rare]] * 2 for rare in (0.0, 1e-3))
    first, second = (
        scores_of(Found(np.array(topics)), whole, train, test, 3)["completion"] for topics in (sharp, smooth)
    )
    assert first == pytest.approx(second, abs=2e-3)
