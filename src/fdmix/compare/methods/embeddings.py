"""Models of sentence embeddings: BERTopic, and KeyNMF and FASTopic of turftopic.

Written after their documentation; the project's tests do not run them, because they need PyTorch. Sentences are
embedded from the raw text, and topics are described by the words that all methods share. They have word lists and
topics of documents, but no probabilities of words that could be scored on held-out documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fdmix.compare.documents import Documents
from fdmix.compare.found import Found, Task

ENCODER = "all-MiniLM-L6-v2"  # the default of these packages when their papers were written


def bertopic(task: Task) -> Found:
    """UMAP and HDBSCAN, reduced to the number of topics; documents that it leaves out are a group of their own."""
    from bertopic import BERTopic  # noqa: PLC0415

    encoder, vectors = _embedded(task)
    model = BERTopic(
        embedding_model=encoder, vectorizer_model=_vectorizer(task), nr_topics=task.n_topics + 1,  # and outliers
        top_n_words=task.n_words, umap_model=_umap(task.seed),
    )  # fmt: skip
    groups, _ = model.fit_transform(_words(task.train), vectors[0])
    numbers = sorted(number for number in model.get_topics() if number >= 0)
    words = [[_word(word) for word, _ in model.get_topic(number) if word] for number in numbers]

    def theta() -> Any:
        new, _ = model.transform(_words(task.test), vectors[1])
        return tuple(np.eye(len(numbers) + 1)[np.asarray(found)] for found in (groups, new))  # -1 is the last column

    return Found(words=words, theta=theta)


def keynmf(task: Task) -> Found:
    """Keywords of documents by the similarity of embeddings, then NMF."""
    from turftopic import KeyNMF  # noqa: PLC0415

    return _turftopic(task, KeyNMF)


def fastopic(task: Task) -> Found:
    """Optimal transport between the embeddings of documents, topics and words."""
    from turftopic import FASTopic  # noqa: PLC0415

    return _turftopic(task, FASTopic)


def _turftopic(task: Task, model_class: Any) -> Found:
    encoder, vectors = _embedded(task)
    model = model_class(task.n_topics, encoder=encoder, vectorizer=_vectorizer(task), random_state=task.seed)
    first = model.fit_transform(_words(task.train), embeddings=vectors[0])
    names = model.get_vocab()
    best = np.argsort(-model.components_, axis=1)[:, : task.n_words]
    words = [[_word(names[u]) for u in topic] for topic in best]
    return Found(words=words, theta=lambda: (first, model.transform(_words(task.test), embeddings=vectors[1])))


def _embedded(task: Task) -> tuple[Any, list[Any]]:
    """(encoder, embeddings of the documents to learn from and of those held out)."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    encoder = SentenceTransformer(ENCODER)
    return encoder, [encoder.encode(part.texts, show_progress_bar=False) for part in (task.train, task.test)]


def _vectorizer(task: Task) -> Any:
    """Counts the words that all methods share in what `_words` gives."""
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415

    vocabulary = [_joined(word) for word in task.train.corpus.vocabulary or ()]
    return CountVectorizer(analyzer=str.split, vocabulary=vocabulary)


def _words(documents: Documents) -> list[str]:
    """The words of each document that are counted, as one string."""
    if documents.sequences is None:
        raise ValueError("the order of words is unknown: give text, not counts")
    return [" ".join(map(_joined, words)) for words in documents.sequences]


def _joined(word: str) -> str:
    """A phrase as one word."""
    return word.replace(" ", "\u2581")


def _word(joined: str) -> str:
    return joined.replace("\u2581", " ")


def _umap(seed: int) -> Any:
    """BERTopic's own settings, and a seed."""
    from umap import UMAP  # noqa: PLC0415

    return UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed)
