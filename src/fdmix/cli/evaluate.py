"""evaluate: how well models explain documents, how readable their topics are, how well they agree with labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from fdmix import metrics
from fdmix.cli.console import print_json, say, say_device, show, steps
from fdmix.cli.evaluate_coherence import MoreCoherence, names_of
from fdmix.cli.inputs import is_moments, loaded_moments
from fdmix.cli.options import (
    AsJson,
    Device,
    DocumentEngine,
    Ranking,
    Threads,
    ranking_of,
    with_layout,
)
from fdmix.cli.tables import plain_table
from fdmix.corpus.corpus import Corpus
from fdmix.display import for_terminal, shown_words
from fdmix.mixture.assignment import document_device
from fdmix.mixture.mixture import Mixture
from fdmix.mixture.ranking import relevance_weight
from fdmix.moments.moments import Moments
from fdmix.storage.model_folder import is_model
from fdmix.text.files import STDIN, Layout, kind_of
from fdmix.text.reading import read_corpus
from fdmix.text.sources import Files, files_of

NO_TOPIC = -1
OWN_DOCUMENTS = (
    "Coherence was measured on the scored documents themselves: on a few thousand documents it is unstable, and on "
    "documents that a model was fitted to it is too high. Give --reference, a large text or its moments, for a "
    "coherence that can be compared."
)
OTHER_WORDS = (
    "The models have different words, and a likelihood counts only the words that a model has: compare likelihoods "
    "between models with the same words."
)


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A model, the name it was given by, its scores by name, and the coherence of its topics."""

    name: str
    mixture: Mixture
    scores: dict[str, Any]
    coherence: Any


@with_layout
def evaluate(
    given: Annotated[
        list[str],
        typer.Argument(metavar="MODEL... INPUT...", help="Model folders, and text: files, folders, globs or -."),
    ],
    layout: Layout,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column of labels that people gave: purity, NMI, AMI and FMI of the main topics."
        ),
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Large text or moments to measure coherence on (default: the input)."),
    ] = None,
    coherence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Other kinds of coherence: c_v and c_npmi (as in gensim; the text is read again), embedding (word "
            "vectors from the text's word pairs).",
        ),
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Word vectors for embedding coherence: word2vec or GloVe text, also .gz."),
    ] = None,
    per_topic: Annotated[bool, typer.Option("--per-topic", help="Show the coherence of each topic.")] = False,
    ranking: Ranking = None,
    engine: DocumentEngine = "auto",
    device: Device = "auto",
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Score models on documents they were not fitted to.

    Likelihoods are means over documents of the log-probability of a token.
    Coherence and diversity are those of the ten words that `fdmix topics` shows.
    Compare models by completion with the Dirichlet prior. With --labels, a
    document's topic is the largest one under that prior; documents without a
    known word are a group of their own. With --json, one model gives an object,
    several give a list.

    Examples:

      fdmix evaluate model test.csv --column text

      fdmix evaluate model50 model100 test.csv --column text --labels section

      fdmix evaluate model test.csv --column text --reference wiki.moments

      fdmix evaluate model test.csv --column text --coherence c_v,c_npmi
    """
    models, inputs = _models_and_inputs(given)
    document_device(engine, device)  # refuses what is not there before anything is read
    where = {"engine": engine, "device": device}
    source = files_of(inputs, replace(layout, kept=(("label", labels),) if labels else ()))
    if len(models) > 1 and STDIN in source.paths:
        raise ValueError("standard input can be read only once: to compare several models give a file")
    elsewhere = None
    if reference is not None and not is_moments(reference):
        elsewhere = _reference_files(reference, layout)
    more = MoreCoherence(names_of(coherence), vectors, source if reference is None else elsewhere)
    words_by = ranking_of(ranking)
    mixtures = [Mixture.load(model) for model in models]
    if words_by is not None:
        mixtures = [replace(mixture, relevance=relevance_weight(words_by, mixture.relevance)) for mixture in mixtures]
    referred = None if reference is None else _reference(reference, elsewhere)
    results = []
    say_device(engine, device)
    with steps() as bars:
        for name, mixture in zip(models, mixtures, strict=True):
            corpus = read_corpus(source, like=mixture, report=bars.report, n_threads=threads)
            measured_on = corpus if referred is None else referred(mixture)
            npmi = _coherence(mixture, measured_on, may_be_short=referred is None)
            scores = _scores(mixture, corpus, where) | {"coherence (NPMI)": _mean(npmi)}
            scores |= more.scores(mixture, measured_on, threads)
            scores |= _agreement(mixture, corpus, labels, where) if labels else {}
            results.append(Evaluated(name, mixture, scores, npmi))
    if as_json:
        facts = [_facts(result, reference, per_topic) for result in results]
        print_json(facts[0] if len(facts) == 1 else facts)
        return
    _print_scores(results)
    if per_topic:
        _print_topics(results)
    say(OWN_DOCUMENTS if reference is None else f"Coherence was measured on {reference}.")
    for result in results:
        if (warning := metrics.identifiability(result.mixture).warning) is not None:
            say(f"{result.name}: {warning}")
    if any(mixture.vocabulary != mixtures[0].vocabulary for mixture in mixtures):
        say(OTHER_WORDS)


def _models_and_inputs(given: list[str]) -> tuple[list[str], list[str]]:
    """Folders that hold a model, in the order given, and everything else."""
    models = list(dict.fromkeys(name for name in given if is_model(name)))
    inputs = [name for name in given if not is_model(name)]
    if not models:
        Mixture.load(given[0])  # which says what is wrong with it
    if not inputs:
        raise ValueError("there is no text to score on: give it after the model, fdmix evaluate MODEL INPUT")
    return models, inputs


def _reference_files(path: Path, layout: Layout) -> Files:
    return files_of([path], replace(layout, column=None) if kind_of(path) in ("text", "page") else layout)


def _reference(path: Path, files: Files | None) -> Callable[[Mixture], Corpus | Moments]:
    """What gives the reference for a mixture: moments as they are, or text with the mixture's words and cleaning."""
    if files is None:
        moments = loaded_moments(path)
        return lambda _: moments
    return lambda mixture: read_corpus(files, like=mixture)


