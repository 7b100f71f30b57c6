"""The most typical documents of each topic, with the tokens that speak for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fdmix.corpus.corpus import Corpus
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.report.highlighting import Highlighter, Span
from fdmix.runtime.whole_numbers import whole_number
from fdmix.text.batches import Batch
from fdmix.text.layouts import Layout
from fdmix.text.notices import with_notices
from fdmix.text.recipe import recipe_like
from fdmix.text.sources import Source, source_of
from fdmix.text.tokenising import Report, token_batches

TEXT = "text of the document"  # the column that carries the raw text through the batches
CANDIDATES = 3  # times as many documents are kept as are asked for, because near copies are left out
NEAR_COPY = 0.8  # cosine of the word counts
ROUNDING = 1e-6  # of shares: the only topic of a model has a share of 1 in every document


@dataclass(frozen=True)
class Representative:
    """A typical document of a topic.

    document : its number in the source, counted from 0; share : how much of it the topic makes up
    text : the whole raw text; highlights : where (first, end) the tokens are that speak for the topic
    kept : values of the columns to keep, and the name of the file
    """

    document: int
    share: float
    text: str
    highlights: list[Span]
    kept: Mapping[str, Any] = field(default_factory=dict)


def representatives(
    mixture: Mixture,
    documents: Any,
    n: int = 20,
    *,
    column: str | None = None,
    split: str | None = None,
    layout: Layout | None = None,
    n_threads: int | None = None,
    report: Report | None = None,
    watch: Callable[[Any, Mapping[str, list[Any]]], None] | None = None,
) -> list[list[Representative]]:
    """The n most typical documents of each topic, near copies left out: a list for each topic, the best first.

    A document is typical if the topic makes up most of it (the posterior mean of theta, which trusts long documents
    more than short ones). A token speaks for a topic if its word is at least twice as frequent in the topic as in the
    corpus. Documents are read once, batch by batch, and are not held in memory.

    documents : anything that `read_corpus` reads: strings, files, folders, tables
    column, split : as in `read_corpus`; layout : the same and more, as one object
    watch : called with the topics (documents, topics) and the kept columns of every batch

    >>> from fdmix import fit_documents, read_corpus
    >>> texts = ["Cats chase mice.", "Stocks fell today."] * 30
    >>> mixture = fit_documents(read_corpus(texts), 2).mixture
    >>> sorted(found[0].text for found in representatives(mixture, texts, n=1))
    ['Cats chase mice.', 'Stocks fell today.']
    """
    n = whole_number("n", n, least=1)
    if isinstance(documents, Corpus | Moments):
        raise TypeError(f"a {type(documents).__name__} does not keep the text: give the text itself")
    best = candidates(
        mixture, source_of(documents, layout or Layout(column, split=split)), n, n_threads, report, watch
    )
    return chosen(mixture, best, n)


def candidates(
    mixture: Mixture,
    documents: Source,
    n: int,
    n_threads: int | None = None,
    report: Report | None = None,
    watch: Callable[[Any, Mapping[str, list[Any]]], None] | None = None,
) -> list[Best]:
    """The documents that may be among the n most typical of each topic; those of parts of a text can be added."""
    recipe = recipe_like(mixture, steps={"min_tokens": 0})
    best = [Best(CANDIDATES * n) for _ in range(mixture.n_topics)]
    first = 0
    for batch in with_notices(token_batches(_WithText(documents), recipe.cleaning, n_threads, report)):
        counts = recipe.counts(batch)[0]
        found = mixture.assignment(recipe.corpus([counts]), "dirichlet", n_threads=n_threads)
        theta = np.where(found.empty[:, None], 0, found.theta)
        for topic, kept in enumerate(best):
            kept.add(theta[:, topic], counts, batch.kept, first)
        if watch is not None:
            watch(np.where(found.empty[:, None], np.nan, found.theta), batch.kept)
        first += counts.shape[0]
    return best


def chosen(mixture: Mixture, best: list[Best], n: int) -> list[list[Representative]]:
    """The n most typical documents of each topic among the candidates, near copies left out."""
    highlighter = Highlighter(recipe_like(mixture, steps={"min_tokens": 0}))
    return [_chosen(mixture, topic, kept, n, highlighter) for topic, kept in enumerate(best)]


@dataclass(frozen=True, eq=False)
class _WithText(Source):
    """A source whose batches carry their texts as one more column."""

    inner: Source

    @property
    def size(self) -> int | None:  # type: ignore[override]
        """As the inner source has it."""
        return self.inner.size

    def batches(self) -> Iterator[Batch]:
        """All documents in their order."""
        for batch in self.inner.batches():
            yield replace(batch, kept={**batch.kept, TEXT: _Texts(batch)})  # type: ignore[dict-item]


class _Texts:
    """The texts of a batch, decoded when they are asked for: few of them are."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    def __getitem__(self, document: int) -> str:
        begin, end = self.batch.offsets[document : document + 2]
        return self.batch.data[begin:end].tobytes().decode("utf-8", "replace")


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A document that may be among the most typical ones; words and counts as in the table of counts."""

    share: float
    document: int
    text: str
    kept: Mapping[str, Any]
    words: Any
    counts: Any

    def cosine(self, other: _Candidate) -> float:
        """The cosine of the word counts."""
        _, mine, theirs = np.intersect1d(self.words, other.words, assume_unique=True, return_indices=True)
        product = float(self.counts[mine].astype(float) @ other.counts[theirs])
        return product / float(np.linalg.norm(self.counts) * np.linalg.norm(other.counts) or 1)


class Best:
    """The documents with the largest shares of one topic; of exact copies only the first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.least = 0.0
        self.found: dict[bytes, _Candidate] = {}

    def add(self, shares: Any, counts: Any, kept: Mapping[str, Any], first: int) -> None:
        """Consider the documents of a batch, of which the first has this number."""
        better = np.flatnonzero(shares > self.least)
        if better.size > 4 * self.most:
            better = better[np.argsort(-shares[better], kind="stable")[: 4 * self.most]]
        for d in better.tolist():
            stored = slice(counts.indptr[d], counts.indptr[d + 1])
            words, number = counts.indices[stored], counts.data[stored]
            key = hashlib.blake2b(words.tobytes() + number.tobytes(), digest_size=16).digest()
            if key not in self.found:
                carried = {name: values[d] for name, values in kept.items() if name != TEXT}
                self.found[key] = _Candidate(float(shares[d]), first + d, kept[TEXT][d], carried, words.copy(),
                                             number.copy())  # fmt: skip
        if len(self.found) > self.most:
            order = sorted(self.found.items(), key=lambda item: (-item[1].share, item[1].document))
            self.found = dict(order[: self.most])
            self.least = order[self.most - 1][1].share

    def __add__(self, other: Best) -> Best:
        """The best of both."""
        total = Best(self.most)
        for key, candidate in [*self.found.items(), *other.found.items()]:
            same = total.found.get(key)
            if same is None or (-candidate.share, candidate.text) < (-same.share, same.text):
                total.found[key] = candidate
        order = sorted(total.found.items(), key=lambda item: (-item[1].share, item[0]))
        total.found = dict(order[: self.most])
        return total

    def ordered(self) -> list[_Candidate]:
        """The best first."""
        return sorted(self.found.values(), key=lambda each: (-each.share, each.document))


def _chosen(mixture: Mixture, topic: int, best: Best, n: int, highlighter: Highlighter) -> list[Representative]:
    """The first n candidates that are not near copies of better ones, with highlights.

    A document with less of the topic than the average document is not typical of it, so small corpora have fewer.
    """
    chosen: list[_Candidate] = []
    least = mixture.shares[topic] - ROUNDING
    for candidate in best.ordered():
        if len(chosen) == n or candidate.share < least:
            break
        if all(candidate.cosine(other) < NEAR_COPY for other in chosen):
            chosen.append(candidate)
    speaks = _speaking_words(mixture, topic)
    return [
        Representative(each.document, each.share, each.text, highlighter.marked(each.text, speaks), each.kept)
        for each in chosen
    ]


def _speaking_words(mixture: Mixture, topic: int) -> Any:
    """Which words speak for a topic: p(topic | word) is at least twice the topic's share.

    A topic with a large share s cannot have that; for it, p(topic | word) is at least halfway from s to 1.
    """
    share = mixture.shares[topic]
    corpus = mixture.shares @ mixture.topics
    least = min(2 * share, (1 + share) / 2)
    return (mixture.topics[topic] * share >= least * corpus) & (mixture.topics[topic] > 0)
