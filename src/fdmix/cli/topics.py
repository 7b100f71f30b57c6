"""topics: the topics of a model, as a table."""

from __future__ import annotations

from typing import Annotated

import typer

from fdmix.cli.console import print_json
from fdmix.cli.options import AsJson, Model, Ranking, ranking_of
from fdmix.cli.tables import hint_at_dominating_words, topic_facts, topic_table
from fdmix.mixture.mixture import Mixture


def topics(
    model: Model,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words of each topic.")] = 10,
    ranking: Ranking = None,
    as_json: AsJson = False,
) -> None:
    """Show the topics of a model: words, shares, and which topics occur together.

    Examples:

      fdmix topics model

      fdmix topics model --words 20 --json

      fdmix topics model --ranking probability
    """
    chosen = ranking_of(ranking)
    mixture = Mixture.load(model)
    if as_json:
        print_json(topic_facts(mixture, words, chosen))
    else:
        topic_table(mixture, words, ranking=chosen)
        hint_at_dominating_words(mixture)
