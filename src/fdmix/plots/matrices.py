"""Matrices: lift of topics, pairs of words, neighbours in a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize, TwoSlopeNorm
from matplotlib.figure import Figure

from fdmix.corpus.vocabulary import positions
from fdmix.metrics.arguments import as_mixture
from fdmix.mixture.mixture import Mixture
from fdmix.mixture.placement import lift_distances, seriated
from fdmix.moments.moments import Moments
from fdmix.plots.style import (
    ACCENT,
    AMOUNT_COLOURS,
    COLUMN,
    LIFT_COLOURS,
    LINE,
    MIDDLE,
    PLAIN,
    SMALL,
    drawing,
    figure_of,
    font_families,
    shown_text,
    without_frame,
)

LIFT_TICKS = {-5: "1/32", -3: "1/8", -1: "1/2", 0: "1", 1: "2", 2: "4", 3: "8", 4: "16"}  # by log2; as in the report
MAX_NAMED = 40  # rows with names; more are too small to read
MAX_NAME = 24  # characters
MAX_WORDS = 200  # in the picture of a pair matrix, unless they are chosen
ORDERS_OF_MAGNITUDE, FEW_LARGEST = 4, 0.995  # of the logarithmic colour scale


def lift_matrix(mixture: Any, *, axes: Axes | None = None) -> Figure:
    """A figure of the lift alpha_ij / (p_i p_j) of all pairs of topics, in the order of the report's matrix.

    Orange pairs are in the same document more often than by chance, blue ones less often. The diagonal says how much
    of a document a topic fills.

    mixture : a Mixture, Solution or fitted FDM
    """
    model = as_mixture(mixture)
    order = seriated(lift_distances(model.correlations))
    lift = model.lift()[np.ix_(order, order)]
    strength = np.log2(np.maximum(lift, 2.0**-5))
    named = model.n_topics <= MAX_NAMED
    side = COLUMN + (1.0 if model.n_topics > 15 and named else 0)
    with drawing(axes, side + 0.9 * named, side * 0.85, square=True) as here:
        image = here.imshow(strength, cmap=LIFT_COLOURS, norm=TwoSlopeNorm(0, -5, 4), interpolation="nearest")
        without_frame(here)
        if named:
            names = model.topic_names(2)
            rows = [shown_text(f"{topic}  {names[topic]}", MAX_NAME) for topic in order]
            here.set_yticks(np.arange(order.size), rows, **PLAIN)
            here.set_xticks(np.arange(order.size), [str(topic) for topic in order], rotation=90)
        else:
            here.set(xticks=[], yticks=[], xlabel=f"{order.size:,} topics", ylabel=f"{order.size:,} topics")
        bar = _colour_bar(here, image, "lift, against chance")
        bar.set_ticks(list(LIFT_TICKS), labels=[f"{text}×" for text in LIFT_TICKS.values()])
        return figure_of(here)


def pair_matrix(
    pairs: Any,
    mixture: Any = None,
    *,
    words: Sequence[int] | None = None,
    scale: str = "linear",
    axes: Axes | None = None,
) -> Figure:
    """A figure of the pair matrix: how often the words u and v are in the same document.

    pairs : Moments, for Mhat; a Mixture, for the model's M; or a matrix, dense or sparse
    mixture : topics over the same words: then words are those that describe the topics, topic by topic in the order
        of the lift matrix, and topics are blocks along the diagonal
    words : columns to show, in this order; None takes all, up to 200: of more, the most frequent ones
    scale : of the colours, "linear" or "log"
    """
    if scale not in ("linear", "log"):
        raise ValueError(f"the scale is 'linear' or 'log', not {scale!r}")
    matrix, names, title = _pairs(pairs)
    model = None if mixture is None else as_mixture(mixture)
    chosen, blocks = _chosen_words(matrix, names, model, words)
    shown = matrix[np.ix_(chosen, chosen)]
    shown = shown.toarray() if sp.issparse(shown) else shown
    with drawing(axes, COLUMN if model is None else COLUMN + 0.9, COLUMN * 0.82, square=True) as here:
        norm = _norm(shown, scale)
        shown = np.clip(shown, norm.vmin, norm.vmax)
        image = here.imshow(shown, cmap=AMOUNT_COLOURS, norm=norm, interpolation="nearest")
        without_frame(here)
        here.set(xlabel="word v", ylabel="word u")
        if model is not None and model.n_topics <= MAX_NAMED and blocks:
            _name_blocks(here, model, blocks)
        elif names is not None and chosen.size <= MAX_NAMED:
            texts = [shown_text(names[u], MAX_NAME) for u in chosen]
            here.set_yticks(np.arange(chosen.size), texts, **PLAIN)
            here.set_xticks(np.arange(chosen.size), texts, rotation=90, **PLAIN)
        bar = _colour_bar(here, image, title)
        if scale == "linear":
            bar.formatter.set_powerlimits((-2, 3))  # 3 and 10^-4 above the bar, not 0.00030
            bar.formatter.set_useMathText(True)
        return figure_of(here)


def _norm(shown: Any, scale: str) -> Any:
    """The scale of the colours; the logarithmic one shows four orders of magnitude, below the few largest values."""
    largest = float(shown.max()) or 1.0
    if scale == "linear":
        return Normalize(0, largest)
    positive = shown[shown > 0]
    top = float(np.quantile(positive, FEW_LARGEST)) if positive.size else 1.0
    return LogNorm(max(float(positive.min(initial=top)), top / 10**ORDERS_OF_MAGNITUDE) * 0.999, top)


def _name_blocks(axes: Axes, mixture: Mixture, blocks: list[tuple[int, float]]) -> None:
    """Name the rows of each topic's words by the topic."""
    names = mixture.topic_names(2)
    texts = [shown_text(f"{topic}  {names[topic]}", MAX_NAME) for topic, _ in blocks]
    axes.set(xticks=[], ylabel="")
    axes.set_yticks([middle for _, middle in blocks], texts, **PLAIN)


