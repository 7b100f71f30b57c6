"""assign, evaluate: topics of documents, and how well a model explains them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix import metrics
from fdmix.cli.console import out as console
from fdmix.cli.console import print_json, say, steps, timed
from fdmix.cli.inputs import check_place
from fdmix.cli.options import AsJson, Column, Encoding, Inputs, Model, Split, Threads
from fdmix.cli.rows import writer
from fdmix.mixture import Mixture
from fdmix.text.files import Layout
from fdmix.text.reading import read_corpus, recipe_of
from fdmix.text.sources import files_of
from fdmix.text.spool import token_batches

Prior = Annotated[str, typer.Option(help="none (most likely topics) or dirichlet (posterior mean).")]


def assign(
    model: Model,
    inputs: Inputs,
    out: Annotated[str, typer.Option("--out", "-o", help="File: .parquet, .csv or .jsonl; - prints CSV.")] = "-",
    column: Column = None,
    id: Annotated[str | None, typer.Option("--id", help="Column to copy into the result, such as a key.")] = None,
    split: Split = None,
    encoding: Encoding = None,
    prior: Prior = "none",
    threads: Threads = None,
) -> None:
    """Find the topics of documents: a row for each, with the share of every topic.

    Text is cleaned the way the model's text was.

    Examples:

      fdmix assign model new.csv --column text -o theta.parquet

      echo "cats chase mice" | fdmix assign model -
    """
    if out != "-":
        check_place(Path(out))
    mixture = Mixture.load(model)
    chosen = _prior(prior)
    kept = (("id", id),) if id else ()
    source = files_of(inputs, Layout(column, kept, split, encoding))
    recipe = recipe_of(mixture, steps={"min_tokens": 0})
    n_documents = n_unknown = 0
    if out != "-" and Path(out).exists() and any(Path(p).exists() and Path(out).samefile(p) for p in source.paths):
        raise FileExistsError(f"{out} is an input: give another name for the result")
    known = "id" if kept else ("file" if source.per_file else "")
    with steps() as bars, timed() as seconds, writer(out, mixture.n_topics, bool(known)) as write:
        for batch in token_batches(source, recipe.cleaning, threads, bars.report):
            found = mixture.assignment(recipe.corpus([recipe.counts(batch)[0]]), chosen, n_threads=threads)
            write(n_documents, batch.kept[known] if known else None, found.theta)
            n_documents += len(found.theta)
            n_unknown += found.n_empty
        took = seconds()
    if n_unknown:
        say(f"{n_unknown:,} documents have no word that the model knows: they got the average topics.")
    say(f"{n_documents:,} documents in {took:.1f} s" + ("." if out == "-" else f". Wrote {out}."))


def evaluate(
    model: Model,
    inputs: Inputs,
    column: Column = None,
    split: Split = None,
    encoding: Encoding = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Score a model on documents it was not fitted to.

    Likelihoods are means per token. Compare models by completion with the Dirichlet prior.

    Example: fdmix evaluate model test.csv --column text
    """
    mixture = Mixture.load(model)
    source = files_of(inputs, Layout(column, (), split, encoding))
    with steps() as bars:
        corpus = read_corpus(source, like=mixture, report=bars.report, n_threads=threads)
    facts: dict[str, Any] = {
        "documents": corpus.n_documents,
        "tokens": corpus.n_tokens,
        "hold-out log-likelihood": metrics.holdout_log_likelihood(mixture, corpus).mean,
        "completion log-likelihood, most likely topics": metrics.completion_log_likelihood(mixture, corpus).mean,
        "completion log-likelihood, Dirichlet prior": metrics.completion_log_likelihood(
            mixture, corpus, prior="dirichlet"
        ).mean,
        "coherence (NPMI)": metrics.coherence(mixture, corpus).mean,
        "diversity": metrics.diversity(mixture),
    }
    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        console.print(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value:.4f}", markup=False)


def _prior(name: str) -> str | None:
    if name not in ("none", "dirichlet"):
        raise ValueError(f"--prior is none or dirichlet, not {name!r}")
    return None if name == "none" else name
