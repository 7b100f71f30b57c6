"""The full dependence mixture: topics, how they occur together, and the model's formulas in plain NumPy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.preparation import Preparation
from fdmix.corpus.vocabulary import Vocabulary, as_vocabulary, positions
from fdmix.mixture import folder
from fdmix.mixture.assignment import (
    Assignment,
    aligned_counts,
    assign,
    dirichlet_parameters,
    document_device,
    token_shares,
    usual_prior,
)
from fdmix.mixture.card import CARD_HEAD, card_of
from fdmix.mixture.export import correlation_graph, pyldavis_arguments
from fdmix.mixture.frames import as_frame, document_columns, topic_columns, word_columns
from fdmix.mixture.labels import Labels, checked_labels, topics_digest
from fdmix.mixture.notebook import topics_html
from fdmix.mixture.pair_likelihood import log_likelihood_and_ratios
from fdmix.mixture.probabilities import Floats, checked_correlations, checked_topics
from fdmix.mixture.ranking import WordRanking, relevance_weight
from fdmix.mixture.relations import lift, related_topics, topic_correlation
from fdmix.mixture.reliability import Reliability
from fdmix.mixture.suggested_labels import labels_from_words
from fdmix.storage.arrays import FileError
from fdmix.storage.facts import reason
from fdmix.storage.model_folder import read_folder, write_folder


@dataclass(frozen=True, eq=False, repr=False)
class Mixture:
    """T topics over N words and how they occur together: M = topics' correlations topics.

    Parameters
    ----------
    topics : (T, N), mu_t(u), each row a probability distribution over words
    correlations : (T, T), alpha = E[theta theta'], the co-occurrence of topics, not their correlation (which
        `topic_correlation` gives): symmetric, non-negative, sums to 1. Unless given, that of documents whose theta ~
        Dirichlet(1/T, ..., 1/T): all topics equally frequent, a few in each document
    vocabulary : N words, optional
    preparation : how text became these words, optional; it lets `read_corpus(..., like=mixture)` treat new text alike
    provenance : where the mixture comes from, for people: versions, seed, checksum of the moments
    prior : a_t, (T,), the parameters of the Dirichlet prior of documents, learned by `fit_documents` or `refine`, or
        None. Without it, the prior matches alpha
    relevance : lambda, the weight of probability in the relevance that words are ranked by, chosen by the fit; None
        ranks them by probability
    n_tokens : tokens that the topics were fitted to, if known; rare words do not describe a topic
    labels : names that people gave to topics, by the number of the topic
    reliability : how sure the topics are, as `fdmix.reliability.reliability` found, or None; topics that change lose
        it

    >>> mixture = Mixture([[0.9, 0.1], [0.2, 0.8]], [[0.4, 0.1], [0.1, 0.4]], ["ant", "bee"])
    >>> mixture.top_words(1)
    [['ant'], ['bee']]
    >>> mixture.pair_matrix().round(3)
    array([[0.376, 0.174],
           [0.174, 0.276]])
    """

    topics: Floats
    correlations: Floats = None  # type: ignore[assignment]  # always an array after __post_init__
    vocabulary: Vocabulary | None = None
    preparation: Preparation | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    prior: Floats | None = None
    relevance: float | None = None
    n_tokens: float | None = None
    labels: Labels = field(default_factory=dict)
    reliability: Reliability | None = None

    def __post_init__(self) -> None:
        topics = checked_topics(self.topics)
        object.__setattr__(self, "topics", topics)
        object.__setattr__(self, "correlations", checked_correlations(self.correlations, len(topics)))
        if self.prior is not None:
            prior = dirichlet_parameters(self.prior, len(topics))
            prior.setflags(write=False)
            object.__setattr__(self, "prior", prior)
        if self.relevance is not None and not 0 <= self.relevance <= 1:
            raise ValueError(f"the relevance must be a number from 0 to 1, not {self.relevance!r}")
        if self.n_tokens is not None and not 0 < self.n_tokens < np.inf:
            raise ValueError(f"the number of tokens must be positive, not {self.n_tokens!r}")
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", as_vocabulary(self.vocabulary, topics.shape[1]))
        if self.reliability is not None and self.reliability.digest != topics_digest(topics):
            object.__setattr__(self, "reliability", None)  # it tells of other topics
        labels = checked_labels(self.labels, len(topics))
        object.__setattr__(self, "labels", {topic: label for topic, label in labels.items() if label})

    @property
    def n_topics(self) -> int:
        """Number of topics, T."""
        return int(self.topics.shape[0])

    @property
    def n_words(self) -> int:
        """Number of words, N."""
        return int(self.topics.shape[1])

    @property
    def shares(self) -> Floats:
        """E[theta], the row sums of alpha: how much of the corpus each topic makes up."""
        return np.asarray(self.correlations.sum(axis=1))

    @property
    def concentration(self) -> float | None:
        """A, the sum of the prior's parameters: its strength in tokens; None without a prior."""
        return None if self.prior is None else float(self.prior.sum())

    def lift(self) -> Floats:
        """alpha_ij / (p_i p_j), (T, T): above 1 where two topics occur together more often than by chance."""
        return lift(self.correlations)

    def topic_correlation(self) -> Floats:
        """The correlation of two topics' shares over documents, (T, T); `correlations` is E[theta theta'] instead."""
        return topic_correlation(self.correlations)

    def related(self, topic: int, n: int = 3) -> list[int]:
        """Up to n other topics that occur together with this one more than by chance, the largest lift first."""
        return related_topics(self.correlations, topic, n)

    def __repr__(self) -> str:
        return f"Mixture({self.n_topics:,} topics over {self.n_words:,} words)"

    def _repr_html_(self) -> str:
        return topics_html(self)

    def top_words(self, n: int = 10, *, ranking: Any = None, as_shown: bool = True) -> list[list[str]]:
        """The n words that describe each topic best, as people write them; by position without a vocabulary.

        ranking : None, as the fit has chosen (`relevance`), or by probability if no fit has; "probability";
            "relevance"; "exclusive", words that other topics lack; or the weight of probability, from 0 to 1
        as_shown : whether stems are shown in their most frequent form, or as they stand in the vocabulary

        >>> topics = [[0.6, 0.3, 0.1], [0.6, 0.1, 0.3]]
        >>> Mixture(topics, vocabulary=["said", "ant", "bee"]).top_words(1, ranking="exclusive")
        [['ant'], ['bee']]
        """
        name = self.word if as_shown or self.vocabulary is None else self.vocabulary.__getitem__
        return [[name(u) for u in words] for words in self.top_columns(n, ranking).tolist()]

    def typical_words(self, n: int = 10, ranking: Any = None) -> list[list[str]]:
        """Like `top_words`, without words of probability 0: a topic with fewer than n words has a shorter list."""
        top = self.top_columns(n, ranking)
        return [
            [self.word(u) for u in words if topic[u] > 0]
            for words, topic in zip(top.tolist(), self.topics, strict=True)
        ]

    def top_columns(self, n: int | None = 10, ranking: Any = None) -> Any:
        """(T, n), the columns of the words of `top_words`; None gives all words in their order."""
        weight = relevance_weight(ranking, self.relevance)
        return WordRanking(self.topics, self.shares, self.n_tokens).order(weight, n)

    def suggested_labels(self, n: int = 3, ranking: Any = None) -> list[str]:
        """A name for each topic: its label, or its n most typical words, and more where two names would be the same.

        Words that are part of a phrase in the name are left out: "supreme court, judge", not "supreme court, court".
        """
        return labels_from_words(self.typical_words(5 * n, ranking), n)

    def topic_names(self, n: int = 3, ranking: Any = None) -> list[str]:
        """The name of each topic: its label, or if it has none its n most typical words (`suggested_labels`)."""
        return [self.labels.get(topic, name) for topic, name in enumerate(self.suggested_labels(n, ranking))]

    def word(self, u: int) -> str:
        """The word of column u in its most frequent form."""
        if self.vocabulary is None:
            return str(u)
        word = self.vocabulary[u]
        return word if self.preparation is None else self.preparation.shown(word)

    def pair_matrix(self) -> Floats:
        """M = mu' alpha mu, dense: the probability that a pair of tokens of a document is (u, v)."""
        matrix: Floats = self.topics.T @ self.correlations @ self.topics
        return matrix

    def log_likelihood(self, mhat: sp.csr_array) -> float:
        """L = sum_uv Mhat[u, v] log M[u, v]."""
        return log_likelihood_and_ratios(self.topics.T, self.correlations, mhat)[0]

    def gradient(self, mhat: sp.csr_array) -> tuple[Floats, Floats]:
        """(dL/dmu, dL/dalpha) = (2 alpha mu R, mu R mu') with R = Mhat / M at the pairs of Mhat."""
        _, ratios = log_likelihood_and_ratios(self.topics.T, self.correlations, mhat)
        weighted = (ratios @ self.topics.T).T  # mu R, for symmetric R
        return 2 * self.correlations @ weighted, weighted @ self.topics.T

    def assign(
        self,
        counts: Any,
        prior: Any = None,
        tolerance: float = 1e-6,
        *,
        sparse: bool = False,
        n_threads: int | None = None,
        engine: str = "auto",
        device: str = "auto",
    ) -> Any:
        """theta_d = argmax over the simplex of sum_u dhat(u) log sum_t theta(t) mu_t(u), for each document by itself.

        counts : Corpus (aligned by word if it has a vocabulary) or table of whole counts
        prior : None; "dirichlet", for about the posterior mean under the mixture's prior or, without one, under the
            Dirichlet that matches E[theta] and trace(alpha), worth a token at least; or Dirichlet parameters
        tolerance : the most that another theta could gain in the mean log-probability of a token, certified
        sparse : return a scipy CSR array instead of a NumPy array
        engine : "auto" (compiled loops on the CPU) or "torch": many documents at a time, on a GPU, to the same gap
        device : where engine="torch" computes: "cuda", "cuda:1", "mps", "cpu", or "auto" for the best that there is

        Tokens of unknown words are left out; a document without a known word gets the corpus's average topics. Which
        documents those are (`empty`), gaps, likelihoods and numbers of unknown tokens: see `assignment`.
        """
        found = self.assignment(counts, prior, tolerance, n_threads=n_threads, engine=engine, device=device)
        return sp.csr_array(found.theta) if sparse else found.theta

    def assignment(
        self,
        counts: Any,
        prior: Any = None,
        tolerance: float = 1e-6,
        *,
        smoothing: float = 0.0,
        n_threads: int | None = None,
        engine: str = "auto",
        device: str = "auto",
    ) -> Assignment:
        """Like `assign`, with everything that is known about the result."""
        where = document_device(engine, device)
        table, unknown = aligned_counts(counts, self.vocabulary, self.n_words)
        if isinstance(prior, str) and prior == "dirichlet":
            prior = usual_prior(self.correlations) if self.prior is None else self.prior
        result = assign(
            self.topics, self.correlations, table,
            prior=prior, tolerance=tolerance, smoothing=smoothing, n_threads=n_threads, device=where,
        )  # fmt: skip
        return replace(result, n_unknown=result.n_unknown + unknown)

    def token_topics(self, counts: Any, prior: Any = None) -> Floats:
        """p(topic | token) ~ theta_d(t) mu_t(u) for each stored count, in the order of `Corpus(counts).counts`.

        A dense (stored counts, topics) array: for a few documents at a time. Unknown words have zeros.
        """
        corpus = counts if isinstance(counts, Corpus) else Corpus(counts)
        words = corpus.counts.indices
        if corpus.vocabulary is not None and self.vocabulary is not None:
            words = positions(corpus.vocabulary, self.vocabulary)[words]
        theta = self.assign(corpus, prior)
        return token_shares(self.topics, theta, corpus.counts.indptr, words)

    def labelled(self, labels: Labels) -> Mixture:
        """The same mixture with these labels, `{17: "climate"}`; other topics keep theirs, and "" removes one."""
        return replace(self, labels={**self.labels, **labels})

    def edit(self, moments: Any, **options: Any) -> Any:
        """An editor of the topics: `mixture.edit(moments).merge(3, 7).ban("lol").fit().mixture`.

        docs/how-to/editing.md explains the edits.

        moments : those that the mixture was fitted to
        options : of `fdmix.edits.edit`: engine=, n_threads=
        """
        from fdmix.edits.editor import edit  # noqa: PLC0415  (edits are built on the mixture)

        return edit(self, moments, **options)

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write an interactive report of the topics: one HTML file that needs no network.

        options : of `fdmix.report.write_report`, such as moments=, documents=, compare_with=
        """
        from fdmix.report.writing import write_report  # noqa: PLC0415  (the report is built on the mixture)

        write_report(self, path, **options)

    def show(self, height: int = 640, **options: Any) -> Any:
        """The interactive report for the cell of a notebook, `height` pixels high.

        options : of `fdmix.report.write_report`, such as moments=, documents=, compare_with=
        """
        from fdmix.report.notebook import embedded_report  # noqa: PLC0415  (the report is built on the mixture)

        return embedded_report(self, height, **options)

    def tree(self, moments: Any, **options: Any) -> Any:
        """A tree of the topics: the two that cost the least likelihood on the moments merge first.

        Returns a `fdmix.tree.Tree`: `tree.cut(20)` is a mixture of 20 topics, `tree.costs` what each merge loses.
        options : of `fdmix.tree.grow_tree`
        """
        from fdmix.tree.growing import grow_tree  # noqa: PLC0415  (trees are built on the mixture)

        return grow_tree(self, moments, **options)

    def to_pyldavis(self, n_tokens: float = 1_000_000) -> dict[str, Any]:
        """Arguments for `pyLDAvis.prepare(**mixture.to_pyldavis())`: no corpus needed.

        Documents are made up so that topics have their shares; `n_tokens` only scales the bars. Words that no topic
        has are left out. pyLDAvis numbers topics by size, from 1, unless told `sort_topics=False, start_index=0`.
        The layout is ours, because pyLDAvis's own often fails (complex numbers). For another one:
        `pyLDAvis.prepare(**mixture.to_pyldavis() | {"mds": "tsne"})`.
        """
        return pyldavis_arguments(self.topics, self.correlations, self._names(), n_tokens)

    def to_networkx(self, threshold: float = 1.0, n: int = 5) -> Any:
        """The graph of topics that come together: an edge where the lift alpha_ij / (s_i s_j) exceeds the threshold.

        Nodes are numbers of topics, with `words` (the first n of `top_words`) and `share`; edges have `weight`
        (alpha_ij), `lift` and `correlation`.
        """
        return correlation_graph(self.correlations, self.top_words(n), threshold)

    def to_frame(self, n: int | None = 10, *, ranking: Any = None, library: str | None = None) -> Any:
        """A table of the first n words of each topic (None: all that it has): topic, share, rank, word, probability.

        ranking : as in `top_words`
        library : "pandas", "polars" or "arrow"; None takes the first of these that is installed
        """
        top = self.top_columns(n, ranking)
        return as_frame(word_columns(self.topics, self.shares, self._names(), top), library)

    def topic_table(self, n: int = 10, *, ranking: Any = None, library: str | None = None) -> Any:
        """A table with a row for each topic: topic, share, label, words (lists), related (lists of topics)."""
        words, labels = self.typical_words(n, ranking), self.topic_names(ranking=ranking)
        related = [self.related(t) for t in range(self.n_topics)]
        return as_frame(topic_columns(self.shares, labels, words, related), library)

    def document_table(self, counts: Any, prior: Any = None, *, library: str | None = None) -> Any:
        """A table with a row for each document: document, topic, label, share, known_words, topic_0, topic_1, ...

        `topic` is the largest one, with its label and share; all three are missing for a document without a known
        word. `known_words` are its tokens whose words the mixture has.
        """
        found = self.assignment(counts, prior)
        labels = self.topic_names()
        return as_frame(document_columns(found.theta, found.empty, found.lengths, labels), library)

    def _names(self) -> list[str]:
        return [self.word(u) for u in range(self.n_words)]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mixture to a folder of safetensors and JSON, complete or not at all.

        README.md, the model card, tells people what is in the folder; text that people add to it is kept.
        """
        write_folder(path, *folder.contents(self), (CARD_HEAD, card_of(self)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mixture:
        """Read a folder of `save`; a damaged one is refused."""
        arrays, facts = read_folder(path)
        try:
            return cls(**folder.fields(arrays, facts))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise FileError(f"{path} is not a valid model: {reason(error)}") from None
