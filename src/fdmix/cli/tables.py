"""Topics as a table for people and as facts for programs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from rich.table import Table

from fdmix.cli.console import out, say, show
from fdmix.display import for_terminal, shown_word, shown_words
from fdmix.metrics import dominating_words
from fdmix.mixture.mixture import Mixture

STOP_WORD = re.compile(r"\w[\w’-]*")  # what can be typed after --add-stop-words as it is
MOST_HINTED = 12
LABEL_WIDTH = 24  # columns of a terminal; longer labels are folded


def topic_facts(mixture: Mixture, n_words: int = 10, ranking: Any = None) -> list[dict[str, Any]]:
    """Number, share, words with probabilities and related topics of each topic."""
    facts = []
    for number, top in enumerate(mixture.top_columns(n_words, ranking)):
        words = [u for u in top.tolist() if mixture.topics[number, u] > 0]
        facts.append(
            {
                "topic": number,
                **({"label": mixture.labels.get(number)} if mixture.labels else {}),
                "share": float(mixture.shares[number]),
                **_sureness(mixture, number),
                "words": [mixture.word(u) for u in words],
                "probabilities": [float(mixture.topics[number, u]) for u in words],
                "related": mixture.related(number),
            }
        )
    return facts


def _sureness(mixture: Mixture, topic: int) -> dict[str, Any]:
    """How sure a topic is, if it is known."""
    sure = mixture.reliability
    if sure is None:
        return {}
    returned, moved = float(sure.returned[topic]), float(sure.moved[topic])
    return {"share_interval": sure.shares[topic].tolist(), "returned": returned, "moved": moved}


def reliability_facts(mixture: Mixture) -> dict[str, Any] | None:
    """How sure the topics of a model are, on the whole; None if it is not known."""
    sure = mixture.reliability
    if sure is None:
        return None
    words = [
        [mixture.word(u), mixture.word(v), round(ratio, 3), round(z, 1)] for u, v, ratio, z in sure.check.misfits
    ]
    return {
        "intervals": "variation between warm refits" if sure.warm else sure.name_of_intervals,
        "level of intervals": sure.level,
        "refits": sure.n_refits,
        "folds": sure.n_folds,
        "topics that come back in 9 of 10 refits": int((sure.returned >= 0.9).sum()),
        "mean distance that topics move": round(float(sure.moved.mean()), 4),
        "check of pairs": sure.check.verdict,
        "residuals over sampling noise": round(sure.check.excess, 4),
        "pairs that fit worst": words,
    }


def topic_table(
    mixture: Mixture,
    n_words: int = 8,
    typical: list[str] | None = None,
    most: int | None = None,
    ranking: Any = None,
) -> None:
    """Print the topics, the largest first."""
    order = np.argsort(-mixture.shares, kind="stable")[:most].tolist()
    words = shown_words(mixture.typical_words(n_words, ranking))
    near = [" ".join(map(str, mixture.related(number, 2))) for number in range(mixture.n_topics)]
    table = plain_table()
    table.add_column("topic", justify="right", style="cyan", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    sure = mixture.reliability
    if sure is not None:
        table.add_column(sure.name_of_intervals, justify="right", no_wrap=True, style="dim")
        table.add_column("comes back", justify="right", no_wrap=True)
    if mixture.labels:
        table.add_column("label", overflow="fold", max_width=LABEL_WIDTH, style="green")
    table.add_column("words", overflow="fold", min_width=24)
    if any(near[number] for number in order):
        table.add_column("goes with", style="dim", no_wrap=True)
    if typical is not None:
        table.add_column("typical document", style="green", no_wrap=True)
    for number in order:
        row = [str(number), f"{mixture.shares[number]:.1%}"]
        if sure is not None:
            low, high = sure.shares[number]
            row += [f"{100 * low:.1f}-{high:.1%}", f"{sure.returned[number]:.0%}"]
        row += [shown_word(mixture.labels.get(number, "-"))] if mixture.labels else []
        row += [words[number]]
        row += [near[number]] if any(near[number] for number in order) else []
        row += [] if typical is None else [_cut(for_terminal(typical[number]), 3 * out.width // 10)]
        table.add_row(*row)
    show(table)


def _cut(text: str, most: int) -> str:
    """A name with its middle left out: the package and the function say more than the modules between them."""
    return text if len(text) <= most else f"{text[: most // 3]}…{text[len(text) - (most - most // 3 - 1) :]}"


def plain_table(**settings: Any) -> Table:
    """A table without lines around its cells."""
    return Table(box=None, pad_edge=False, header_style="bold", **settings)


def hint_at_dominating_words(mixture: Mixture) -> None:
    """Say which words are on top of most topics, and how to leave them out."""
    words = dominating_words(mixture)[:MOST_HINTED] if mixture.vocabulary is not None else []
    if not words:
        return
    preparation = mixture.preparation
    shown = [word if preparation is None else preparation.shown(word) for word in words]
    forms = [form for word in words for form in ((preparation and preparation.forms.get(word)) or [word])]
    typed = ",".join(form for form in forms if STOP_WORD.fullmatch(form))
    advice = f" To leave them out, read the text again with --add-stop-words {typed}" if typed else ""
    say(
        "These words are among the 10 most probable of at least half of the topics and do not tell topics apart: "
        f"{', '.join(map(shown_word, shown))}.{advice}"
    )
