"""Agreement of topics with known labels of documents."""

from __future__ import annotations

from typing import Any

import numpy as np


def purity(found: Any, labels: Any) -> float:
    """The share of documents whose label is the commonest one in their topic: (1/D) sum_t max_l n(topic t, label l).

    found : a topic for each document, or theta, whose largest entry is taken

    >>> purity([0, 0, 1, 1], ["a", "a", "b", "a"])
    0.75
    """
    table = _contingency(found, labels)
    return float(table.max(axis=1).sum() / table.sum())


def normalised_mutual_information(found: Any, labels: Any) -> float:
    """I(topic; label) / sqrt(H(topic) H(label)): 1 if each determines the other, 0 if they are independent.

    >>> round(normalised_mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"]), 6)
    1.0
    """
    joint = _contingency(found, labels) / len(labels)
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    seen = joint > 0
    information = np.sum(joint[seen] * np.log(joint[seen] / np.outer(rows, columns)[seen]))
    entropies = [-np.sum(p[p > 0] * np.log(p[p > 0])) for p in (rows, columns)]
    scale = np.sqrt(entropies[0] * entropies[1])
    return float(information / scale) if scale > 0 else float(entropies[0] == entropies[1])


def _contingency(found: Any, labels: Any) -> Any:
    topics = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    if topics.ndim == 2:
        topics = topics.argmax(axis=1)
    if topics.shape != np.shape(labels) or not topics.size:
        raise ValueError(f"one label for each document is needed: {topics.size} documents, {np.size(labels)} labels")
    _, rows = np.unique(topics, return_inverse=True)
    _, columns = np.unique(np.asarray(labels), return_inverse=True)
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1)
    return table
