"""Shares over time and groups as tables for people."""

from __future__ import annotations

from typing import Any

import numpy as np

from fdmix.cells.grouping import shown_key
from fdmix.cli.console import say, show
from fdmix.cli.count_cells import shown_labels
from fdmix.cli.tables import plain_table
from fdmix.display import for_terminal, shown_word, shown_words
from fdmix.mixture.mixture import Mixture

N_WORDS = 5  # of a topic
MAX_CHANGES = 6  # words of a topic that rise, and that fall
MAX_TOPICS = 40  # in a table for people; files and --json have all


def _topic_table(mixture: Mixture, *columns: str) -> tuple[Any, list[str]]:
    """(a table that begins with the number of a topic and its words, the words of all topics)."""
    table = plain_table()
    table.add_column("topic", justify="right", style="cyan", no_wrap=True)
    table.add_column("words", overflow="fold", min_width=18)
    for name in columns:
        table.add_column(for_terminal(name), justify="right", no_wrap=len(name) < 24, overflow="fold")
    named = [[mixture.labels[t]] if t in mixture.labels else words for t, words in enumerate(_words(mixture))]
    return table, shown_words(named)


def _words(mixture: Mixture) -> list[list[str]]:
    return mixture.typical_words(N_WORDS)


def show_cells(mixture: Mixture, shares: Any) -> None:
    """A row for each topic and a column for each cell, for a few cells."""
    table, words = _topic_table(mixture, *(", ".join(shown_labels(key)) for key in shares.keys))
    for t in np.argsort(-shares.whole, kind="stable")[:MAX_TOPICS].tolist():
        cells = [_share(*each) for each in zip(shares.shares[:, t], shares.low[:, t], shares.high[:, t], strict=True)]
        table.add_row(str(t), words[t], *cells)
    show(table)
    _say_rest(shares)


def show_summary(mixture: Mixture, shares: Any) -> None:
    """A row for each topic: its share, and the cells where it is smallest and largest; the most variable first."""
    table, words = _topic_table(mixture, "share", "lowest", "highest")
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.nanstd(shares.estimates, axis=0) / np.nanmean(shares.errors, axis=0)
    for t in np.argsort(-np.nan_to_num(spread), kind="stable")[:MAX_TOPICS].tolist():
        ends = [int(pick(shares.shares[:, t])) for pick in (np.nanargmin, np.nanargmax)]
        shown = [f"{shares.shares[c, t]:.1%} ({shown_word(shown_key(shares.keys[c]))})" for c in ends]
        table.add_row(str(t), words[t], f"{shares.whole[t]:.1%}", *shown)
    show(table)
    _say_rest(shares, "Topics that vary most, compared with their errors, come first. ")


def show_topic(mixture: Mixture, shares: Any, topic: int) -> None:
    """A row for each cell: documents, share, interval and lift of one topic."""
    say(f"Topic {topic}: {', '.join(map(shown_word, _words(mixture)[topic]))}")
    table = plain_table()
    for axis in shares.axes:
        table.add_column(for_terminal(str(axis)), overflow="fold", no_wrap=axis.is_ordered)
    for name in ("documents", "share", f"{shares.level:.0%} interval", "lift"):
        table.add_column(name, justify="right", no_wrap=True)
    for c, key in enumerate(shares.keys):
        share, low, high, lift = (each[c, topic] for each in (shares.shares, shares.low, shares.high, shares.lifts))
        shown = ["-"] * 3 if np.isnan(share) else [f"{share:.1%}", f"{low:.1%} to {high:.1%}", f"{lift:.2f}"]
        table.add_row(*shown_labels(key), f"{shares.documents[c]:,}", *shown)
    show(table)


def show_trends(mixture: Mixture, shares: Any) -> None:
    """A row for each group and topic, the surest trends first."""
    found = shares.trends()
    groups = [str(axis) for axis in shares.axes if not axis.is_ordered]
    unit = next(axis.bin for axis in shares.axes if axis.is_ordered)
    table, words = _topic_table(mixture, *groups, f"change a {unit}", f"{shares.level:.0%} interval", "q")
    for row in np.argsort(found["q"], kind="stable")[:MAX_TOPICS].tolist():
        t = int(found["topic"][row])
        labels = shown_labels(tuple(found[name][row] for name in groups))
        numbers = [f"{100 * found[name][row]:+.3f}" for name in ("slope", "low", "high")]
        table.add_row(str(t), words[t], *labels, numbers[0], f"{numbers[1]} to {numbers[2]}", _q(found["q"][row]))
    show(table)
    say(f"Changes are in percentage points. q < 0.05: {_count(found['q'])}.")


