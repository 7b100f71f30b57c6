"""A tree of topics: merges from the topics of a mixture up to one topic, and the mixtures at its cuts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fdmix.mixture.mixture import Mixture
from fdmix.mixture.ranking import SMALLEST_TOPIC, WordRanking, relevance_weight
from fdmix.runtime.whole_numbers import whole_number

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """Merges of topics, the cheapest first, as `Mixture.tree` finds them.

    Topics are nodes 0 to T - 1. Merge k joins two nodes to node T + k, so that the last merge makes the root.

    mixture : whose topics the leaves are
    merges : (T - 1, 2), the two nodes of each merge
    costs : (T - 1,), the log-likelihood sum Mhat log M that each merge loses, after those before it
    is_sampled : whether the costs are those of a sample of the word pairs

    >>> topics = [[0.9, 0.1, 0.0, 0.0], [0.1, 0.9, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    >>> tree = Tree(Mixture(topics), np.array([[0, 1], [2, 3]]), np.array([0.1, 0.5]))
    >>> tree
    Tree(3 topics)
    >>> tree.groups(2)
    [[0, 1], [2]]
    >>> tree.cut(2).topics.tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    """

    mixture: Mixture
    merges: Integers
    costs: Floats
    is_sampled: bool = False

    def __repr__(self) -> str:
        return f"Tree({self.mixture.n_topics:,} topics)"

    @property
    def n_topics(self) -> int:
        """Number of leaves, T."""
        return self.mixture.n_topics

    def groups(self, n_topics: int) -> list[list[int]]:
        """The topics of the mixture that are together in each of n topics; groups in the order of their first one."""
        n = whole_number("n_topics", n_topics, least=1)
        if n > self.n_topics:
            raise ValueError(f"a cut has at most the {self.n_topics} topics of the model, not {n}")
        members = {t: [t] for t in range(self.n_topics)}
        for k, (left, right) in enumerate(self.merges[: self.n_topics - n].tolist()):
            members[self.n_topics + k] = sorted(members.pop(left) + members.pop(right))
        return sorted(members.values())

    def loss(self, n_topics: int) -> float:
        """The log-likelihood that the cut with n topics has lost against the mixture."""
        return float(self.costs[: self.n_topics - len(self.groups(n_topics))].sum())

    def cut(self, n_topics: int) -> Mixture:
        """The mixture with n topics: the merges up to there, in closed form.

        A merged topic is the mean of its topics, weighted by their shares. Rows and columns of alpha are added up,
        and so are the parameters of the Dirichlet prior. Topics that are not merged keep their labels.
        """
        mixture, groups = self.mixture, self.groups(n_topics)
        if len(groups) == mixture.n_topics:
            return mixture
        member = np.zeros((len(groups), mixture.n_topics))
        for number, group in enumerate(groups):
            member[number, group] = 1
        return replace(
            mixture,
            topics=_weights(member, mixture.shares) @ mixture.topics,
            correlations=member @ mixture.correlations @ member.T,
            prior=None if mixture.prior is None else member @ mixture.prior,
            labels={
                number: mixture.labels[group[0]]
                for number, group in enumerate(groups)
                if len(group) == 1 and group[0] in mixture.labels
            },
            provenance={**mixture.provenance, "cut": {"topics": len(groups), "of": mixture.n_topics}},
        )

    def node_shares(self) -> Floats:
        """(2 T - 1,), how much of the corpus each node makes up."""
        return self._added_up(self.mixture.shares[:, None])[:, 0]

    def top_columns(self, n: int = 10, ranking: Any = None) -> list[list[int]]:
        """The columns of the n words that describe each node best, without words of probability 0.

        ranking : as in `Mixture.top_words`
        """
        mixture = self.mixture
        parts = np.maximum(mixture.shares, SMALLEST_TOPIC)
        nodes = self._added_up(parts[:, None] * mixture.topics)
        nodes /= nodes.sum(axis=1, keepdims=True)
        words = WordRanking(nodes, self.node_shares(), mixture.n_tokens, mixture.shares @ mixture.topics)
        found = words.order(relevance_weight(ranking, mixture.relevance), n).tolist()
        return [[u for u in columns if node[u] > 0] for columns, node in zip(found, nodes, strict=True)]

    def typical_words(self, n: int = 10, ranking: Any = None) -> list[list[str]]:
        """The words of `top_columns` for each node: the topics of the mixture, then the merged ones."""
        return [[self.mixture.word(u) for u in columns] for columns in self.top_columns(n, ranking)]

    def _added_up(self, leaves: Floats) -> Floats:
        """A row for each node: that of a leaf, or the sum of those that it merges."""
        rows = np.concatenate([leaves, np.zeros((len(self.merges), leaves.shape[1]))])
        for k, (left, right) in enumerate(self.merges.tolist()):
            rows[self.n_topics + k] = rows[left] + rows[right]
        return rows

    def leaf_order(self) -> list[int]:
        """The topics in an order in which the members of every node are neighbours, the larger branch first."""
        shares = self.node_shares()
        members = {t: [t] for t in range(self.n_topics)}
        for k, (left, right) in enumerate(self.merges.tolist()):
            first, second = (left, right) if shares[left] >= shares[right] else (right, left)
            members[self.n_topics + k] = members.pop(first) + members.pop(second)
        return next(iter(members.values()))


def _weights(member: Floats, shares: Floats) -> Floats:
    """Each topic's part of its group, in proportion to the shares; equal parts in a group without any share."""
    weighted = member * shares
    total = weighted.sum(axis=1, keepdims=True)
    even = member / member.sum(axis=1, keepdims=True)
    return np.where(total > 0, weighted / np.where(total > 0, total, 1), even)
