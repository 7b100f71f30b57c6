"""topics, info: what a model or a file of moments holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.console import out, print_json
from fdmix.cli.counting import facts_of
from fdmix.cli.inputs import is_moments
from fdmix.cli.options import AsJson, Model
from fdmix.cli.tables import topic_facts, topic_table
from fdmix.mixture import Mixture
from fdmix.model_folder import is_model
from fdmix.moments import Moments
from fdmix.preparation import Preparation


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
    for name, value in facts.items():
        shown = "; ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        out.print(f"[bold]{name}[/bold]  ", end="")
        out.print(f"{shown:,}" if isinstance(shown, int) else str(shown), markup=False)


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