def _pairs(pairs: Any) -> tuple[Any, Sequence[str] | None, str]:
    """(matrix, words, what it is)."""
    if isinstance(pairs, Moments):
        return pairs.matrix, pairs.vocabulary, "Mhat[u, v]"
    if isinstance(pairs, Mixture) or hasattr(pairs, "mixture") or hasattr(pairs, "mixture_"):
        model = as_mixture(pairs)
        return model.pair_matrix(), model.vocabulary, "M[u, v]"
    matrix = pairs if sp.issparse(pairs) else np.asarray(pairs, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a pair matrix is square, words x words; this one is {' x '.join(map(str, matrix.shape))}")
    return matrix, None, "share of the pairs"


def _chosen_words(
    matrix: Any, names: Sequence[str] | None, mixture: Mixture | None, words: Sequence[int] | None
) -> tuple[Any, list[tuple[int, float]]]:
    """(columns of the words, the topics with the middle of their rows)."""
    n_words = matrix.shape[0]
    if words is not None:
        chosen = np.asarray(words, np.int64)
        if chosen.size == 0 or chosen.min() < 0 or chosen.max() >= n_words:
            raise ValueError(f"words are given by their columns, from 0 to {n_words - 1}")
        return chosen, []
    if mixture is not None:
        return _words_by_topic(mixture, _places_of_words(mixture, names, n_words))
    if n_words <= MAX_WORDS:
        return np.arange(n_words), []
    return np.argsort(-np.asarray(matrix.sum(axis=0)).ravel(), kind="stable")[:MAX_WORDS], []


def _places_of_words(mixture: Mixture, names: Sequence[str] | None, n_words: int) -> Any:
    """The place of each of the model's words in the matrix, -1 for a word that it does not have."""
    if names is not None and mixture.vocabulary is not None:
        return positions(mixture.vocabulary, tuple(names))
    if mixture.n_words != n_words:
        raise ValueError(f"the model has {mixture.n_words:,} words and the pairs {n_words:,}, without names to match")
    return np.arange(n_words)


def _words_by_topic(mixture: Mixture, places_of: Any) -> tuple[Any, list[tuple[int, float]]]:
    """The words that describe the topics, each once, topic by topic in the order of the lift matrix."""
    order = seriated(lift_distances(mixture.correlations))
    top = places_of[mixture.top_columns(max(MAX_WORDS // mixture.n_topics, 1))[order]]
    _, first = np.unique(top, return_index=True)
    places = np.sort(first)
    places = places[top.ravel()[places] >= 0][:MAX_WORDS]
    if not places.size:
        raise ValueError("the pairs have no word of the model: were they counted from another text?")
    owner = places // top.shape[1]
    rows = {int(order[one]): np.flatnonzero(owner == one) for one in np.unique(owner)}
    return top.ravel()[places], [(topic, float(where.mean())) for topic, where in rows.items()]


def adjacency_matrix(
    links: Any, breaks: Sequence[float] = (), *, of: str = "node", axes: Axes | None = None
) -> Figure:
    """A figure of a sparse matrix: a square for each entry that is not zero, and lines at breaks between groups.

    breaks : numbers of the rows that begin a new group
    """
    joined = sp.coo_array(links)
    n_rows, n_columns = joined.shape
    with drawing(axes, COLUMN, COLUMN, square=True) as here:
        size = max(9e3 / max(n_rows, n_columns) ** 1.5, 0.2)
        here.scatter(
            joined.col, joined.row, s=size, marker="s", color=ACCENT, linewidths=0, rasterized=joined.nnz > 1_000
        )
        for edge in breaks:
            here.axhline(edge - 0.5, color=LINE, linewidth=0.6, zorder=0)
            here.axvline(edge - 0.5, color=LINE, linewidth=0.6, zorder=0)
        here.set(xlabel=of, ylabel=of, aspect="equal", xlim=(-1, n_columns), ylim=(n_rows, -1))
        return figure_of(here)


def _colour_bar(axes: Axes, image: Any, title: str) -> Any:
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.75, aspect=24, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=2, width=0.6, labelsize=SMALL, labelfontfamily=font_families())
    bar.ax.yaxis.get_offset_text().set(fontsize=SMALL, fontfamily=font_families())
    bar.set_label(title, fontsize=MIDDLE, **PLAIN)
    return bar