def show_differences(mixture: Mixture, found: Any, a: str, b: str) -> None:
    """A row for each topic, the surest differences first."""
    table, words = _topic_table(mixture, a, b, "difference", f"{found.level:.0%} interval", "q")
    for t in np.argsort(found.q, kind="stable")[:MAX_TOPICS].tolist():
        numbers = [f"{100 * each[t]:+.2f}" for each in (found.differences, found.low, found.high)]
        table.add_row(
            str(t), words[t], f"{found.shares_a[t]:.1%}", f"{found.shares_b[t]:.1%}",
            numbers[0], f"{numbers[1]} to {numbers[2]}", _q(found.q[t]),
        )  # fmt: skip
    show(table)
    say(f"Differences are in percentage points. q < 0.05: {_count(found.q)}.")


def show_effects(mixture: Mixture, found: Any) -> None:
    """A row for each topic and term except the intercept, the surest effects first."""
    table, words = _topic_table(mixture, "term", "effect", f"{found.level:.0%} interval", "q")
    terms = [k for k, term in enumerate(found.terms) if term != "Intercept"]
    rows = sorted(((found.q[k, t], k, t) for k in terms for t in range(mixture.n_topics)), key=lambda row: row[0])
    for q, k, t in rows[:MAX_TOPICS]:
        numbers = [f"{100 * each[k, t]:+.2f}" for each in (found.estimates, found.low, found.high)]
        term = for_terminal(found.terms[k])
        table.add_row(str(t), words[t], term, numbers[0], f"{numbers[1]} to {numbers[2]}", _q(q))
    show(table)
    hidden = len(rows) - MAX_TOPICS
    more = f" {hidden:,} more rows are in --json and in files of -o." if hidden > 0 else ""
    left_out = f", {found.n_left_out:,} left out" if found.n_left_out else ""
    say(
        f"Effects are in percentage points of a document. q < 0.05: {_count([q for q, _, _ in rows])}. "
        f"{found.n_documents:,} documents{left_out}.{more}"
    )


def show_words(mixture: Mixture, changes: Any, topic: int | None) -> None:
    """The words of each topic that rise and fall: over time, or in each cell if there is no calendar."""
    columns = changes.cells if changes.trend is None else changes.trend
    if not len(columns["word"]):
        say("No word rises or falls within its topic further than chance allows.")
        return
    axes = [] if changes.trend is not None else list(columns)[: list(columns).index("topic")]
    lists: dict[tuple[Any, ...], tuple[list[str], list[str]]] = {}
    rows = zip(columns["topic"].tolist(), columns["word"], columns["z"].tolist(), strict=True)
    for row, (t, word, z) in enumerate(rows):
        if topic is None or t == topic:
            key = (t, *(columns[axis][row] for axis in axes))
            lists.setdefault(key, ([], []))[0 if z > 0 else 1].append(word)
    table, words = _topic_table(mixture, *axes)
    for name in ("rises", "falls"):
        table.add_column(name, overflow="fold", min_width=14)
    for (t, *labels), (up, down) in list(lists.items())[:MAX_TOPICS]:
        shown = shown_words([up[:MAX_CHANGES], down[::-1][:MAX_CHANGES]])
        table.add_row(str(t), words[t], *shown_labels(tuple(labels)), *shown)
    show(table)


def _share(share: float, low: float, high: float) -> str:
    return "-" if np.isnan(share) else f"{share:.1%} ±{100 * (high - low) / 2:.1f}"


def _q(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _count(q: Any) -> str:
    return f"{int((np.asarray(q) < 0.05).sum()):,} of {len(q):,}"


def _say_rest(shares: Any, before: str = "") -> None:
    hidden = shares.n_topics - MAX_TOPICS
    more = f" {hidden:,} more topics are in --json and in files of -o." if hidden > 0 else ""
    empty = int((shares.documents == 0).sum())
    gaps = f" {empty:,} of {len(shares.keys):,} cells have no documents." if empty else ""
    say(f"{before}± and intervals: {shares.level:.0%}.{gaps}{more}")
