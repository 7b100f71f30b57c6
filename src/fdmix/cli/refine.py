"""refine: passes over documents that finish what the pairs began."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.console import OF_DOCUMENTS, fitting, say, say_device, steps, timed
from fdmix.cli.inputs import check_model_output
from fdmix.cli.options import (
    Device,
    Engine,
    Force,
    Inputs,
    Model,
    Threads,
    with_layout,
)
from fdmix.corpus.corpus import Corpus
from fdmix.documents.refining import little_known
from fdmix.documents.refining import refine as improved
from fdmix.engines import checked_engine
from fdmix.mixture.mixture import Mixture
from fdmix.runtime.interruption import completed, deferred_ctrl_c
from fdmix.text.files import Layout
from fdmix.text.lexicon import Lexicon
from fdmix.text.recipe import recipe_like
from fdmix.text.sources import Files, files_of
from fdmix.text.tokenising import token_batches
from fdmix.text.vocabulary_choice import word_totals


@with_layout
def refine(
    model: Model,
    inputs: Inputs,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model folder to write.")],
    layout: Layout,
    unseen: Annotated[
        Path | None,
        typer.Option(help="Held-out text that decides how far to go (default: part of the input)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same topics.")] = 0,
    engine: Engine = "auto",
    device: Device = "auto",
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Improve a model by LDA sampling over documents, until the held-out score stops improving.

    Sampling starts from the model's topics. Text is cleaned the way the model's
    text was. Ctrl-C stops and keeps the best topics so far.

    Example: fdmix refine model tweets.csv --column text -o better
    """
    check_model_output(out, force)
    checked_engine(engine, device)
    mixture = Mixture.load(model)
    say_device(engine, device)
    better: Mixture | None = None
    try:
        with deferred_ctrl_c, steps() as bars, timed() as seconds:
            corpus = _read(mixture, files_of(inputs, layout), "the text", threads, bars.report)
            held_out = None
            if unseen is not None:
                held_out = _read(mixture, files_of([unseen], layout), "the unseen text", threads, bars.report)
            told = fitting(bars, OF_DOCUMENTS)
            better = improved(
                mixture, corpus, unseen=held_out, engine=engine, device=device, seed=seed, callback=told,
                n_threads=threads,
            )  # fmt: skip
            took = seconds()
    except KeyboardInterrupt:
        pass
    if better is None or (better is mixture and mixture.n_topics > 1):
        say("Stopped before anything was improved. Nothing was written.")
        raise typer.Exit(130)
    stopped = better is not mixture and better.provenance["refined"].get("stopped")
    _, late = completed(partial(better.save, out))
    if better is mixture:
        say("A model of one topic is the unigram, which documents cannot improve.")
    ended = f": {stopped}" if stopped else ""
    say(f"Refined on {corpus.n_documents:,} documents in {took:.1f} s{ended}. Wrote {out}.")
    if stopped or late:
        raise typer.Exit(130)


def _read(mixture: Mixture, files: Files, what: str, threads: int | None, report: Any) -> Corpus:
    """The documents, cleaned as the model's were; refused, or with a warning, if the model knows little of them."""
    recipe, rows, lexicons = recipe_like(mixture), [], list[Lexicon]()
    for batch in token_batches(files, recipe.cleaning, threads, report, lexicons):
        counts, keep = recipe.counts(batch)
        rows.append(counts[keep])
    corpus = recipe.corpus(rows)
    tokens = word_totals(recipe.cleaning, lexicons)
    n_known = sum(n for word, n in tokens.items() if word in recipe.words.parts)
    if not tokens:
        raise ValueError(
            f"there is no word in {what}: {files.paths[0]} is empty, or all of it was left out in cleaning"
        )
    if not n_known:
        raise ValueError(f"the model knows no word of {what}: give text like the text that it was fitted to")
    if sentence := little_known(n_known / sum(tokens.values()), what):
        say(sentence)
    return corpus
