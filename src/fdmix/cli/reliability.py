"""reliability: how sure the topics of a model are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fdmix.cli.console import print_json, say, show, steps, timed
from fdmix.cli.inputs import added, in_a_sentence, moments_files
from fdmix.cli.options import AsJson, Inputs, Model, Threads, with_layout
from fdmix.cli.question_tables import columns_of_reliability
from fdmix.cli.table_files import TableFile, check_table_file, write_table
from fdmix.cli.tables import plain_table, reliability_facts, topic_facts, topic_table
from fdmix.display import shown_word
from fdmix.edits.storing import LOG
from fdmix.mixture.mixture import Mixture
from fdmix.reliability.intervals import REFITS
from fdmix.reliability.intervals import reliability as with_reliability
from fdmix.text.layouts import Layout
from fdmix.text.reading import read_corpus
from fdmix.text.sources import files_of

MOST_MISFITS = 8


@with_layout
def reliability(
    model: Model,
    inputs: Inputs,
    layout: Layout,
    refits: Annotated[int, typer.Option(min=2, help="Fits on resampled documents.")] = REFITS,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.9,
    warm: Annotated[
        bool,
        typer.Option("--warm", help="Begin refits at the model's topics: for edited models.", metavar=""),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same result.")] = 0,
    table: TableFile = None,
    threads: Threads = None,
    as_json: AsJson = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file of --table if it exists already.", metavar="")
    ] = False,
) -> None:
    """Measure how sure the topics are, and store it in the model.

    Topics are fitted again, from scratch, to resampled documents. You see which
    of them come back, how far they move, and intervals for their shares and
    words. A check says whether the word pairs look like the model at all.

    Fits from scratch would not find the topics of an edited model: --warm begins
    refits at its topics. The table then tells how much refits vary, and has no
    intervals that cover the truth.

    FILES hold the text that the model was fitted to, or its moments with
    folds (fdmix count --folds 16). fdmix topics, info and report show the
    result.

    Examples:

      fdmix reliability model reviews.csv --column text

      fdmix reliability model week.moments --refits 50 --table sure.csv
    """
    if table is not None:
        check_table_file(table, force)
    mixture = Mixture.load(model)
    if LOG in mixture.provenance and not warm:
        say("This model was edited: fits from scratch will not find what people made of its topics. See --warm.")
    counted = moments_files(inputs)
    with steps() as bars, timed() as seconds:
        data: Any = added(counted) if counted else read_corpus(files_of(inputs, layout), like=mixture)
        say(in_a_sentence(data))
        sure = with_reliability(
            mixture, data, n_refits=refits, level=level, warm=warm, seed=seed, n_threads=threads, report=bars.report
        )
        took = seconds()
    sure.save(model)
    if table is not None:
        write_table(table, columns_of_reliability(sure))
    if as_json:
        print_json({"model": str(model), **(reliability_facts(sure) or {}), "topics": topic_facts(sure)})
    else:
        topic_table(sure)
        _show_check(sure)
    say(f"{refits} refits, {took:.1f} s. Stored in {model}{'' if table is None else f', and in {table}'}.")


def _show_check(mixture: Mixture) -> None:
    """What the check of the pairs says, and the pairs that fit worst."""
    assert mixture.reliability is not None
    check = mixture.reliability.check
    show(check.verdict)
    if not check.misfits:
        return
    show("Pairs that fit worst:")
    table = plain_table()
    table.add_column("words", overflow="fold")
    table.add_column("seen / expected", justify="right", no_wrap=True)
    table.add_column("standard errors", justify="right", no_wrap=True)
    for u, v, ratio, z in check.misfits[:MOST_MISFITS]:
        words = f"{shown_word(mixture.word(u))}, {shown_word(mixture.word(v))}"
        table.add_row(words, f"{ratio:.2f}", f"{z:+.1f}")
    show(table)
