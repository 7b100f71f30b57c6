"""The arguments of all scores: topics in many forms become a `Mixture` or lists of words, documents a `Corpus`.

scikit-learn's models are recognised by their attributes (`components_`, `steps`), so that it is not imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from math import isnan
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.vocabulary import as_vocabulary
from fdmix.mixture.mixture import Mixture
from fdmix.mixture.probabilities import dirichlet_correlations
from fdmix.moments.moments import Moments
from fdmix.moments.weighted import WeightedMoments
from fdmix.text import read_corpus

TOPICS = "a Mixture, a Solution, a fitted FDM or scikit-learn model, or an array of topics x words"
DOCUMENTS = "a Corpus, a table of counts, lists of tokens, or texts"


def as_mixture(topics: Any, vocabulary: Any = None) -> Mixture:
    """Topics with their probabilities as a `Mixture`.

    topics : a Mixture; an object that has one (Solution, FDM); a fitted scikit-learn model with `components_`, such
        as LatentDirichletAllocation and NMF, whose rows are normalised, also as the last step of a pipeline or as
        the best model of a search; or an array or DataFrame (T, N) whose rows sum to 1
    vocabulary : the words of the columns, for topics without words

    >>> as_mixture([[0.5, 0.5, 0], [0, 0, 1]], ["ant", "bee", "cat"]).top_words(1)
    [['ant'], ['cat']]
    """
    model, words = _last_step(topics)
    known = (model, getattr(model, "mixture", None), getattr(model, "mixture_", None))
    found = next((one for one in known if isinstance(one, Mixture)), None)
    found = _of_components(model) if found is None else found
    if found is not None:
        return _named(found, words if vocabulary is None and found.vocabulary is None else vocabulary)
    if hasattr(model, "fit"):
        raise ValueError(f"this {type(model).__name__} has no topics: fit it first, or give {TOPICS}")
    if word_lists(topics) is not None:
        raise TypeError(f"this score needs the probabilities of words, and lists of words have none: give {TOPICS}")
    return _named(Mixture(_numbers(topics), vocabulary=_columns(topics)), vocabulary)


def word_lists(topics: Any) -> list[list[str]] | None:
    """The topics as lists of words, the most probable first; None if they are given in another form."""
    if isinstance(topics, str):
        raise ValueError(f"topics are lists of words, one list for each topic, not the single string {topics[:40]!r}")
    kind, topics = kind_of(topics)
    if kind == "texts":
        raise ValueError("topics are lists of words, one list for each topic, not a single list of words")
    if kind != "tokens":
        return None
    lists = [list(topic) for topic in topics]
    if not all(isinstance(word, str) for topic in lists for word in topic):
        raise TypeError("topics that are lists of words must hold nothing but strings")
    return lists


def as_corpus(documents: Any, mixture: Mixture | None = None) -> Corpus:
    """Documents as a `Corpus`.

    documents : a Corpus; a table of whole counts (array, sparse, or DataFrame whose columns are named after words);
        lists of tokens; or texts, which are cleaned like the texts of the mixture
    mixture : the mixture that the documents are scored by

    >>> as_corpus([["ant", "bee"], ["ant"]])
    Corpus(2 documents, 2 words, 3 tokens)
    """
    if isinstance(documents, Corpus):
        return documents
    if isinstance(documents, Moments | WeightedMoments):
        raise TypeError(f"this score needs documents, and moments hold only their pairs: give {DOCUMENTS}")
    if hasattr(documents, "columns"):
        return _of_frame(documents)
    if sp.issparse(documents) or isinstance(documents, np.ma.MaskedArray):
        return Corpus(documents)
    kind, documents = kind_of(documents)
    if kind == "else":
        raise TypeError(f"documents are {DOCUMENTS}, not {type(documents).__name__}; files are read by read_corpus")
    if kind == "texts":
        return _of_texts(documents, mixture)
    if kind == "numbers":
        return Corpus(list(documents) if isinstance(documents, Iterator) else documents)
    if mixture is not None and mixture.vocabulary is None:
        raise ValueError(
            "the topics do not know their words, so tokens cannot be matched to them: give counts, or "
            "Mixture(topics, vocabulary=words)"
        )
    return Corpus.from_documents(documents)


def kind_of(given: Any) -> tuple[str, Any]:
    """(kind, items): the kind is "texts", "tokens" (lists of strings), "numbers" or "else".

    The first items decide. A stream yields them only once, so the returned items include them again.
    """
    if isinstance(given, str | bytes | Mapping) or sp.issparse(given) or hasattr(given, "columns"):
        return "else", given
    if not isinstance(given, Iterable):
        return "else", given
    if getattr(getattr(given, "dtype", None), "kind", "O") in "iufb":
        return "numbers", given
    rest, seen, kind = iter(given), [], "tokens"
    for item in rest:
        seen.append(item)
        if item is None or (isinstance(item, float) and isnan(item)):  # a missing text
            continue
        first = item if isinstance(item, str) or not isinstance(item, Iterable) else next(iter(item), None)
        if first is not None:
            strings = "texts" if first is item else "tokens"
            kind = strings if isinstance(first, str) else "numbers"
            break
    return kind, chain(seen, rest) if isinstance(given, Iterator) else given


def _of_texts(texts: Iterable[Any], mixture: Mixture | None) -> Corpus:
    if mixture is None or mixture.vocabulary is None or mixture.preparation is None:
        raise ValueError(
            "these topics do not know how their texts were cleaned, so new texts cannot be cleaned alike: give "
            "counts or lists of tokens, such as vectorizer.transform(texts) or [text.split() for text in texts]"
        )
    return read_corpus(iter(texts), like=mixture)  # an iterator, so that no string is taken for a file name


def _of_frame(table: Any) -> Corpus:
    """A pandas or polars table of counts as a corpus; the names of its columns are the words."""
    if hasattr(table, "sparse"):  # pandas, if all columns are sparse
        return Corpus(table.sparse.to_coo(), _columns(table))
    numbers = np.asarray(table)
    if numbers.dtype.kind not in "iufb":
        raise TypeError(
            "this table holds more than counts: choose the columns that count words, or the one column of texts"
        )
    return Corpus(numbers, _columns(table))


def _numbers(topics: Any) -> Any:
    """Numbers in an array, nested list, sparse array or DataFrame, as an array."""
    table = np.array(None)
    if sp.issparse(topics):
        table = topics.toarray()
    elif isinstance(topics, Iterable):
        with suppress(ValueError):  # ragged lists
            table = np.asarray(topics)
    if table.dtype.kind not in "iufb":
        raise TypeError(f"topics are {TOPICS}, not this {type(topics).__name__}")
    return table


def _columns(table: Any) -> tuple[str, ...] | None:
    names = list(getattr(table, "columns", ()))
    return tuple(names) if names and all(isinstance(name, str) for name in names) else None


def _last_step(model: Any) -> tuple[Any, Any]:
    """(model with the topics, words that a pipeline's first steps count) of a model, pipeline or search."""
    model = getattr(model, "best_estimator_", model)
    if not isinstance(getattr(model, "steps", None), list):
        return model, None
    words = None
    with suppress(AttributeError, TypeError, ValueError):  # steps without feature names
        words = model[:-1].get_feature_names_out()
    return model.steps[-1][1], words


def _of_components(model: Any) -> Mixture | None:
    """The normalised topics of a scikit-learn model and the document prior of LDA; None without components_."""
    if getattr(model, "components_", None) is None:
        return None
    weights = np.asarray(model.components_, np.float64)
    if (weights < 0).any():
        raise ValueError(f"the components of {type(model).__name__} are not topics: some are negative")
    total = weights.sum(axis=1, keepdims=True)
    if not total.all():
        raise ValueError(f"topic {int(np.argmin(total))} of {type(model).__name__} has no word: fit fewer topics")
    names = getattr(model, "feature_names_in_", None)
    words = None if names is None else tuple(map(str, names))
    prior = getattr(model, "doc_topic_prior_", None)
    if prior is None:
        return Mixture(weights / total, vocabulary=words)
    a = np.full(len(weights), float(prior))
    return Mixture(weights / total, dirichlet_correlations(a), words, prior=a)


def _named(mixture: Mixture, vocabulary: Any) -> Mixture:
    """The mixture with these words, if it has none yet."""
    if vocabulary is None:
        return mixture
    words = as_vocabulary(vocabulary, mixture.n_words)
    if mixture.vocabulary is None:
        return replace(mixture, vocabulary=words)
    if mixture.vocabulary != words:
        raise ValueError("the topics have words of their own, which differ from vocabulary=")
    return mixture
