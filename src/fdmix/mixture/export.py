"""Topics in the forms of other packages: pyLDAvis and networkx. Plain arrays in, their objects out."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from fdmix.mixture.relations import lift, topic_correlation

Floats = np.ndarray[Any, np.dtype[np.float64]]
SMOOTHING = 1e-6  # share of the unigram in a topic: pyLDAvis takes logarithms of all entries


def ask_for(package: str, extra: str) -> Any:
    """Import an optional package, or say how to get it."""
    try:
        return import_module(package)
    except ImportError as missing:
        raise ImportError(f"this needs {package}: pip install 'fdmix[{extra}]'") from missing


def pyldavis_arguments(topics: Floats, correlations: Floats, words: list[str], n_tokens: float) -> dict[str, Any]:
    """Arguments of `pyLDAvis.prepare`, without the corpus.

    Its documents only serve to find how large the topics are. So document i stands for what is said beside topic i:
    a share s_i of all tokens, with topic shares alpha_ij / s_i; then sum_i s_i (alpha_ij / s_i) = s_j, s the row sums
    of alpha. Words that no topic has are left out, and topics that never occur are given one token in a million.
    """
    shares = correlations.sum(axis=1)
    never = shares <= 1e-6
    beside = correlations / np.where(never, 1, shares)[:, None]
    beside[never] = np.eye(len(shares))[never]
    lengths = np.where(never, 1e-6, shares) * n_tokens
    unigram = (lengths @ beside) / lengths.sum() @ topics
    kept = np.flatnonzero(unigram > 0)
    unigram = unigram[kept] / unigram[kept].sum()
    smooth = (1 - SMOOTHING) * topics[:, kept] + SMOOTHING * unigram
    return {
        "topic_term_dists": smooth / smooth.sum(axis=1, keepdims=True),
        "doc_topic_dists": beside / beside.sum(axis=1, keepdims=True),
        "doc_lengths": lengths,
        "vocab": [words[u] for u in kept],
        "term_frequency": unigram * n_tokens,
        "mds": topic_map,
    }


def topic_map(topics: Any) -> Floats:
    """Two coordinates for each topic: distances come near the Jensen-Shannon divergences of the topics.

    This is classical scaling, pyLDAvis's default layout. The matrix is symmetric, so `eigh` solves it in real
    numbers; pyLDAvis's `eig` often returns complex ones, for instance if some topics are alike, and fails for one.
    """
    rows = np.asarray(topics, np.float64)
    entropies = _entropies(rows)
    # JS(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2
    middles = np.array([_entropies((rows + row) / 2) for row in rows])
    squares = (middles - (entropies + entropies[:, None]) / 2) ** 2
    centred = -(squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()) / 2
    values, vectors = np.linalg.eigh(centred)
    values, vectors = np.maximum(values[::-1][:2], 0), vectors[:, ::-1][:, :2]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(values.size)]
    result = np.zeros((len(rows), 2))
    result[:, : values.size] = vectors * np.sign(largest) * np.sqrt(values)  # signs are arbitrary: choose one
    return result


def _entropies(rows: Floats) -> Floats:
    return -np.sum(rows * np.log(np.where(rows > 0, rows, 1)), axis=1)


def correlation_graph(correlations: Floats, top_words: list[list[str]], threshold: float) -> Any:
    """A networkx graph: topics are nodes, and two that come together more often than by chance are joined.

    lift = alpha_ij / (s_i s_j), of which an edge has more than the threshold; correlation = that of theta_i and
    theta_j, with covariance alpha_ij - s_i s_j (NaN where a topic does not vary); weight = alpha_ij.
    """
    graph = ask_for("networkx", "graphs").Graph()
    shares = correlations.sum(axis=1)
    lifts, correlation = lift(correlations), topic_correlation(correlations)
    for topic, words in enumerate(top_words):
        graph.add_node(topic, words=", ".join(words), share=float(shares[topic]))
    for i, j in np.argwhere(np.triu(lifts > threshold, 1)).tolist():
        graph.add_edge(
            i, j, weight=float(correlations[i, j]), lift=float(lifts[i, j]), correlation=float(correlation[i, j])
        )
    return graph
