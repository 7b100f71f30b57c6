"""What edits and updates did to a model, for people."""

from __future__ import annotations

from fdmix.cli.console import say, show
from fdmix.cli.tables import plain_table
from fdmix.display import shown_word, shown_words
from fdmix.edits import Changes
from fdmix.edits.in_words import cost_in_words
from fdmix.mixture.mixture import Mixture

MOST_LISTED = 5  # topics that moved
MOST_SHOWN = 20  # topics that edits concern


def show_topics(mixture: Mixture, changes: Changes, n_words: int = 8) -> None:
    """Print the topics that edits concern, if there are any."""
    if not changes.touched:
        return
    words = shown_words(mixture.typical_words(n_words))
    table = plain_table()
    table.add_column("topic", justify="right", style="cyan", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("label", overflow="fold", max_width=24, style="green")
    table.add_column("words", overflow="fold", min_width=24)
    for topic in changes.touched[:MOST_SHOWN]:
        label = shown_word(mixture.labels.get(topic, "-"))
        table.add_row(str(topic), f"{mixture.shares[topic]:.1%}", label, words[topic])
    show(table)


def say_changes(changes: Changes, others: str = "Other topics") -> None:
    """Say what else moved, and what it cost."""
    if changes.missing:
        say(f"Not in the model, left out: {', '.join(map(shown_word, changes.missing))}.")
    for old, new in changes.renumbered.items():
        say(f"Topic {old} is now topic {new}.")
    for word in changes.words:
        was = "" if word.rank_before is None else f" (before: {word.rank_before:,})"
        if word.wanted:
            say(f"{shown_word(word.word)} is word {word.rank:,} of topic {word.topic}{was}.")
    say(moved_in_words(changes, others))
    say(
        f"Log-likelihood of a pair: {changes.log_likelihood_before:.4f} before, {changes.log_likelihood:.4f} after "
        f"({cost_in_words(changes.cost)})."
    )


def moved_in_words(changes: Changes, others: str) -> str:
    """A sentence on the topics that moved though no edit concerns them."""
    if not changes.moved:
        return f"{others} did not move."
    listed = ", ".join(f"{topic} ({distance:.2f})" for topic, distance in changes.moved[:MOST_LISTED])
    more = f", and {len(changes.moved) - MOST_LISTED:,} more" if len(changes.moved) > MOST_LISTED else ""
    return f"{others} that moved, with the l1 distance of their words (0 to 2): {listed}{more}."
