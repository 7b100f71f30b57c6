"""topics: the topics of a model, as a table or as a tree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fdmix.cli.console import print_json, say, steps
from fdmix.cli.inputs import check_model_output, is_moments, loaded_moments
from fdmix.cli.moments_of_model import path_of_moments
from fdmix.cli.options import AsJson, Force, Model, Ranking, Threads, ranking_of
from fdmix.cli.question_tables import columns_of_topics, columns_of_tree
from fdmix.cli.table_files import TableFile, check_table_file, write_table
from fdmix.cli.tables import hint_at_dominating_words, topic_facts, topic_table
from fdmix.cli.tree_tables import show_tree, tree_facts
from fdmix.mixture.mixture import Mixture

if TYPE_CHECKING:
    from fdmix.tree import Tree

TREE = "Tree of topics"


def topics(
    model: Model,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words of each topic.")] = 10,
    ranking: Ranking = None,
    as_json: AsJson = False,
    as_tree: Annotated[
        bool, typer.Option("--tree", help="Show which topics merge, and what it costs.", rich_help_panel=TREE)
    ] = False,
    cut: Annotated[
        int | None,
        typer.Option(min=1, help="Merge topics until N are left. With --tree: show only its top, down to N.",
                     rich_help_panel=TREE),
    ] = None,
    moments: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Moments of the text, for the costs (default: MODEL.moments beside it).",
                     rich_help_panel=TREE),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Write the model of --cut.", rich_help_panel=TREE),
    ] = None,
    table: TableFile = None,
    threads: Threads = None,
    force: Force = False,
) -> None:  # fmt: skip
    """Show the topics of a model: words, shares, and which topics occur together.

    With --tree or --cut, topics are merged two by two, the pair that costs the
    least likelihood first. The costs are computed from the moments of the text.

    Examples:

      fdmix topics model

      fdmix topics model --words 20 --json

      fdmix topics model --table topics.csv

      fdmix topics model --tree

      fdmix topics model --cut 20 --moments text.moments -o model20
    """
    chosen = ranking_of(ranking)
    moments = _moments_of_tree(model, moments, out, as_tree or cut is not None)
    if out is not None:
        if cut is None:
            raise ValueError("-o writes the model of a cut: give --cut, too")
        check_model_output(out, force)
    if table is not None:
        check_table_file(table, force)
    mixture = Mixture.load(model)
    tree = None
    if moments is not None:
        if cut is not None and cut > mixture.n_topics:
            raise ValueError(f"{model} has {mixture.n_topics} topics: --cut takes at most as many")
        from fdmix.tree import grow_tree  # noqa: PLC0415  (topics without a tree are shown sooner)

        with steps() as bars:
            tree = grow_tree(mixture, loaded_moments(moments), n_threads=threads, report=bars.report)
        _told_of_cut(tree, cut)
        if as_tree:
            _show_tree(tree, cut, words, chosen, as_json)
        mixture = tree.cut(mixture.n_topics if cut is None else cut)
    if table is not None:
        if as_tree and tree is not None:
            write_table(table, columns_of_tree(tree, words, chosen))
        else:
            write_table(table, columns_of_topics(mixture, words, chosen))
        say(f"Wrote {table}.")
    if out is not None:
        mixture.save(out)
        say(f"Wrote {out}, a model of {mixture.n_topics} topics.")
    if as_json and not as_tree:
        print_json(topic_facts(mixture, words, chosen))
    elif not as_tree:
        topic_table(mixture, words, ranking=chosen)
        hint_at_dominating_words(mixture)


def _moments_of_tree(model: Path, given: Path | None, out: Path | None, of_tree: bool) -> Path | None:
    """The file of moments that says what merges cost; None without a tree."""
    if not of_tree:
        if given is not None or out is not None:
            raise ValueError("--moments and -o belong to a tree of topics: give --tree or --cut, too")
        return None
    if given is None:
        return path_of_moments(model, None)
    if not is_moments(given):
        raise ValueError(f"{given} is not a file of moments; fdmix count writes one")
    return given


def _told_of_cut(tree: Tree, cut: int | None) -> None:
    """Say what the cut loses."""
    if cut is not None:
        lost, whole = tree.loss(cut), tree.loss(1)
        part = f", {lost / whole:.0%} of what the topics explain" if whole > 0 else ""
        say(f"{cut} of {tree.n_topics} topics lose {lost:.4f} of log-likelihood a pair of tokens{part}.")


def _show_tree(tree: Tree, cut: int | None, words: int, ranking: str | float | None, as_json: bool) -> None:
    if as_json:
        print_json(tree_facts(tree, words, ranking))
    else:
        show_tree(tree, tree.n_topics if cut is None else cut, words, ranking)
