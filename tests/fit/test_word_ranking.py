"""The weight of relevance that a fit chooses for its words."""

import numpy as np
import pytest
import scipy.sparse as sp

from fdmix import Corpus, Mixture, Moments, fit_documents, fit_mixture, metrics, refine
from fdmix.fit.word_ranking import WEIGHTS, pair_coherence, with_word_ranking

N_TOPICS, N_OWN, N_COMMON = 6, 20, 12


def text_with_common_words(share, n_documents=3000, seed=0):
    """Documents of one topic each, 30 tokens; a share of the tokens are words that all documents have alike."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((n_documents, N_TOPICS * N_OWN + N_COMMON), int)
    own = 1 / np.arange(1, N_OWN + 1)
    common = 1 / np.arange(1, N_COMMON + 1)
    topics = np.zeros((N_TOPICS, counts.shape[1]))
    for t in range(N_TOPICS):
        topics[t, t * N_OWN : (t + 1) * N_OWN] = (1 - share) * own / own.sum()
    topics[:, -N_COMMON:] = share * common / common.sum()
    for d in range(n_documents):
        counts[d] = rng.multinomial(30, topics[d % N_TOPICS])
    return Corpus(counts, [f"own{u}" for u in range(N_TOPICS * N_OWN)] + [f"common{u}" for u in range(N_COMMON)])


def n_common(words):
    return sum(word.startswith("common") for topic in words for word in topic)


@pytest.mark.parametrize("fit", ["pairs", "documents", "refined"])
def test_words_that_all_documents_have_are_not_shown(fit):
    corpus = text_with_common_words(0.6)
    if fit == "documents":
        mixture = fit_documents(corpus, N_TOPICS).mixture
    else:
        mixture = fit_mixture(Moments.of(corpus), N_TOPICS).mixture
    if fit == "refined":
        mixture = refine(Mixture(mixture.topics, mixture.correlations, mixture.vocabulary), corpus)
    assert mixture.relevance is not None
    assert mixture.relevance < 1
    assert n_common(mixture.top_words(10, ranking="probability")) >= 5 * N_TOPICS
    assert n_common(mixture.top_words(10)) == 0
    by_probability = metrics.coherence(mixture, corpus).mean
    assert metrics.coherence(mixture, corpus, ranking=None).mean > by_probability + 0.05
    assert metrics.diversity(mixture, 10, ranking=None) == 1


def test_probability_stays_where_words_are_as_good():
    """Topics without common words: every ranking shows distinct words, and the most probable ones are coherent."""
    mixture = fit_mixture(Moments.of(text_with_common_words(0.0)), N_TOPICS).mixture
    assert mixture.relevance == 1


def test_coherence_is_not_given_up_for_diversity():
    """Two words that all topics share hold them together; words of their own never occur with each other."""
    rng = np.random.default_rng(1)
    counts = np.zeros((4000, 2 + 5 * 40), int)
    for d in range(4000):
        counts[d, 2 + 40 * (d % 5) + rng.integers(40)] = 1
        counts[d, :2] = 1
    moments = Moments.of(counts)
    topics = np.zeros((5, counts.shape[1]))
    topics[:, :2] = 0.3
    for t in range(5):
        topics[t, 2 + 40 * t : 2 + 40 * (t + 1)] = 0.01
    chosen = with_word_ranking(Mixture(topics, np.eye(5) / 5), moments.matrix, moments.n_tokens)
    assert chosen.relevance == 1


def test_the_coherence_of_pairs_is_that_of_the_metric():
    corpus = text_with_common_words(0.4, 500)
    moments = Moments.of(corpus)
    mixture = fit_mixture(moments, N_TOPICS).mixture
    orders = [mixture.top_columns(10, weight) for weight in (1.0, 0.3)]
    found = pair_coherence(orders, moments.matrix)
    for weight, topics in zip((1.0, 0.3), found, strict=True):
        assert topics == pytest.approx(metrics.coherence(mixture, moments, ranking=weight).topics)


def test_small_cases():
    assert fit_mixture(Moments.of([[2, 1, 0], [0, 1, 1]]), 1).mixture.relevance == 1
    assert fit_mixture(Moments.of([[2, 1, 0], [0, 1, 1]] * 9), 2).mixture.relevance in WEIGHTS
    only = with_word_ranking(Mixture([[1.0], [1.0]]), sp.csr_array([[1.0]]), 0.3)
    assert (only.relevance, only.n_tokens) == (1, 1)
