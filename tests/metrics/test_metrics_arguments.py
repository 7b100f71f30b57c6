"""One rule for all scores: every form of topics and of documents gives the same number."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.decomposition import NMF, LatentDirichletAllocation, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from fdmix import FDM, Corpus, Mixture, Moments, Solution, fit_mixture, metrics, read_corpus
from fdmix.metrics.arguments import as_corpus, as_mixture

TEXTS = [
    "The cat chases the mouse.",
    "Dogs chase cats.",
    "A mouse eats cheese.",
    "Stocks fell.",
    "Stocks rose again.",
]
CORPUS = read_corpus(TEXTS * 8, stem="english", min_count=1, stop_words=None)
MIXTURE = fit_mixture(Moments.of(CORPUS), 2).mixture
WORDS = CORPUS.vocabulary
COUNTS = CORPUS.counts.toarray()
TOKENS = [[WORDS[u] for u in np.repeat(np.arange(len(WORDS)), row)] for row in COUNTS]

TOPICS = {
    "mixture": MIXTURE,
    "solution": Solution(MIXTURE, [], True, ""),
    "frame": pd.DataFrame(MIXTURE.topics, columns=WORDS),
    "array": MIXTURE.topics,
    "nested lists": MIXTURE.topics.tolist(),
    "sparse": sp.csr_array(MIXTURE.topics),
}
DOCUMENTS = {
    "corpus": CORPUS,
    "without words": Corpus(COUNTS),
    "array": COUNTS,
    "float16": COUNTS.astype(np.float16),
    "nested lists": COUNTS.tolist(),
    "sparse": sp.csc_matrix(COUNTS),
    "frame": pd.DataFrame(COUNTS, columns=WORDS),
    "shuffled frame": pd.DataFrame(COUNTS, columns=WORDS)[sorted(WORDS, reverse=True)],
    "sparse frame": pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(COUNTS), columns=WORDS),
    "polars": pl.DataFrame(COUNTS, schema=list(WORDS)),
    "texts": TEXTS * 8,
    "array of texts": np.array(TEXTS * 8),
    "series of texts": pd.Series(TEXTS * 8),
}
OF_TOPICS = {
    "hold-out": lambda topics: metrics.holdout_log_likelihood(topics, COUNTS).mean,
    "completion": lambda topics: metrics.completion_log_likelihood(topics, COUNTS).mean,
    "coherence": lambda topics: metrics.coherence(topics, COUNTS, n_words=4).mean,
    "coherence from moments": lambda topics: metrics.coherence(topics, Moments.of(CORPUS), n_words=4).mean,
    "u_mass": lambda topics: metrics.coherence(topics, CORPUS, "u_mass", n_words=4).mean,
    "diversity": lambda topics: metrics.diversity(topics, 4),
    "exclusivity": lambda topics: metrics.exclusivity(topics, 4),
    "anchor words": lambda topics: [a.word for a in metrics.anchor_words(topics)],
    "matching": lambda topics: metrics.matching_distance(topics, MIXTURE).mean,
    "stability": lambda topics: metrics.stability([topics, MIXTURE]),
}
OF_DOCUMENTS = {
    "hold-out": lambda documents: metrics.holdout_log_likelihood(MIXTURE, documents).mean,
    "completion": lambda documents: metrics.completion_log_likelihood(MIXTURE, documents, "dirichlet").mean,
    "coherence": lambda documents: metrics.coherence(MIXTURE, documents, n_words=4).mean,
    "pairs": lambda documents: metrics.pair_log_likelihood(MIXTURE, documents),
}


@pytest.mark.parametrize("score", OF_TOPICS)
@pytest.mark.parametrize("form", TOPICS)
def test_every_form_of_topics(form, score):
    assert OF_TOPICS[score](TOPICS[form]) == pytest.approx(OF_TOPICS[score](MIXTURE), abs=1e-9)


@pytest.mark.parametrize("score", OF_DOCUMENTS)
@pytest.mark.parametrize("form", DOCUMENTS)
def test_every_form_of_documents(form, score):
    assert OF_DOCUMENTS[score](DOCUMENTS[form]) == pytest.approx(OF_DOCUMENTS[score](CORPUS), abs=1e-5)


def test_tokens_and_streams():
    """Tokens are documents; in coherence their windows, which here are whole documents."""
    for score in OF_DOCUMENTS.values():
        assert score(TOKENS) == pytest.approx(score(CORPUS), abs=1e-5)
        assert score(iter(TOKENS)) == pytest.approx(score(CORPUS), abs=1e-5)
        assert score(text for text in TEXTS * 8) == pytest.approx(score(CORPUS), abs=1e-5)
    assert metrics.completion_log_likelihood(MIXTURE, [["cat", "zebra", "cat"]]).n_unknown == 1


def test_lists_of_words():
    lists = MIXTURE.top_words(4, as_shown=False)
    assert metrics.diversity(lists, 4) == metrics.diversity(MIXTURE, 4)
    assert metrics.diversity(np.array(lists), 4) == metrics.diversity(MIXTURE, 4)
    for reference in (CORPUS, Moments.of(CORPUS), TOKENS, DOCUMENTS["frame"]):
        assert metrics.coherence(lists, reference).mean == pytest.approx(
            metrics.coherence(MIXTURE, reference, n_words=4).mean
        )
    for score in ("hold-out", "exclusivity", "anchor words", "matching", "stability"):
        with pytest.raises(TypeError, match="needs the probabilities of words, and lists of words have none"):
            OF_TOPICS[score](lists)
    with pytest.raises(ValueError, match="one list for each topic"):
        metrics.diversity(["cat", "dog"])
    with pytest.raises(ValueError, match="no topic has a word"):
        metrics.diversity([[], []])


def test_words_by_name():
    """A table without words is named by vocabulary=, the topics' own words, or the reference's, column by column."""
    expected = metrics.coherence(MIXTURE, CORPUS, n_words=4).mean
    lists = MIXTURE.top_words(4, as_shown=False)
    assert metrics.coherence(lists, COUNTS, vocabulary=WORDS).mean == pytest.approx(expected)
    assert metrics.coherence(MIXTURE.topics, COUNTS, n_words=4, vocabulary=WORDS).mean == pytest.approx(expected)
    assert metrics.coherence(MIXTURE.topics, CORPUS, n_words=4).mean == pytest.approx(expected)
    assert metrics.coherence(MIXTURE.topics, TOKENS, n_words=4, vocabulary=WORDS).mean == pytest.approx(expected)
    assert metrics.coherence(MIXTURE, Moments.of(COUNTS), n_words=4).mean == pytest.approx(
        metrics.coherence(MIXTURE, Moments.of(CORPUS), n_words=4).mean
    )
    names = [anchor.name for anchor in metrics.anchor_words(MIXTURE.topics, vocabulary=WORDS)]
    assert names == [anchor.name for anchor in metrics.anchor_words(MIXTURE)]
    with pytest.raises(ValueError, match="no topic has two words that the reference has: give vocabulary="):
        metrics.coherence(MIXTURE.topics, TOKENS)
    with pytest.raises(ValueError, match="no names to match them by"):
        metrics.coherence(MIXTURE, COUNTS[:, 1:])
    with pytest.raises(ValueError, match="words of their own"):
        metrics.coherence(MIXTURE, CORPUS, vocabulary=sorted(WORDS, reverse=True))
    with pytest.raises(ValueError, match="do not know their words"):
        metrics.completion_log_likelihood(MIXTURE.topics, TOKENS)


@pytest.mark.parametrize("model", [FDM(2, refine=False), LatentDirichletAllocation(2, random_state=0), NMF(2)])
def test_models_of_scikit_learn(model):
    """Rows of components_ are normalised; words come from a DataFrame or from the vectorizer of the pipeline."""
    fitted = model.fit(pd.DataFrame(COUNTS, columns=WORDS))
    mixture = as_mixture(fitted)
    rows = fitted.components_ / fitted.components_.sum(axis=1, keepdims=True)
    assert np.allclose(mixture.topics, rows)
    assert mixture.vocabulary == WORDS
    for score in OF_TOPICS.values():
        assert score(fitted) == pytest.approx(score(mixture))
    pipeline = make_pipeline(CountVectorizer(), model).fit(TEXTS * 8)
    assert as_mixture(pipeline).vocabulary == tuple(pipeline[0].get_feature_names_out())
    search = GridSearchCV(make_pipeline(CountVectorizer(), FDM(2, refine=False)), {"fdm__n_components": [2]}, cv=2)
    assert as_mixture(search.fit(TEXTS * 8)).vocabulary == tuple(pipeline[0].get_feature_names_out())


def test_the_prior_of_lda_is_its_own():
    model = LatentDirichletAllocation(3, doc_topic_prior=0.2, random_state=0).fit(COUNTS)
    given = metrics.completion_log_likelihood(model, COUNTS, prior="dirichlet").mean
    assert given == pytest.approx(metrics.completion_log_likelihood(model, COUNTS, prior=0.2).mean)


def test_models_without_topics_are_refused():
    for model in (FDM(), LatentDirichletAllocation(), NMF()):
        with pytest.raises(ValueError, match="fit it first"):
            metrics.diversity(model)
    with pytest.raises(ValueError, match="some are negative"):
        metrics.exclusivity(TruncatedSVD(2, random_state=0).fit(COUNTS))
    empty = NMF(2).fit(COUNTS)
    empty.components_ = np.array([[1.0, 0], [0, 0]])
    with pytest.raises(ValueError, match="topic 1 of NMF has no word"):
        metrics.exclusivity(empty)
    for thing in (3, None, object(), {"a": 1}, Corpus(COUNTS), [[0.5, 0.5], [1.0]], pd.DataFrame({"a": ["b"]})):
        with pytest.raises((TypeError, ValueError), match="topics"):
            metrics.exclusivity(thing)


def test_what_is_not_documents_is_refused():
    for thing in (3, None, "a text", b"a text", {"a": 1}, MIXTURE):
        with pytest.raises(TypeError, match="documents are a Corpus"):
            metrics.completion_log_likelihood(MIXTURE, thing)
    with pytest.raises(TypeError, match="moments hold only their pairs"):
        metrics.completion_log_likelihood(MIXTURE, Moments.of(CORPUS))
    with pytest.raises(TypeError, match="holds more than counts"):
        metrics.completion_log_likelihood(MIXTURE, pd.DataFrame({"text": TEXTS, "year": range(5)}))
    for topics in (MIXTURE.topics, Mixture(MIXTURE.topics, vocabulary=WORDS)):
        with pytest.raises(ValueError, match="do not know how their texts were cleaned"):
            metrics.completion_log_likelihood(topics, TEXTS)
    with pytest.raises(ValueError, match="needs token lists"):
        metrics.coherence(MIXTURE, TEXTS, "c_v")


def test_missing_and_empty_documents():
    assert as_corpus([None, "cat and dog", float("nan")], MIXTURE).n_documents == 3
    assert as_corpus([[], ["cat"], []]).lengths.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="no document has"):
        metrics.completion_log_likelihood(MIXTURE, [[], []])


def test_bare_topics_make_a_mixture():
    """Unless told otherwise, theta ~ Dirichlet(1/T): scikit-learn's default prior, and the paper's."""
    mixture = Mixture(MIXTURE.topics)
    assert mixture.shares == pytest.approx([0.5, 0.5])
    theta = np.random.default_rng(0).dirichlet([0.5, 0.5], 200_000)
    assert np.allclose(mixture.correlations, theta.T @ theta / len(theta), atol=2e-3)
    assert np.allclose(mixture.assign(COUNTS, "dirichlet"), mixture.assign(COUNTS, 0.5))
    assert Mixture(MIXTURE.topics, vocabulary=WORDS).top_words(2, as_shown=False) == MIXTURE.top_words(
        2, as_shown=False
    )
    assert Mixture([[1.0]]).correlations.tolist() == [[1.0]]
