"""A tree of topics as text for people and as facts for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.tree import Tree as Branches

from fdmix.cli.console import show
from fdmix.display import shown_word, shown_words

if TYPE_CHECKING:
    from fdmix.tree.tree import Tree


def tree_facts(tree: Tree, n_words: int = 10, ranking: Any = None) -> list[dict[str, Any]]:
    """The merges, the first one first: their nodes, what they cost, and the share and words of the result."""
    words, shares = tree.typical_words(n_words, ranking), tree.node_shares()
    return [
        {
            "node": tree.n_topics + k,
            "merges": [int(left), int(right)],
            "topics_left": tree.n_topics - 1 - k,
            "cost": float(tree.costs[k]),
            "share": float(shares[tree.n_topics + k]),
            "words": words[tree.n_topics + k],
        }
        for k, (left, right) in enumerate(tree.merges.tolist())
    ]


def show_tree(tree: Tree, n_topics: int, n_words: int = 8, ranking: Any = None) -> None:
    """Print the tree down to the cut with n topics.

    A line for each node: its number (of a topic of the model) or the topics that it merges, its share, its words.
    Branches that merge last, and cost most, come first.
    """
    words = shown_words(tree.typical_words(n_words, ranking))
    shares, sizes = tree.node_shares(), [1] * tree.n_topics
    for left, right in tree.merges.tolist():
        sizes.append(sizes[left] + sizes[right])

    def line(node: int) -> str:
        text = f"{shares[node]:.1%} {words[node]}"
        if node < tree.n_topics:
            label = tree.mixture.labels.get(node)
            return f"topic {node}: {shown_word(label) + ', ' if label else ''}{text}"
        return f"{sizes[node]} topics, merging costs {tree.costs[node - tree.n_topics]:.4f}: {text}"

    root = 2 * tree.n_topics - 2
    branches = Branches(line(root))
    waiting = [(root, branches)]
    while waiting:
        node, branch = waiting.pop()
        # A node whose merge is among the first T - n is whole at the cut.
        if node >= tree.n_topics and node - tree.n_topics >= tree.n_topics - n_topics:
            children = sorted(tree.merges[node - tree.n_topics].tolist(), reverse=True)
            waiting += [(child, branch.add(line(child))) for child in children]
    show(branches)
