"""info: what a model or a file of moments holds, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.console import print_json, show
from fdmix.cli.inputs import is_moments
from fdmix.cli.options import AsJson
from fdmix.cli.tables import plain_table
from fdmix.corpus.preparation import Preparation
from fdmix.display import for_terminal
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.storage.model_folder import is_model

MOST_LISTED = 20  # words of a list, such as stop words; --json gives all


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
        "ranking of words": _ranking(mixture),
        "provenance": dict(mixture.provenance),
        "cleaning": _cleaning(mixture.preparation),
    }


def facts_of(moments: Moments) -> dict[str, Any]:
    """What moments hold, for JSON and `info`."""
    return {
        "documents": moments.n_documents,
        "skipped (under two tokens)": moments.n_skipped,
        "words": moments.n_words,
        "tokens": moments.n_tokens,
        "pairs": moments.n_pairs,
        "weighting": moments.weighting,
        "folds": len(moments.folds),
        "vocabulary": "open" if moments.is_open else "closed",
        "sha256": moments.checksum(),
        **moments.ledger.facts(),
    }


def _of_moments(moments: Moments) -> dict[str, Any]:
    return {"kind": "moments"} | facts_of(moments) | {"cleaning": _cleaning(moments.preparation)}


def _ranking(mixture: Mixture) -> str:
    if mixture.relevance is None:
        return "probability"
    return f"relevance, in which probability has the weight {mixture.relevance:g}"


def _cleaning(preparation: Preparation | None) -> Any:
    return "unknown" if preparation is None else preparation.cleaning.facts()
