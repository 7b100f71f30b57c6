"""Columns of tables for files: topics and how sure they are, merges of a tree, topics before and after edits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fdmix.cli.tables import topic_facts
from fdmix.cli.tree_tables import tree_facts
from fdmix.mixture.mixture import Mixture

if TYPE_CHECKING:
    from fdmix.edits.before_after import OneSide, TopicChange
    from fdmix.tree.tree import Tree


def columns_of_topics(mixture: Mixture, n_words: int, ranking: Any = None) -> dict[str, Any]:
    """A row for each topic: its number, share, label, words, and how sure it is, if that is known."""
    facts = topic_facts(mixture, n_words, ranking)
    columns: dict[str, Any] = {
        "topic": [row["topic"] for row in facts],
        "label": [mixture.labels.get(row["topic"], "") for row in facts],
        "share": [row["share"] for row in facts],
    }
    sure = mixture.reliability
    if sure is not None:
        columns |= {"share_low": sure.shares[:, 0], "share_high": sure.shares[:, 1]}
        columns |= {"returned": sure.returned, "moved": sure.moved}
    return columns | {"words": [" ".join(row["words"]) for row in facts]}


def columns_of_reliability(mixture: Mixture) -> dict[str, Any]:
    """A row for each topic and top word: the topic's share and the word's probability, with intervals."""
    sure = mixture.reliability
    assert sure is not None
    n_topics, n_words = sure.words.shape
    topic = [t for t in range(n_topics) for _ in range(n_words)]
    words = sure.words.ravel().tolist()
    return {
        "topic": topic,
        "share": mixture.shares[topic],
        "share_low": sure.shares[topic, 0],
        "share_high": sure.shares[topic, 1],
        "returned": sure.returned[topic],
        "moved": sure.moved[topic],
        "word": [mixture.word(u) for u in words],
        "probability": mixture.topics[topic, words],
        "probability_low": sure.probabilities[..., 0].ravel(),
        "probability_high": sure.probabilities[..., 1].ravel(),
        "kept": sure.kept.ravel(),
    }


def columns_of_tree(tree: Tree, n_words: int, ranking: Any = None) -> dict[str, Any]:
    """A row for each merge, the first one first."""
    facts = tree_facts(tree, n_words, ranking)
    both = [row["merges"] for row in facts]
    columns: dict[str, Any] = {"left": [left for left, _ in both], "right": [right for _, right in both]}
    named = {name: [row[name] for row in facts] for name in ("node", "topics_left", "cost", "share")}
    return columns | named | {"words": [" ".join(row["words"]) for row in facts]}


def columns_of_changes(topics: tuple[TopicChange, ...]) -> dict[str, Any]:
    """A row for each topic that edits changed: number, label, share and words before and after."""
    columns: dict[str, Any] = {"role": [change.role for change in topics]}
    for name, sides in {"before": [c.before for c in topics], "after": [c.after for c in topics]}.items():
        columns |= {
            f"{what}_{name}": [None if side is None else _value(side, what) for side in sides]
            for what in ("number", "label", "share", "words")
        }
    return columns | {"distance": [change.distance for change in topics]}


def _value(side: OneSide, what: str) -> Any:
    """A field of one side; words as one text."""
    return " ".join(side.words) if what == "words" else getattr(side, what)
