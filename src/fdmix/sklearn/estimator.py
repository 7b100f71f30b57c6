"""FDM, the scikit-learn estimator: it translates names and formats and holds no arithmetic."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from fdmix.corpus.content_hashes import in_order_of_content
from fdmix.corpus.corpus import Corpus
from fdmix.corpus.vocabulary import Vocabulary, as_vocabulary
from fdmix.documents.fitting import fit_documents
from fdmix.fit.fitting import fit_mixture
from fdmix.fit.solution import Progress, Solution
from fdmix.metrics import completion_log_likelihood, pair_log_likelihood
from fdmix.mixture.assignment import assign
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.moments.weighted import WeightedMoments, is_whole
from fdmix.moments.weighting import DEFAULT_WEIGHTING
from fdmix.runtime.threads import thread_count
from fdmix.sklearn.callbacks import CallbackSupportMixin, Printer, Watch, heard_by, with_callbacks
from fdmix.sklearn.inputs import aligned, corpus_of, is_text, words_of
from fdmix.sklearn.weights import checked_weights, repeated, require_some_weight
from fdmix.solvers import Solver


class FractionalCountsWarning(UserWarning):
    """FDM was given fractional numbers, which it takes as weights."""


class FDM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CallbackSupportMixin, BaseEstimator):
    """FDM, then LDA sampling from it, for scikit-learn: counts or texts in, topic shares of documents out.

    FDM maximises sum_uv Mhat[u, v] log (mu' alpha mu)[u, v] over topics mu and their correlations alpha, where Mhat
    is the unbiased estimate of the probabilities of word pairs, and makes the topics as sparse as the data allow. It
    assumes nothing about the topics of documents. With `refine`, the default, CVB0 passes and Gibbs sampling of LDA
    go on from there, which assume a Dirichlet prior: other topics, better on most scores of real text.

    `refine=False` is the paper's method, fitted by our solver; `solver="adam", weighting="paper"` fit it as the paper
    did.

    Parameters
    ----------
    n_components : number of topics, T
    solver : "em" (sparse EM), "adam" (the paper's), or either's settings as an object
    sparsity : "auto", or the tokens that sparse EM subtracts from every expected count; 0: maximum likelihood
    engine : "auto" (the CPU's), "torch" (GPUs, see docs/how-to/gpu.md) or "numpy", as in `fit_mixture`
    device : where engine="torch" computes: "auto", "cuda", "cuda:1", "mps" or "cpu"
    weighting : "tokens": longer documents count more, see `Moments.of`; "paper": all count the same
    max_iter : most passes over the pairs
    tol : a pass that changes less is the last, see `fit_mixture`
    refine : whether LDA goes on from FDM's topics, with CVB0 passes and Gibbs sampling over the documents
        (`fit_documents`), for some more time and for memory of all documents. Only with whole counts and weights (of
        a million documents at most in all), and solver="em".
    prior : of `transform`. None: the most likely topics of each document; "dirichlet": about the posterior mean under
        the mixture's prior; or the Dirichlet's parameters
    random_state : whole number or RandomState; None is 0, so that a fit can be repeated
    n_jobs : threads; None or -1: all cores. No result depends on it.
    verbose : 0 prints nothing, 1 a line for each phase of the fit, 2 a line for each pass
    callback : called with a `Progress` after each pass over the pairs; returning True stops the fit. See also
        `set_callbacks`, and `fit_documents`, which also tells of passes over documents.

    Attributes
    ----------
    components_ : (T, N), topics, rows sum to 1
    correlations_ : (T, T), alpha = E[theta theta'], symmetric, sums to 1
    mixture_ : both, as a `Mixture`; moments_ : what was learned from, as `Moments`; solution_ : how the fit went
    n_iter_ : passes; n_features_in_, feature_names_in_ : columns and, from a DataFrame, their names

    In place of a table of counts, `fit`, `partial_fit`, `transform` and `score` take a list of strings, which is read
    with the defaults of `read_corpus`, or a `Corpus`; both bring their words along.

    >>> from fdmix import worlds
    >>> X = worlds.intervals().sample(2000, length=20).counts
    >>> model = FDM(3).fit(X)
    >>> model.transform(X[:4]).shape
    (4, 3)
    >>> texts = ["cats chase mice", "mice eat cheese", "dogs chase cats", "people eat cheese"]
    >>> FDM(2).fit(texts).mixture_
    Mixture(2 topics over 7 words)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        solver: str | Solver = "em",
        sparsity: float | str | None = "auto",
        engine: str = "auto",
        device: str = "auto",
        weighting: str = DEFAULT_WEIGHTING,
        max_iter: int = 2000,
        tol: float = 0.01,
        refine: bool = True,
        prior: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.sparsity = sparsity
        self.engine = engine
        self.device = device
        self.weighting = weighting
        self.max_iter = max_iter
        self.tol = tol
        self.refine = refine
        self.prior = prior
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn topics from counts, documents x words, from texts or a Corpus; `y` is not looked at.

        sample_weight : how often each document counts. With whole counts and weights the result is the same, to the
            last bit, as with the documents repeated so often.
        """
        X = self._read(X, None)
        counts, weights = self._checked(X, sample_weight, reset=True)
        require_some_weight(weights)
        self.moments_ = self._counted(counts, weights, X)
        self._documents = [repeated(counts, weights) if self.refine else None]
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._solution: Solution | None = None
        self._solve(X=counts, y=y, metadata=metadata)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add documents to those seen. Only their pairs are counted: topics are fitted when they are next asked for.

        With whole counts, the result is the same, to the last bit, as that of one `fit` on all documents. The words
        of texts are those of the first part: other words of later parts are left out.
        """
        first = not hasattr(self, "moments_")
        X = self._read(X, None if first else self.moments_)
        counts, weights = self._checked(X, sample_weight, reset=first)
        more = self._counted(counts, weights, X)
        if not first:
            more = more.named(self.moments_.vocabulary)
        self.moments_ = more if first else self.moments_ + more
        self._documents = [*([] if first else self._documents), repeated(counts, weights) if self.refine else None]
        self._solution = None
        return self

    def transform(self, X: Any) -> Any:
        """Topic shares of documents: (documents, T), rows sum to 1; the average for one without a known word."""
        check_is_fitted(self, "moments_")
        counts, _ = self._checked(self._read(X, self.moments_), None, reset=False)
        mixture, dtype = self.mixture_, np.float32 if counts.dtype == np.float32 else np.float64
        self._warn_of_fractions(counts, once=True)
        if is_whole(counts):
            theta = mixture.assign(counts, self.prior, n_threads=self._n_threads())
        else:
            table = sp.csr_array(counts, dtype=np.float64)
            own = isinstance(self.prior, str) and self.prior == "dirichlet" and mixture.prior is not None
            prior = mixture.prior if own else self.prior
            theta = assign(
                mixture.topics, mixture.correlations, table, prior=prior, n_threads=self._n_threads()
            ).theta
        return theta.astype(dtype, copy=False)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """How well the model predicts words of other documents; higher is better, so that a grid search can choose T.

        The mean log-probability of a word in one half of a document, given the other half and the mixture's
        Dirichlet prior. With fractional counts there are no halves: the pair log-likelihood.
        """
        check_is_fitted(self, "moments_")
        counts, weights = self._checked(self._read(X, self.moments_), sample_weight, reset=False)
        require_some_weight(weights)
        self._warn_of_fractions(counts, once=True)
        if is_whole(counts) and not self._knows_fractions():
            score = completion_log_likelihood(self.mixture_, counts, "dirichlet")
            return score.mean if weights is None else score.weighted_mean(weights)
        moments = WeightedMoments.of(counts, self.moments_.vocabulary, weights=weights, weighting=self.weighting)
        return pair_log_likelihood(self.mixture_, moments)

    def name_words(self, words: Any) -> Self:
        """Say which words the columns count, where `fit` could not know: after a CountVectorizer in a pipeline.

        words : the fitted pipeline that this FDM is a step of, a fitted vectorizer, or the words themselves

        `pipeline = make_pipeline(CountVectorizer(), FDM(20)).fit(texts); pipeline[-1].name_words(pipeline)`
        """
        check_is_fitted(self, "moments_")
        vocabulary = as_vocabulary(words_of(words, self), self.n_features_in_)
        self.moments_ = self.moments_.named(vocabulary)
        if self._solution is not None:
            named = replace(self._solution.mixture, vocabulary=vocabulary)
            self._solution = replace(self._solution, mixture=named)
        return self

    @property
    def solution_(self) -> Solution:
        """The fitted mixture, its log-likelihoods, and why the fit stopped."""
        check_is_fitted(self, "moments_")
        if self._solution is None:  # after partial_fit
            self._solve()
        assert self._solution is not None
        return self._solution

    @property
    def mixture_(self) -> Mixture:
        """Topics, correlations and, if known, words."""
        return self.solution_.mixture

    @property
    def components_(self) -> Any:
        """Topics, (T, N); rows sum to 1."""
        return self.mixture_.topics

    @property
    def correlations_(self) -> Any:
        """alpha = E[theta theta'], (T, T)."""
        return self.mixture_.correlations

    @property
    def n_iter_(self) -> int:
        """Passes over the pairs; one topic needs one."""
        return max(1, len(self.solution_.log_likelihoods) - 1)

    @property
    def _n_features_out(self) -> int:
        return self.mixture_.n_topics

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._topics_html()

    def _repr_mimebundle_(self, **settings: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**settings)
        return bundle | {kind: html + self._topics_html() for kind, html in bundle.items() if kind == "text/html"}

    def _topics_html(self) -> str:
        """The topics below scikit-learn's picture of the estimator, if they are fitted already."""
        fitted: Solution | None = vars(self).get("_solution")
        return "" if fitted is None else fitted.mixture._repr_html_()

    @with_callbacks
    def _solve(self, **data: Any) -> None:
        """Fit the topics to the moments."""
        if not isinstance(self.n_components, Integral) or self.n_components < 1:
            raise ValueError(f"n_components must be a whole number from 1 upwards, not {self.n_components!r}")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter must be a whole number from 1 upwards, not {self.max_iter!r}")
        watch, printer = Watch(self, self.callback, **data), Printer(int(self.verbose))
        settings: dict[str, Any] = {
            "seed": self._seed(), "max_passes": int(self.max_iter), "tolerance": self.tol,
            "n_threads": self._n_threads(), "engine": self.engine, "device": self.device,
        }  # fmt: skip
        if any(part is None for part in self._documents) or self.sparsity != "auto" or self.solver != "em":
            self._solution = fit_mixture(
                self.moments_, int(self.n_components),
                solver=self.solver, sparsity=self.sparsity, callback=heard_by(printer, watch), **settings,
            )  # fmt: skip
        else:
            table = in_order_of_content(sp.vstack(self._documents, format="csr"))
            documents = Corpus(table, self.moments_.vocabulary, preparation=self.moments_.preparation)
            self._solution = fit_documents(
                documents, int(self.n_components), callback=heard_by(printer, watch), **settings
            )
        watch.close()
        printer.close(self._solution.reason)
        if not self._solution.converged and self.n_iter_ >= self.max_iter:
            warnings.warn(
                f"{self._solution.reason} before the topics settled: raise max_iter", ConvergenceWarning, stacklevel=4
            )

    def _read(self, X: Any, like: Any) -> Any:
        """Texts and corpora as a Corpus, over the words of moments if there are any; all else as it is."""
        if is_text(X):
            X = corpus_of(X, like, self._n_threads())
        if not isinstance(X, Corpus) or like is None:
            return X
        return Corpus(aligned(X, like), like.vocabulary, preparation=X.preparation)

    def _checked(self, X: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, Any]:
        """The counts as a dense or CSR table, and the documents' weights or None."""
        X = X.counts if isinstance(X, Corpus) else X
        counts = validate_data(self, X, accept_sparse="csr", dtype="numeric", ensure_non_negative=True, reset=reset)
        return counts, checked_weights(sample_weight, counts.shape[0])

    def _counted(self, counts: Any, weights: Any, X: Any) -> Moments | WeightedMoments:
        """The moments of X, whose counts were checked, with the words that X brings along."""
        self._warn_of_fractions(counts, once=False)
        if isinstance(X, Corpus):
            return replace(self._pairs(counts, weights, X.vocabulary), preparation=X.preparation)
        names = getattr(self, "feature_names_in_", None)
        return self._pairs(counts, weights, None if names is None else as_vocabulary(names))

    def _pairs(self, counts: Any, weights: Any, words: Vocabulary | None) -> Moments | WeightedMoments:
        if is_whole(counts) and (weights is None or is_whole(weights)):
            return Moments.of(counts, words, weights=weights, weighting=self.weighting, n_threads=self._n_threads())
        return WeightedMoments.of(counts, words, weights=weights, weighting=self.weighting)

    def _warn_of_fractions(self, counts: Any, *, once: bool) -> None:
        """In every fit; elsewhere only if the fit was on whole counts."""
        if is_whole(counts) or (once and self._knows_fractions()):
            return
        warnings.warn(
            "FDM expects whole token counts (CountVectorizer, not TfidfVectorizer): it takes these numbers as "
            "weights, with the plug-in estimate of pairs, c c' / l^2",
            FractionalCountsWarning,
            stacklevel=4,
        )

    def _knows_fractions(self) -> bool:
        return isinstance(self.moments_, WeightedMoments) and self.moments_.fractional

    def _seed(self) -> int:
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _n_threads(self) -> int | None:
        """As joblib counts: -1 is all cores, -2 all but one."""
        if self.n_jobs is None:
            return None
        return int(self.n_jobs) if self.n_jobs >= 0 else max(1, thread_count() + 1 + int(self.n_jobs))
