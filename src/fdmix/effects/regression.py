"""How topics depend on covariates of documents: regressions of theta, with the uncertainty of theta carried along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr

from fdmix.corpus.corpus import Corpus
from fdmix.effects.formula import design_matrix
from fdmix.effects.margins import Floats
from fdmix.effects.over import DEFAULT_LEVEL
from fdmix.effects.share_fit import ShareFit
from fdmix.effects.testing import adjusted, checked_level, half_widths, p_values
from fdmix.mixture.assignment import aligned_counts, possible_tokens, usual_prior
from fdmix.mixture.frames import as_frame
from fdmix.mixture.mixture import Mixture

METHODS = ("unbiased", "composition")
N_DRAWS = 25  # of theta for each document, as in STM
RANK_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Effects:
    """Coefficients of the regression of each topic's share on the terms of a formula.

    terms : K names; estimates, errors, low, high, p, q : (K, T). q is p after Benjamini and Hochberg, over the topics
        of a term: of the topics with q below 0.05, at most 5 % have no effect, on average
    n_documents : documents in the regression; n_left_out : those with a missing value or without a known word
    """

    terms: tuple[str, ...]
    estimates: Floats
    errors: Floats
    low: Floats
    high: Floats
    p: Floats
    q: Floats
    level: float
    n_documents: int
    n_left_out: int

    def __repr__(self) -> str:
        left_out = f", {self.n_left_out:,} left out" if self.n_left_out else ""
        n_topics, terms = self.estimates.shape[1], ", ".join(self.terms)
        return f"Effects({terms}; {n_topics:,} topics, {self.n_documents:,} documents{left_out})"

    def columns(self) -> dict[str, Any]:
        """A row for each topic and term."""
        n_terms, n_topics = self.estimates.shape
        numbers = {"estimate": self.estimates, "error": self.errors, "low": self.low, "high": self.high}
        numbers |= {"p": self.p, "q": self.q}
        return {
            "topic": np.repeat(np.arange(n_topics), n_terms),
            "term": list(self.terms) * n_topics,
            **{name: values.T.ravel() for name, values in numbers.items()},
        }

    def to_frame(self, library: str | None = None) -> Any:
        """`columns` as a table of pandas, polars or Arrow; None takes the first of these that is installed."""
        return as_frame(self.columns(), library)


def effects(
    mixture: Mixture,
    documents: Any,
    formula: str,
    columns: Any = None,
    *,
    method: str = "unbiased",
    level: float = DEFAULT_LEVEL,
    seed: int = 0,
) -> Effects:
    """Regress the topics of documents on covariates, such as "~ party + month", as STM's estimateEffect does.

    Every document counts once, whatever its length.

    Parameters
    ----------
    documents : Corpus or table of counts
    formula : of formulaic (as in R): "~ party + age", "~ party * poly(age, 3)". month(date) is the number of months
        since the first one, a linear trend; C(month(date)) is a level for each month. So are day, week, quarter, year
    columns : covariates of the documents: a mapping or a data frame; default: the columns of the corpus
    method : "unbiased" regresses unbiased estimates of theta, theta~ = W dhat with E[theta~] = theta: their noise is
        in the residuals, and so in the (robust) standard errors. "composition" is STM's: draws theta from a Dirichlet
        posterior, regresses each draw, and pools. The posterior has one prior for all documents, which pulls the
        effects towards zero, the more the shorter the documents are
    level : of the intervals; seed : of the draws
    """
    if method not in METHODS:
        raise ValueError(f"method is one of {', '.join(METHODS)}, not {method!r}")
    checked_level(level)
    corpus = documents if isinstance(documents, Corpus) else Corpus(documents)
    terms, design, kept = design_matrix(formula, corpus.documents if columns is None else columns, len(corpus))
    counts, _ = aligned_counts(corpus, mixture.vocabulary, mixture.n_words)
    counts, _ = possible_tokens(mixture.topics, counts)
    known = np.asarray(counts.sum(axis=1)).ravel()
    rows = np.flatnonzero(known[kept] > 0)
    design, kept = design[rows], kept[rows]
    _refuse_dependent_terms(design, terms)
    if method == "unbiased":
        estimates, errors = _unbiased(mixture, counts[kept], design)
    else:
        estimates, errors = _composition(mixture, counts[kept], design, seed)
    freedom = len(kept) - len(terms)
    widths, p = half_widths(errors, freedom, level), p_values(estimates, errors, freedom)
    q = np.array([adjusted(row) for row in p])
    return Effects(
        terms, estimates, errors, estimates - widths, estimates + widths, p, q, level,
        len(kept), len(corpus) - len(kept),
    )  # fmt: skip


def _unbiased(mixture: Mixture, counts: Any, design: Floats) -> tuple[Floats, Floats]:
    """Least squares on theta~ = W dhat, with standard errors that allow unequal variances (HC1)."""
    possible = np.flatnonzero(mixture.topics.any(axis=0))
    linear = ShareFit(mixture.topics[:, possible], mixture.shares).linear_map()
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    theta = (counts[:, possible] @ linear.T) / lengths[:, None]
    inverse = np.linalg.inv(design.T @ design)
    estimates = inverse @ (design.T @ theta)
    residuals = theta - design @ estimates
    n, k = design.shape
    bread = design @ inverse  # (n, K)
    return estimates, np.sqrt(n / max(n - k, 1) * (bread**2).T @ residuals**2)


def _composition(mixture: Mixture, counts: Any, design: Floats, seed: int) -> tuple[Floats, Floats]:
    """Least squares on draws of theta, pooled by Rubin's rules: the variance within draws plus that between them."""
    prior = usual_prior(mixture.correlations) if mixture.prior is None else mixture.prior
    means = mixture.assign(counts, prior=prior)
    strength = prior.sum() + np.asarray(counts.sum(axis=1)).ravel()
    rng = np.random.default_rng(seed)
    inverse = np.linalg.inv(design.T @ design)
    n, k = design.shape
    found, variances = [], []
    for _ in range(N_DRAWS):
        theta = rng.standard_gamma(np.maximum(means * strength[:, None], 1e-12))
        theta /= np.maximum(theta.sum(axis=1, keepdims=True), 1e-300)
        estimates = inverse @ (design.T @ theta)
        squares = ((theta - design @ estimates) ** 2).sum(axis=0) / max(n - k, 1)
        found.append(estimates)
        variances.append(np.outer(np.diag(inverse), squares))
    between = np.var(found, axis=0, ddof=1)
    return np.mean(found, axis=0), np.sqrt(np.mean(variances, axis=0) + (1 + 1 / N_DRAWS) * between)


def _refuse_dependent_terms(design: Floats, terms: tuple[str, ...]) -> None:
    if len(design) <= len(terms):
        raise ValueError(f"{len(design):,} documents are too few for the {len(terms)} terms of the formula")
    _, triangle, order = qr(design, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    dependent = [terms[k] for k in order[sizes <= RANK_TOLERANCE * sizes[0]]]
    if dependent:
        raise ValueError(f"the term {dependent[0]!r} follows from the others: leave it out of the formula")
