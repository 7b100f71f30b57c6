"""label: give names to the topics of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdmix.cli.console import say
from fdmix.cli.options import Model
from fdmix.display import shown_word
from fdmix.mixture.labels import read_labels
from fdmix.mixture.mixture import Mixture


def label(
    model: Model,
    labels: Annotated[
        Path, typer.Option("--from", help="JSON file of labels, as the report exports it.", metavar="FILE")
    ],
) -> None:
    """Store the labels of topics in the model.

    Type labels into the report, export them as JSON, and read them back here.
    fdmix topics, assign and report use them. A plain file such as
    {"17": "climate", "3": "taxes"} works, too; an empty label removes one.

    Examples:

      fdmix label model --from labels.json

      fdmix topics model
    """
    mixture = Mixture.load(model)
    if not labels.is_file():
        raise FileNotFoundError(f"there is no file {labels}")
    try:
        found = read_labels(labels.read_bytes(), mixture.topics)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{labels} cannot label {model}: {error}") from None
    named = mixture.labelled(found)
    named.save(model)
    some = ", ".join(f"{topic}: {shown_word(text)}" for topic, text in list(named.labels.items())[:3])
    told = f" ({some}{', ...' if len(named.labels) > 3 else ''})" if some else ""
    say(f"{model} has labels for {len(named.labels)} of {named.n_topics} topics{told}.")
