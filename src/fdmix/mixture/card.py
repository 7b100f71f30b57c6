"""The model card: what a model was made from, its topics, its scores and how to load it, as Markdown for people.

Model hubs show the card as the page of a model, and read the front matter at its top. It names files without their
folders, and shows nothing of the documents beyond the words of the topics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fdmix.display import for_markdown, shown_word
from fdmix.mixture.suggested_labels import labels_from_words

if TYPE_CHECKING:
    from fdmix.mixture.mixture import Mixture

MAX_TOPICS = 200  # rows of the table: hubs cut long pages
MAX_SOURCES = 20
WORDS = 10
LABEL_CANDIDATES = 15  # words that a name is made of, as in `Mixture.suggested_labels`

CARD_HEAD = """\
---
library_name: fdmix
license: unknown  # of this model: yours to choose, the texts' licence may matter; fdmix itself is BSD-3-Clause
pipeline_tag: text-classification
tags:
  - fdmix
  - topic-modeling
  - topic-model
  - full-dependence-mixture
---

# Topic model
"""


def card_of(mixture: Mixture) -> str:
    """The part of the card that depends on the model: made from, topics, scores, how to load it."""
    sections = [
        f"A topic model of {mixture.n_topics:,} topics over {mixture.n_words:,} words, fitted with fdmix "
        "(*Topic Modeling via Full Dependence Mixtures*, Fisher, Kozdoba, Mannor, ICML 2020).",
        "## Made from\n\n" + _table(("what", "value"), _origin(mixture)),
        "## Topics\n\n" + _topics(mixture),
        "## Scores\n\n" + _table(("score", "value"), _scores(mixture)),
        "## How to load it\n\n" + _usage(mixture),
    ]
    if mixture.preparation is not None:
        sections.insert(2, "### Cleaning\n\n" + _table(("setting", "value"), _cleaning(mixture)))
    return "\n\n".join(sections)


def _origin(mixture: Mixture) -> list[tuple[str, str]]:
    story = mixture.provenance
    counted = _mapping(story.get("moments"))
    rows = [("sources", _sources(story.get("sources")))]
    for name in ("documents", "tokens"):
        if (number := _whole(counted.get(name))) is not None:
            rows.append((f"{name} whose word pairs were counted", f"{number:,}"))
    rows += [("words", f"{mixture.n_words:,}")]
    rows += [("weights of documents", _text(counted.get("weighting")))]
    rows += [("fingerprint of the counts", _text(counted.get("digest")))]
    rows += [(name, _text(story.get(name))) for name in ("solver", "seed")]
    rows += [("fdmix version", _text(story.get("fdmix")))]
    if "refined" in story:
        rows.append(("improved with documents", "yes, by CVB0 and Gibbs sampling"))
    if cut := _mapping(story.get("cut")):
        rows.append(("cut of a tree of topics", f"{_text(cut.get('topics'))} of {_text(cut.get('of'))} topics"))
    steps = _mapping(story.get("edits")).get("steps")
    if isinstance(steps, list) and steps:
        rows.append(("edited by people", f"{len(steps):,} times (the log is in model\\.json)"))
    return [(name, value) for name, value in rows if value]


def _sources(stated: Any) -> str:
    """Names of files, as the command line stored them; they are checked again, since a model folder can be forged."""
    if not isinstance(stated, list | tuple):
        return ""
    names = [shown_word(name.replace("\\", "/").rsplit("/", 1)[-1]) for name in stated if isinstance(name, str)]
    more = f" and {len(names) - MAX_SOURCES:,} more" if len(names) > MAX_SOURCES else ""
    return ", ".join(map(for_markdown, names[:MAX_SOURCES])) + more


def _cleaning(mixture: Mixture) -> Iterable[tuple[str, str]]:
    assert mixture.preparation is not None
    for name, value in mixture.preparation.cleaning.facts().items():
        if isinstance(value, bool):
            shown = "yes" if value else "no"
        elif isinstance(value, list | tuple):
            shown = f"{len(value):,} words" if value else "none"
        else:
            shown = "none" if value is None else _text(value)
        yield f"`{name}`", shown


def _topics(mixture: Mixture) -> str:
    order = np.argsort(-mixture.shares, kind="stable").tolist()
    typical = mixture.typical_words(LABEL_CANDIDATES)
    names = [mixture.labels.get(topic, name) for topic, name in enumerate(labels_from_words(typical))]
    sure = mixture.reliability
    rows = []
    for topic in order[:MAX_TOPICS]:
        words = ", ".join(for_markdown(shown_word(word)) for word in typical[topic][:WORDS])
        row = [f"{topic}", f"{mixture.shares[topic]:.1%}", for_markdown(shown_word(names[topic])), words]
        rows.append(row if sure is None else [*row, f"{sure.returned[topic]:.0%}"])
    headers = ["topic", "share", "name", "words"] + ([] if sure is None else ["came back"])
    more = len(order) - len(rows)
    return _table(headers, rows) + (
        f"\n\nand {more:,} smaller topics: `fdmix topics` shows them all." if more else ""
    )


def _scores(mixture: Mixture) -> Iterable[tuple[str, str]]:
    top = mixture.top_columns(WORDS)
    yield f"diversity of the first {top.shape[1]} words", f"{len(np.unique(top)) / top.size:.2f}"
    if not mixture.topics.all():  # smooth topics have every word
        yield "words of a topic, on average", f"{(mixture.topics > 0).sum(axis=1).mean():,.0f}"
    if mixture.concentration is not None:
        yield "strength of the prior of documents, in tokens", f"{mixture.concentration:.3g}"
    fit = _mapping(mixture.provenance.get("fit"))
    curve = fit.get("curve")
    last = curve[-1] if isinstance(curve, list | tuple) and curve else None
    if isinstance(last, list | tuple) and len(last) == 2 and isinstance(last[1], float):
        yield "log-likelihood of a word pair, after the fit", f"{last[1]:.4f}"
    if _whole(fit.get("passes")) is not None:
        yield "passes over the word pairs", f"{fit['passes']:,}"
    if isinstance(fit.get("reason"), str):
        yield "the fit ended because", _text(fit["reason"])
    if (sure := mixture.reliability) is not None:
        yield f"topics that came back in {sure.n_refits:,} refits, on average", f"{sure.returned.mean():.0%}"
        yield "do the word pairs look like this mixture?", for_markdown(sure.check.verdict)


def _usage(mixture: Mixture) -> str:
    if mixture.vocabulary is None or mixture.preparation is None:
        shell, python = (
            "",
            "theta = mixture.assign(counts)  # documents times words, in this model's order of words\n",
        )
        names = "Mixture"
    else:
        shell = "fdmix assign FOLDER new.csv --column text -o topics.csv   # topics of new documents\n"
        python = 'theta = mixture.assign(read_corpus(["a new text"], like=mixture))  # its topic shares\n'
        names = "Mixture, read_corpus"
    return (
        "FOLDER is the folder that holds this file.\n\n"
        "fdmix must be installed, from its source.\n\n"
        "```shell\nfdmix topics FOLDER                                       # words and shares\n"
        f"{shell}fdmix report FOLDER -o report.html                        # a page to look at\n```\n\n"
        f'```python\nfrom fdmix import {names}\n\nmixture = Mixture.load("FOLDER")\n'
        f"print(mixture.topic_names())\n{python}```\n\n"
        "Loading runs no code from the folder: `mixture.safetensors` holds arrays, `model.json` everything else."
    )


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the cells are Markdown already."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(value: Any) -> str:
    """A short text or number of a story as Markdown; nothing for what is missing or has another form."""
    return for_markdown(shown_word(str(value))) if isinstance(value, str | int | float) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
