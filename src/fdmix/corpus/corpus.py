"""A corpus: whole word counts of documents, and the words they count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.counts import check_width, document_lengths, whole_counts
from fdmix.corpus.graphs import neighbours
from fdmix.corpus.preparation import Preparation
from fdmix.corpus.vocabulary import Vocabulary, as_vocabulary, require_known
from fdmix.display import html_table, shown_words
from fdmix.runtime.whole_numbers import whole_number

FREQUENT_WORDS = 10  # shown in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Documents as word counts: `counts[d, u]` is how often word u occurs in document d.

    The counts are checked once, here, and kept as a canonical int32 CSR array; what the caller passed is
    never changed. Without a vocabulary, words are known by their column alone.

    Parameters
    ----------
    counts : scipy sparse matrix or array, NumPy array or nested list, shape (documents, words)
        Whole, non-negative numbers of any integer or float type.
    vocabulary : sequence of distinct strings, `{word: column}` or `{column: word}`, optional
    documents : columns with a value for each document, such as ids or dates, optional
    preparation : how text became these words, optional

    >>> corpus = Corpus([[2, 1, 0], [0, 1, 1]], ["ant", "bee", "cat"])
    >>> corpus
    Corpus(2 documents, 3 words, 5 tokens)
    >>> corpus[1:].counts.toarray()
    array([[0, 1, 1]], dtype=int32)
    """

    counts: Any
    vocabulary: Vocabulary | None = None
    documents: Mapping[str, Any] | None = None
    preparation: Preparation | None = None

    def __post_init__(self) -> None:
        counts = whole_counts(self.counts)
        object.__setattr__(self, "counts", counts)
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", as_vocabulary(self.vocabulary, counts.shape[1]))
        columns = {name: np.asarray(values) for name, values in (self.documents or {}).items()}
        for name, values in columns.items():
            if values.shape != (counts.shape[0],):
                raise ValueError(f"documents[{name!r}] must have one value for each of {counts.shape[0]:,} documents")
        object.__setattr__(self, "documents", columns)

    @classmethod
    def from_documents(cls, documents: Iterable[Iterable[str]], vocabulary: Iterable[str] | None = None) -> Corpus:
        """Count the tokens of each document; words are numbered in sorted order unless a vocabulary is given.

        Tokens outside a given vocabulary are left out.

        >>> Corpus.from_documents([["bee", "ant", "bee"], ["cat"]]).counts.toarray()
        array([[1, 2, 0],
               [0, 0, 1]], dtype=int32)
        """
        fixed = None if vocabulary is None else as_vocabulary(vocabulary)
        number: dict[str, int] = {} if fixed is None else {word: i for i, word in enumerate(fixed)}
        lengths: list[int] = []
        tokens: list[int] = []
        for position, document in enumerate(documents):
            if isinstance(document, Mapping):
                raise TypeError(f"document {position} is a mapping, not a list of tokens: see Corpus.from_bags")
            if isinstance(document, str):
                raise TypeError(
                    f"document {position} is a string, not a list of tokens: split it first, e.g. text.split()"
                )
            before = len(tokens)
            for token in document:
                if not isinstance(token, str):
                    raise TypeError(
                        f"document {position} has the token {token!r} ({type(token).__name__}): "
                        "tokens must be strings"
                    )
                column = number.setdefault(token, len(number)) if fixed is None else number.get(token, -1)
                if column >= 0:
                    tokens.append(column)
            lengths.append(len(tokens) - before)
        columns = np.array(tokens, dtype=np.int64)
        if fixed is None:
            words = sorted(number)
            rank = np.empty(len(words), dtype=np.int64)
            rank[[number[word] for word in words]] = np.arange(len(words))
            columns, fixed = rank[columns], tuple(words)
        return cls(_rows(lengths, columns, np.ones(len(columns), np.int64), len(fixed)), fixed)

    @classmethod
    def from_bags(
        cls,
        bags: Iterable[Iterable[tuple[int, int]]],
        vocabulary: Iterable[str] | Mapping[Any, Any] | None = None,
        n_words: int | None = None,
    ) -> Corpus:
        """Read gensim's form: each document is a list of `(word id, count)` pairs.

        >>> Corpus.from_bags([[(0, 2), (2, 1)], []], {0: "ant", 1: "bee", 2: "cat"}).counts.toarray()
        array([[2, 0, 1],
               [0, 0, 0]], dtype=int32)
        """
        listed = [list(bag.items() if isinstance(bag, Mapping) else bag) for bag in bags]
        flat = list(chain.from_iterable(listed))
        try:
            pairs = np.array(flat if flat else np.empty((0, 2)))
        except ValueError:
            pairs = np.empty(0)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.number):
            raise ValueError("each document must be a list of (word id, count) pairs of numbers")
        ids, numbers = pairs[:, 0], pairs[:, 1]
        if len(pairs) and (not np.isfinite(ids).all() or (ids != np.floor(ids)).any() or ids.min() < 0):
            raise ValueError("word ids must be whole numbers from 0 upwards")
        n_words = None if n_words is None else whole_number("n_words", n_words)
        if isinstance(token2id := getattr(vocabulary, "token2id", None), dict):  # a gensim Dictionary
            vocabulary = token2id
        words = None if vocabulary is None else as_vocabulary(vocabulary)
        if words is not None and n_words not in (None, len(words)):
            raise ValueError(f"n_words={n_words} contradicts a vocabulary of {len(words):,} words")
        size = len(words) if words is not None else (n_words or 0)
        largest = int(ids.max()) if len(pairs) else -1
        if words is None and n_words is None:
            size = largest + 1
        if largest >= size:
            raise ValueError(f"word id {largest:,} is outside a vocabulary of {size:,} words")
        check_width(size)
        return cls(_rows([len(bag) for bag in listed], ids.astype(np.int64), numbers, size), words)

    @classmethod
    def from_graph(cls, edges: Any, *, directed: bool = False, loops: int = 0) -> Corpus:
        """A node's neighbours are its document: the topics of this corpus are overlapping communities.

        edges : a networkx graph, a square scipy sparse adjacency matrix, or (i, j) and (i, j, weight) of a list.
            Weights are whole numbers: how often two nodes are joined.
        directed : an edge of a list leads from i to j only; otherwise both ways
        loops : how often each node counts as its own neighbour, in addition to loops among the edges

        Documents and words are the nodes, both in the same order; their names are the vocabulary.

        >>> Corpus.from_graph([("ann", "bob"), ("bob", "cleo"), ("cleo", "ann")])
        Corpus(3 documents, 3 words, 6 tokens)
        """
        return cls(*neighbours(edges, directed=directed, loops=loops))

    def to_bags(self) -> list[list[tuple[int, int]]]:
        """gensim's form: each document as a list of `(word id, count)` pairs.

        >>> Corpus([[2, 0, 1], [0, 0, 0]]).to_bags()
        [[(0, 2), (2, 1)], []]
        """
        pairs = list(zip(self.counts.indices.tolist(), self.counts.data.tolist(), strict=True))
        return [pairs[begin:end] for begin, end in pairwise(self.counts.indptr.tolist())]

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """Number of distinct words that can occur."""
        return int(self.counts.shape[1])

    @cached_property
    def lengths(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Tokens in each document, l_d."""
        lengths = document_lengths(self.counts)
        lengths.setflags(write=False)
        return lengths

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all documents."""
        return int(self.lengths.sum())

    def __len__(self) -> int:
        return self.n_documents

    def __getitem__(self, documents: Any) -> Corpus:
        """Some of the documents: by slice, positions or mask."""
        if isinstance(documents, int | np.integer):
            documents = [documents]
        if not isinstance(documents, slice):
            documents = np.asarray(documents) if not isinstance(documents, tuple) else np.empty((0, 0))
            if documents.ndim != 1 or documents.dtype.kind not in ("iub" if documents.size else "iubf"):
                raise TypeError("a corpus is sliced by documents only: a slice, whole positions or a mask")
            documents = documents if documents.size else documents.astype(int)
        columns = {name: values[documents] for name, values in (self.documents or {}).items()}
        preparation = None if self.preparation is None else self.preparation.of(documents)
        return self._with_rows(self.counts[documents], self.vocabulary, columns, preparation)

    def __repr__(self) -> str:
        return f"Corpus({self.n_documents:,} documents, {self.n_words:,} words, {self.n_tokens:,} tokens)"

    def _repr_html_(self) -> str:
        totals = np.asarray(self.counts.sum(axis=0)).ravel()
        frequent = [u for u in np.argsort(-totals, kind="stable")[:FREQUENT_WORDS].tolist() if totals[u]]
        words = [] if self.vocabulary is None else [self.vocabulary[u] for u in frequent]
        if self.preparation is not None:
            words = [self.preparation.shown(word) for word in words]
        rows = [
            ("documents", f"{self.n_documents:,}"),
            ("words", f"{self.n_words:,}"),
            ("tokens", f"{self.n_tokens:,}"),
            ("tokens in a document", f"{np.median(self.lengths):,.0f} (median)" if len(self) else "none"),
            *([("most frequent words", shown_words([words])[0])] if words else []),
            *([("columns", ", ".join(map(str, self.documents)))] if self.documents else []),
        ]
        return html_table("Corpus", (), rows)

    def split(self, holdout: float = 0.2, seed: int = 0) -> tuple[Corpus, Corpus]:
        """Set a random share of the documents aside: `train, test = corpus.split(0.2, seed=0)`.

        Both parts keep the documents' order; the same seed gives the same split.
        """
        if not 0 < holdout < 1:
            raise ValueError(f"holdout is a share of the documents between 0 and 1, not {holdout!r}")
        n_held = round(self.n_documents * holdout)
        if not 0 < n_held < self.n_documents:
            raise ValueError(
                f"holdout={holdout} of {self.n_documents:,} documents leaves one part without any document"
            )
        held = np.zeros(self.n_documents, dtype=bool)
        held[np.random.default_rng(whole_number("seed", seed)).permutation(self.n_documents)[:n_held]] = True
        return self[~held], self[held]

    def rename(self, names: Mapping[str, str]) -> Corpus:
        """Give words new names; two words may not end up with the same one."""
        if self.vocabulary is None:
            raise ValueError("this corpus has no vocabulary, so there is no word to rename")
        require_known(names, self.vocabulary)
        renamed = as_vocabulary([names.get(word, word) for word in self.vocabulary])
        return self._with_rows(self.counts, renamed, self.documents, self.preparation)

    def __reduce__(self) -> tuple[Any, ...]:
        return Corpus, (self.counts, self.vocabulary, self.documents, self.preparation)

    def _with_rows(
        self,
        counts: Any,
        vocabulary: Vocabulary | None,
        documents: Mapping[str, Any] | None,
        preparation: Preparation | None,
    ) -> Corpus:
        for array in (counts.data, counts.indices, counts.indptr):
            array.setflags(write=False)
        return self.trusting(counts, vocabulary, documents, preparation)

    @classmethod
    def trusting(
        cls,
        counts: sp.csr_array,
        vocabulary: Vocabulary | None,
        documents: Mapping[str, Any] | None = None,
        preparation: Preparation | None = None,
    ) -> Corpus:
        """A corpus of counts that `whole_counts` has checked and a vocabulary that `as_vocabulary` has."""
        if vocabulary is not None and len(vocabulary) != counts.shape[1]:
            as_vocabulary(vocabulary, counts.shape[1])  # which says what is wrong
        corpus = object.__new__(cls)
        object.__setattr__(corpus, "counts", counts)
        object.__setattr__(corpus, "vocabulary", vocabulary)
        object.__setattr__(corpus, "documents", dict(documents or {}))
        object.__setattr__(corpus, "preparation", preparation)
        return corpus


def _rows(lengths: list[int], columns: Any, numbers: Any, n_words: int) -> sp.csr_array:
    """A CSR array from the rows' lengths and their concatenated columns and values."""
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return sp.csr_array((numbers, columns, starts), shape=(len(lengths), n_words))
