"""Names that people give to topics, and the JSON file that carries them from the report to the model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from fdmix.storage.facts import mapping, parse_json, string

KIND = "fdmix labels"
MAX_CHARACTERS = 200  # of a label; a longer one is a description and would break tables

Labels = Mapping[int, str]


def checked_labels(labels: Mapping[Any, Any], n_topics: int) -> dict[int, str]:
    """The labels by topic, in order, with single blanks between words; "" stands for no label.

    >>> checked_labels({2: " climate  change ", 0: ""}, n_topics=3)
    {0: '', 2: 'climate change'}
    """
    found: dict[int, str] = {}
    for topic, label in labels.items():
        if isinstance(topic, bool) or not isinstance(topic, int | np.integer) or not 0 <= topic < n_topics:
            raise ValueError(f"there is no topic {topic!r} to label: topics are numbered from 0 to {n_topics - 1}")
        if not isinstance(label, str):
            raise TypeError(f"the label of topic {topic} must be a string, not {label!r}")
        text = " ".join(label.split())
        if len(text) > MAX_CHARACTERS:
            raise ValueError(f"the label of topic {topic} has {len(text):,} characters: at most {MAX_CHARACTERS}")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(f"the label of topic {topic} is not valid Unicode text: {text!r}") from None
        found[int(topic)] = text
    return dict(sorted(found.items()))


def labels_of_facts(facts: Any, n_topics: int) -> dict[int, str]:
    """The labels of a JSON object such as {"17": "climate"}, checked."""
    by_name = mapping(facts, "the labels")
    labels = {_topic(name): string(label, f"label {name[:40]!r}") for name, label in by_name.items()}
    return checked_labels(labels, n_topics)


def topics_digest(topics: Any) -> str:
    """A fingerprint of topics: labels belong to the topics that they were given to, not to their numbers."""
    return hashlib.sha256(np.ascontiguousarray(topics, np.float64).data).hexdigest()[:16]


def read_labels(text: bytes, topics: Any) -> dict[int, str]:
    """The labels in a file of the report, or in plain JSON such as {"17": "climate"}.

    A file of the report names the topics that it was made for; for others it is refused.
    """
    stated = parse_json(text)
    if isinstance(stated, dict) and stated.get("kind") == KIND:
        if stated.get("topics") != topics_digest(topics):
            raise ValueError(
                "these labels were given to the topics of another model, whose numbers mean other topics"
            )
        stated = stated.get("labels")
    return labels_of_facts(stated, len(topics))


def _topic(name: str) -> int:
    if not name.isascii() or not name.isdigit() or len(name) > 9:
        raise ValueError(f"labels are given by the number of a topic, not by {name[:40]!r}")
    return int(name)
