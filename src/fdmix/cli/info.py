"""info: what a model or a file of moments holds, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.console import print_json, say, show
from fdmix.cli.count_cells import cell_facts
from fdmix.cli.inputs import is_cells, is_moments, loaded_cells
from fdmix.cli.options import AsJson
from fdmix.cli.tables import plain_table, reliability_facts
from fdmix.corpus.preparation import Preparation
from fdmix.display import for_terminal
from fdmix.metrics.identifiability import Identifiability, identifiability
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.storage.model_folder import is_model

MOST_LISTED = 20  # words of a list, such as stop words; --json gives all


def info(
    path: Annotated[Path, typer.Argument(help="A model folder or a file of moments.", metavar="PATH")],
    as_json: AsJson = False,
) -> None:
    """Show what a model or a file of moments holds, and where it comes from.

    Example: fdmix info model
    """
    known = None
    if is_model(path):
        mixture = Mixture.load(path)
        known = identifiability(mixture)
        facts = _of_model(mixture, known)
    elif is_cells(path):
        cells = loaded_cells(path)
        facts = {"kind": "moments by group"} | cell_facts(cells) | {"cleaning": _cleaning(cells.preparation)}
        facts |= {} if as_json else {"cells": f"{len(cells):,}, and {len(facts['cells']) - len(cells):,} empty ones"}
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
    if known is not None and known.warning is not None:
        say(f"Warning: {known.warning}")


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


def _of_model(mixture: Mixture, known: Identifiability) -> dict[str, Any]:
    return {
        "kind": "model",
        "topics": mixture.n_topics,
        "words": mixture.n_words,
        "active entries": int((mixture.topics > 0).sum()),
        "topics with an anchor word": known.n_anchored,
        "mean anchor slack": round(float(known.slack.mean()), 4),
        "topics without a word of their own": known.without_own_word,
        "ranking of words": _ranking(mixture),
        "reliability": reliability_facts(mixture) or "not known: fdmix reliability finds it",
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
