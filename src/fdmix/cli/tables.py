"""Topics as a table for people and as facts for programs."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.table import Table

from fdmix.cli.console import out
from fdmix.mixture import Mixture


def related(mixture: Mixture, topic: int, n: int = 3) -> list[int]:
    """The topics that occur together with this one most above chance: alpha_st / (s_s s_t)."""
    shares = np.maximum(mixture.shares, 1e-12)
    lift = mixture.correlations[topic] / (shares[topic] * shares)
    lift[topic] = -1
    return [int(t) for t in np.argsort(-lift, kind="stable")[:n] if lift[t] > 1]


def topic_facts(mixture: Mixture, n_words: int = 10) -> list[dict[str, Any]]:
    """Number, share, words with probabilities and related topics of each topic."""
    facts = []
    for number, words in enumerate(mixture.top_words(n_words)):
        best = np.argsort(-mixture.topics[number], kind="stable")[:n_words]
        facts.append(
            {
                "topic": number,
                "share": float(mixture.shares[number]),
                "words": words,
                "probabilities": [float(p) for p in mixture.topics[number, best]],
                "related": related(mixture, number),
            }
        )
    return facts


def topic_table(
    mixture: Mixture, n_words: int = 8, typical: list[str] | None = None, most: int | None = None
) -> None:
    """Print the topics, the largest first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("topic", justify="right", style="cyan", min_width=5)
    table.add_column("share", justify="right", min_width=5)
    table.add_column("words", overflow="fold", min_width=24)
    table.add_column("goes with", style="dim", min_width=5)
    if typical is not None:
        table.add_column("most typical document", style="green", overflow="ellipsis", min_width=10, max_width=44)
    words = mixture.top_words(n_words)
    order = np.argsort(-mixture.shares, kind="stable")
    for number in order[:most].tolist():
        row = [str(number), f"{mixture.shares[number]:.1%}", " ".join(words[number])]
        row.append(" ".join(map(str, related(mixture, number, 2))))
        table.add_row(*row, *([typical[number]] if typical is not None else []))
    out.print(table, soft_wrap=False)
