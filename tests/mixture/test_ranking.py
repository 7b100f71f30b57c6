"""Which words describe a topic, and what topics are called."""

import json

import numpy as np
import pytest

from fdmix import Mixture
from fdmix.mixture.ranking import MIN_SHARE, WordRanking, most_probable
from fdmix.mixture.suggested_labels import labels_from_words

WORDS = ["said", "ant", "bee", "cat", "dog", "rare"]
TOPICS = np.array(
    [
        [0.50, 0.30, 0.19, 0.00, 0.00, 0.01],
        [0.50, 0.00, 0.00, 0.30, 0.20, 0.00],
    ]
)
MIXTURE = Mixture(TOPICS, np.eye(2) / 2, WORDS)


def relevance(mixture, weight):
    """Sievert and Shirley's formula, as they write it."""
    unigram = mixture.shares @ mixture.topics
    with np.errstate(divide="ignore", invalid="ignore"):
        return weight * np.log(mixture.topics) + (1 - weight) * np.log(mixture.topics / unigram)


@pytest.mark.parametrize("weight", [0.9, 0.5, 0.2, 0.0])
def test_words_are_in_the_order_of_their_relevance(weight):
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(30, 2.0), 4)
    mixture = Mixture(topics, np.diag([0.4, 0.3, 0.2, 0.1]))
    score = relevance(mixture, weight)
    for t, order in enumerate(mixture.top_columns(10, weight)):
        able = np.flatnonzero(topics[t] >= MIN_SHARE * topics[t].max())
        assert order.tolist() == able[np.argsort(-score[t, able])][:10].tolist()


def test_relevance_takes_words_of_all_topics_down():
    assert MIXTURE.top_words(2) == [["said", "ant"], ["said", "cat"]]  # nobody has chosen a weight: by probability
    assert MIXTURE.top_words(2, ranking=0.3) == [["ant", "bee"], ["cat", "dog"]]
    assert MIXTURE.top_columns(None, "relevance").tolist() == MIXTURE.top_columns(None, 0.6).tolist()
    chosen = Mixture(TOPICS, np.eye(2) / 2, WORDS, relevance=0.3)
    assert chosen.top_words(2) == chosen.top_words(2, ranking="relevance") == [["ant", "bee"], ["cat", "dog"]]
    assert chosen.top_words(2, ranking="probability") == MIXTURE.top_words(2)
    assert chosen.top_words(2, ranking=1) == MIXTURE.top_words(2)


def test_rare_words_do_not_describe_a_topic():
    """`rare` has the same lift as ant, but a fiftieth of the probability of the topic's first word."""
    assert MIXTURE.top_words(4, ranking="exclusive")[0] == ["ant", "bee", "said", "rare"]
    assert relevance(MIXTURE, 0.0)[0, 5] == pytest.approx(relevance(MIXTURE, 0.0)[0, 1])


def test_words_need_ten_tokens_in_the_topic():
    """Of 100 tokens, half in each topic, the first topic has 15 of ant and 9.5 of bee."""
    few = Mixture(TOPICS, np.eye(2) / 2, WORDS, n_tokens=100)
    assert few.top_words(3, ranking="exclusive")[0] == ["ant", "said", "bee"]
    many = Mixture(TOPICS, np.eye(2) / 2, WORDS, n_tokens=1000)
    assert many.top_words(3, ranking="exclusive")[0] == ["ant", "bee", "said"]


@pytest.mark.parametrize("ranking", [None, "probability", "relevance", "exclusive", 0.4])
def test_every_ranking_orders_all_words(ranking):
    """Also for a topic that never occurs, and for words that no topic has."""
    topics = [[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0.2, 0.2, 0.6, 0]]
    alpha = [[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0]]
    mixture = Mixture(topics, alpha, relevance=0.5, n_tokens=1000)
    orders = mixture.top_columns(None, ranking)
    assert np.sort(orders, axis=1).tolist() == [[0, 1, 2, 3]] * 3
    assert [len(words) for words in mixture.typical_words(4, ranking)] == [2, 2, 3]
    assert mixture.top_columns(99, ranking).shape == (3, 4)


@pytest.mark.parametrize("ranking", ["relevnce", 1.5, -0.1, float("nan"), True, [0.5]])
def test_unknown_rankings_are_refused(ranking):
    with pytest.raises(ValueError, match="there are probability, relevance, exclusive, or the weight"):
        MIXTURE.top_words(3, ranking=ranking)


def test_the_ranking_is_saved(tmp_path):
    Mixture(TOPICS, np.eye(2) / 2, WORDS, relevance=0.3, n_tokens=500).save(tmp_path / "model")
    again = Mixture.load(tmp_path / "model")
    assert (again.relevance, again.n_tokens) == (0.3, 500)
    assert again.top_words(2) == [["ant", "bee"], ["cat", "dog"]]


def test_models_of_older_versions_rank_by_probability(tmp_path):
    from fdmix.storage.model_folder import read_folder, write_folder

    MIXTURE.save(tmp_path / "model")
    arrays, facts = read_folder(tmp_path / "model")
    older = {name: value for name, value in facts.items() if name not in ("relevance", "tokens")}
    write_folder(tmp_path / "older", arrays, older)
    loaded = Mixture.load(tmp_path / "older")
    assert loaded.relevance is None
    assert loaded.top_words(2) == MIXTURE.top_words(2, ranking="probability")
    for wrong in ({"relevance": 2}, {"relevance": "0.5"}, {"relevance": True}, {"tokens": -1}, {"tokens": [3]}):
        write_folder(tmp_path / "wrong", arrays, facts | json.loads(json.dumps(wrong)))
        with pytest.raises(ValueError, match="is not a valid model"):
            Mixture.load(tmp_path / "wrong")


def test_the_most_probable_word_always_competes():
    topics = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert WordRanking(topics, np.array([0.5, 0.5])).order(0.0, 1).tolist() == [[0], [1]]


def test_labels_are_different_and_do_not_repeat_words():
    labels = Mixture(TOPICS, np.eye(2) / 2, WORDS, relevance=0.0).suggested_labels(2)
    assert labels == ["ant, bee", "cat, dog"]
    assert MIXTURE.suggested_labels(1) == ["said, ant", "said, cat"]  # one word would be the same
    assert labels_from_words([["a", "b"], ["a", "b"]], 1) == ["a, b (topic 0)", "a, b (topic 1)"]
    assert labels_from_words([["tax", "tax cut", "jobs"]], 2) == ["tax cut, jobs"]


def test_the_most_probable_words_are_those_of_a_full_sort():
    """Ties go to the first column, and a topic may have fewer words than are asked for."""
    rng = np.random.default_rng(0)
    topics = rng.integers(0, 6, (40, 30)) / 10
    topics[0] = 0
    for n in (0, 1, 7, 29, 30):
        assert (most_probable(topics, n) == np.argsort(-topics, axis=1, kind="stable")[:, :n]).all()
