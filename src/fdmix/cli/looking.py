"""topics, info: what a model or a file of moments holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.console import print_json, show
from fdmix.cli.counting import facts_of
from fdmix.cli.inputs import is_moments
from fdmix.cli.options import AsJson, Model
from fdmix.cli.tables import hint_at_dominating_words, plain_table, topic_facts, topic_table
from fdmix.corpus.preparation import Preparation
from fdmix.display import for_terminal
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.storage.model_folder import is_model

MOST_LISTED = 20  # words of a list, such as stop words; --json gives all


def topics(
    model: Model,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words of each topic.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show the topics of a model: words, shares, and which topics occur together.

    Examples:

      fdmix topics model

      fdmix topics model --words 20 --json
    """
    mixture = Mixture.load(model)
    if as_json:
        print_json(topic_facts(mixture, words))
    else:
        topic_table(mixture, words)
        hint_at_dominating_words(mixture)


def info(
    path: Annotated[Path, typer.Argument(help="A model folder or a file of moments.")], as_json: AsJson = False
) -> None:
    """Say what a model or a file of moments holds, and where it comes from.

    Example: fdmix info model
    """
    if is_model(path):
        facts = _of_model(Mixture.load(path))
    elif is_moments(path):
        facts = _of_moments(Moments.load(path))
    elif not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}")
    else:
        raise ValueError(f"{path} is neither a model folder nor a file of moments")
    if as_json:
        print_json(facts)
        return
    table = plain_table(show_header=False)
    table.add_column(style="bold", overflow="fold")
    table.add_column(overflow="fold")
    for name, value in _listed(facts | ({"sources": _sources(facts["sources"])} if "sources" in facts else {})):
        table.add_row(name, value)
    show(table)


def _listed(facts: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, str]]:
    """Names and values as people read them; what belongs to a name is indented below it."""
    for name, value in facts.items():
        label = "  " * depth + for_terminal(str(name))
        if isinstance(value, Mapping) and value:
            yield label, ""
            yield from _listed(value, depth + 1)
        else:
            yield label, _as_text(value)


def _sources(sources: Mapping[str, tuple[str, int, int]]) -> list[str]:
    """What was read, as people say it; a number of times only where it is not once."""
    return [
        f"{name} ({documents:,} documents{'' if times == 1 else ', removed' if times < 0 else f', {times} times'})"
        for name, documents, times in sorted(sources.values())
    ]


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ({}, [], ()):
        return "none"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        more = f" and {len(value) - MOST_LISTED:,} more" if len(value) > MOST_LISTED else ""
        return ", ".join(for_terminal(str(item)) for item in value[:MOST_LISTED]) + more
    return for_terminal(str(value))


def _of_model(mixture: Mixture) -> dict[str, Any]:
    return {
        "kind": "model",
        "topics": mixture.n_topics,
        "words": mixture.n_words,
        "active entries": int((mixture.topics > 0).sum()),
        "provenance": dict(mixture.provenance),
        "cleaning": _cleaning(mixture.preparation),
    }


def _of_moments(moments: Moments) -> dict[str, Any]:
    return {"kind": "moments"} | facts_of(moments) | {"cleaning": _cleaning(moments.preparation)}


def _cleaning(preparation: Preparation | None) -> Any:
    return "unknown" if preparation is None else preparation.cleaning.facts()