def _scores(mixture: Mixture, corpus: Corpus, where: dict[str, Any]) -> dict[str, Any]:
    """The scores of topics and documents; `where`: the engine and device for the documents."""

    def completion(prior: str | None) -> float:
        return metrics.completion_log_likelihood(mixture, corpus, prior, **where).mean

    return {
        "documents": corpus.n_documents,
        "tokens": corpus.n_tokens,
        "hold-out log-likelihood": metrics.holdout_log_likelihood(mixture, corpus, **where).mean,
        "completion log-likelihood, most likely topics": completion(None),
        "completion log-likelihood, Dirichlet prior": completion("dirichlet"),
        "diversity": metrics.diversity(mixture, 10, ranking=None),
        "inverted rank-biased overlap (IRBO)": _overlap(mixture),
        "anchor slack, mean": float(metrics.identifiability(mixture).slack.mean()),
    }


def _overlap(mixture: Mixture) -> float:
    return metrics.inverted_rank_biased_overlap(mixture) if mixture.n_topics > 1 else float("nan")


def _coherence(mixture: Mixture, reference: Corpus | Moments, *, may_be_short: bool) -> Any:
    """The NPMI of each topic, NaN where it is unknown: a short input may lack the top words of all topics."""
    try:
        return metrics.coherence(mixture, reference, ranking=None).topics
    except ValueError:
        if not may_be_short:
            raise
        return np.full(mixture.n_topics, np.nan)


def _mean(values: Any) -> float:
    return float("nan") if np.isnan(values).all() else float(np.nanmean(values))


def _agreement(mixture: Mixture, corpus: Corpus, column: str, where: dict[str, Any]) -> dict[str, Any]:
    """How well main topics agree with labels; documents without a label are left out."""
    found = mixture.assignment(corpus, prior="dirichlet", **where)
    topics = np.where(found.empty, NO_TOPIC, found.theta.argmax(axis=1))
    given = (corpus.documents or {})["label"].tolist()
    labelled = [d for d, label in enumerate(given) if not _is_missing(label)]
    if not labelled:
        raise ValueError(f"no document has a label: column {column!r} is empty")
    topics, labels = topics[labelled], [str(given[d]) for d in labelled]
    return {
        "labelled documents": len(labelled),
        "labels": len(set(labels)),
        "purity": metrics.purity(topics, labels),
        "harmonic purity": metrics.harmonic_purity(topics, labels),
        "normalised mutual information (NMI)": metrics.normalised_mutual_information(topics, labels),
        "adjusted mutual information (AMI)": metrics.adjusted_mutual_information(topics, labels),
        "Fowlkes-Mallows index (FMI)": metrics.fowlkes_mallows(topics, labels),
    }


def _is_missing(label: Any) -> bool:
    return label is None or label == "" or (isinstance(label, float) and math.isnan(label))


def _facts(result: Evaluated, reference: Path | None, per_topic: bool) -> dict[str, Any]:
    measured_on = "the input" if reference is None else str(reference)
    facts = {"model": result.name, **result.scores, "coherence measured on": measured_on}
    if per_topic:
        words = result.mixture.typical_words(10)
        facts["topics"] = [
            {"topic": t, "coherence": float(value), "words": words[t]} for t, value in enumerate(result.coherence)
        ]
    return facts


def _print_scores(results: list[Evaluated]) -> None:
    """A row for each score, a column for each model."""
    table = plain_table(show_header=len(results) > 1)
    table.add_column("", overflow="fold")
    for title in _titles(results):
        table.add_column(title, justify="right", overflow="fold")
    for name in results[0].scores:
        table.add_row(name, *(_shown(result.scores[name]) for result in results))
    show(table)


def _titles(results: list[Evaluated]) -> Iterator[str]:
    """The last part of a model's path, or all of it where two have the same."""
    short = [Path(result.name).name for result in results]
    for result, name in zip(results, short, strict=True):
        yield for_terminal(name if short.count(name) == 1 and name else result.name)


def _print_topics(results: list[Evaluated]) -> None:
    """A table of topics for each model, the most coherent first."""
    for result, title in zip(results, _titles(results), strict=True):
        table = plain_table()
        table.add_column("topic", justify="right", style="cyan", no_wrap=True)
        table.add_column("coherence", justify="right", no_wrap=True)
        table.add_column("words", overflow="fold", min_width=24)
        words = shown_words(result.mixture.typical_words(10))
        for topic in np.argsort(-result.coherence, kind="stable").tolist():
            table.add_row(str(topic), _shown(float(result.coherence[topic])), words[topic])
        show(f"\n{title}" if len(results) > 1 else "")
        show(table)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return for_terminal(value)
    if isinstance(value, int):
        return f"{value:,}"
    return "unknown" if np.isnan(value) else f"{value:.4f}"
