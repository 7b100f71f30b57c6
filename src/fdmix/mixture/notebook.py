"""Topics as a small HTML table, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fdmix.display import html_table, shown_words

if TYPE_CHECKING:
    from fdmix.mixture.mixture import Mixture

MAX_TOPICS = 30  # in a table; a model may have hundreds
WORDS = 8


def topics_html(mixture: Mixture) -> str:
    """The largest topics with their shares, words, and the topics they occur with."""
    order = np.argsort(-mixture.shares, kind="stable").tolist()
    words = shown_words(mixture.typical_words(WORDS))
    rows = [
        (topic, f"{mixture.shares[topic]:.1%}", words[topic], " ".join(map(str, mixture.related(topic, 2))))
        for topic in order[:MAX_TOPICS]
    ]
    more = len(order) - len(rows)
    note = f"and {more:,} smaller topics: mixture.to_frame() has them all" if more else ""
    return html_table(repr(mixture), ("topic", "share", "words", "goes with"), rows, note)
