"""How well the topics of documents agree with labels that people gave them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

Floats = np.ndarray[Any, np.dtype[np.float64]]


def purity(found: Any, labels: Any) -> float:
    """The share of documents with the most frequent label of their topic: (1/D) sum_t max_l n(topic t, label l).

    It grows with the number of topics, up to 1 if each document has its own topic. So compare only models with the
    same number of topics.

    found : the topic of each document, or theta, whose largest entry counts

    >>> purity([0, 0, 1, 1], ["a", "a", "b", "a"])
    0.75
    """
    table = _contingency(found, labels)
    return float(table.max(axis=1).toarray().sum() / table.sum())


def harmonic_purity(found: Any, labels: Any) -> float:
    """2 P I / (P + I), the harmonic mean of purity P and inverse purity I = (1/D) sum_l max_t n(topic t, label l).

    Purity alone is 1 if each document has its own topic, inverse purity if all have the same; their harmonic mean is
    1 only if topics and labels are the same groups.

    found : the topic of each document, or theta, whose largest entry counts

    >>> round(harmonic_purity([0, 0, 1, 2], ["a", "a", "b", "b"]), 4)
    0.8571
    """
    table = _contingency(found, labels)
    pure, inverse = (table.max(axis=axis).toarray().sum() / table.sum() for axis in (1, 0))
    return float(2 * pure * inverse / (pure + inverse))


def fowlkes_mallows(found: Any, labels: Any) -> float:
    """FMI: sqrt(p q), p the share of same-topic pairs with the same label, q of same-label pairs with the same topic.

    Between 0 and 1 (Fowlkes and Mallows 1983). Without a pair of documents that share a topic, or one that share a
    label, it is 0.

    found : the topic of each document, or theta, whose largest entry counts

    >>> round(fowlkes_mallows([0, 0, 1, 1], ["a", "a", "b", "a"]), 4)
    0.4082
    """
    table = _contingency(found, labels)
    pairs = [float(np.sum(n * (n - 1))) for n in (table.data, table.sum(axis=1), table.sum(axis=0))]
    return float(pairs[0] / np.sqrt(pairs[1] * pairs[2])) if pairs[1] and pairs[2] else 0.0


def normalised_mutual_information(found: Any, labels: Any) -> float:
    """I(topic; label) / sqrt(H(topic) H(label)): 1 if each determines the other, 0 if they are independent.

    >>> round(normalised_mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"]), 6)
    1.0
    """
    information, rows, columns = _information(_contingency(found, labels))
    entropies = _entropy(rows), _entropy(columns)
    scale = np.sqrt(entropies[0] * entropies[1])
    return float(information / scale) if scale > 0 else float(entropies[0] == entropies[1])


def adjusted_mutual_information(found: Any, labels: Any) -> float:
    """(I - E[I]) / ((H(topic) + H(label)) / 2 - E[I]): 1 if each determines the other, 0 on average by chance.

    E[I] is the expected mutual information after labels are shuffled; it grows with the number of topics. So this
    score, unlike purity, can compare models with different numbers of topics (Vinh, Epps and Bailey 2010).

    >>> round(adjusted_mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"]), 6)
    1.0
    >>> round(adjusted_mutual_information([0, 1, 2, 3], ["a", "a", "b", "b"]), 6)
    0.0
    """
    table = _contingency(found, labels)
    if table.nnz == table.shape[0] == table.shape[1]:  # each determines the other
        return 1.0
    information, rows, columns = _information(table)
    expected = _expected_information(rows.astype(np.int64), columns.astype(np.int64))
    room = (_entropy(rows) + _entropy(columns)) / 2 - expected
    return float((information - expected) / room) if abs(room) > 1e-12 else 0.0


def _information(table: sp.csr_array) -> tuple[float, Floats, Floats]:
    """(I, documents of each topic, documents of each label), I = sum_tl p(t, l) log(p(t, l) / (p(t) p(l)))."""
    rows, columns = np.asarray(table.sum(axis=1)).ravel(), np.asarray(table.sum(axis=0)).ravel()
    total = rows.sum()
    cells = table.tocoo()
    chance = rows[cells.coords[0]] * columns[cells.coords[1]]
    return float(np.sum(cells.data / total * np.log(cells.data * total / chance))), rows, columns


def _entropy(sizes: Floats) -> float:
    share = sizes / sizes.sum()
    return float(-np.sum(share * np.log(share)))


def _expected_information(rows: Any, columns: Any) -> float:
    """E[I] = sum over topics of size a and labels of size b of sum_n p(n) (n / D) log(D n / (a b)).

    n is the number of documents that have both the topic and the label by chance. Its distribution is hypergeometric:
    p(n) = a! b! (D-a)! (D-b)! / (D! n! (a-n)! (b-n)! (D-a-b+n)!).
    Pairs of equal sizes are computed once. Values of n more than 12 standard deviations plus 30 documents from the
    mean are left out: there p(n) is below 1e-20.
    """
    from scipy.special import gammaln  # noqa: PLC0415  (slow to import)

    total = int(rows.sum())
    log_factorial = gammaln(np.arange(total + 1) + 1.0)
    expected = 0.0
    for a, n_rows in zip(*np.unique(rows, return_counts=True), strict=True):
        for b, n_columns in zip(*np.unique(columns, return_counts=True), strict=True):
            mean = a * b / total
            reach = 12 * np.sqrt(mean) + 30  # the variance of n is below its mean
            first = max(1, a + b - total, int(mean - reach))
            n = np.arange(first, min(a, b, int(mean + reach)) + 1)
            log_p = log_factorial[[a, b, total - a, total - b]].sum() - log_factorial[total]
            log_p = log_p - log_factorial[n] - log_factorial[a - n] - log_factorial[b - n]
            log_p -= log_factorial[total - a - b + n]
            expected += n_rows * n_columns * np.sum(np.exp(log_p) * n / total * np.log(total * n / (a * b)))
    return float(expected)


def _contingency(found: Any, labels: Any) -> sp.csr_array:
    """n(topic, label), the number of documents with both; rows are the topics in use, columns the labels."""
    topics = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    if topics.ndim == 2:
        topics = topics.argmax(axis=1)
    if topics.shape != np.shape(labels) or not topics.size:
        raise ValueError(f"one label for each document is needed: {topics.size} documents, {np.size(labels)} labels")
    rows, columns = _numbered(topics), _numbered(labels)
    cells = sp.coo_array((np.ones(rows.size), (rows, columns)), shape=(rows.max() + 1, columns.max() + 1))
    return sp.csr_array(cells.tocsr())


def _numbered(labels: Any) -> Any:
    """The labels as numbers from 0 upwards. Labels may be of any kind and need not be sortable."""
    array = np.asarray(labels)
    if array.dtype != object:
        return np.unique(array, return_inverse=True)[1].ravel()
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in array.tolist()])
