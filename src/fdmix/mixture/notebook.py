"""Topics as a small HTML table, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fdmix.display import html_table, shown_word, shown_words

if TYPE_CHECKING:
    from fdmix.mixture.mixture import Mixture

MAX_TOPICS = 30  # in a table; a model may have hundreds
WORDS = 8


def topics_html(mixture: Mixture) -> str:
    """The largest topics with their shares, labels if any topic has one, words, and the topics they occur with."""
    order = np.argsort(-mixture.shares, kind="stable").tolist()
    words = shown_words(mixture.typical_words(WORDS))
    rows = []
    for topic in order[:MAX_TOPICS]:
        label = [shown_word(mixture.labels[topic]) if topic in mixture.labels else ""] if mixture.labels else []
        near = " ".join(map(str, mixture.related(topic, 2)))
        rows.append((topic, f"{mixture.shares[topic]:.1%}", *label, words[topic], near))
    more = len(order) - len(rows)
    note = f"and {more:,} smaller topics: mixture.to_frame() has them all" if more else ""
    headers = ("topic", "share", *(["label"] if mixture.labels else []), "words", "goes with")
    return html_table(repr(mixture), headers, rows, note)
