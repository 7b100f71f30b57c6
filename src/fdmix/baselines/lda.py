"""LDA by collapsed Gibbs sampling, with tomotopy or with an installed MALLET (SparseLDA)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.baselines.mallet import train_mallet
from fdmix.corpus.corpus import Corpus
from fdmix.mixture.mixture import Mixture
from fdmix.runtime.whole_numbers import whole_number

Floats = np.ndarray[Any, np.dtype[np.float64]]
SETTLED = "settled"
SETTLED_GAIN = 0.002  # log-likelihood of a token; sampling has settled when SWEEPS_AT_A_TIME sweeps gain less
SWEEPS_AT_A_TIME = 100  # sweeps between two looks at the likelihood
SWEEPS_BETWEEN_STATES = 10  # of those that are averaged
MAX_SWEEPS = 1_000  # sweeps of "settled", at most
DOCUMENTS_AT_A_TIME = 10_000  # documents in one matrix product for E[theta theta']; bounds the memory


def lda(
    corpus: Any,
    n_topics: int,
    *,
    sweeps: int | str = 300,
    alpha: float = 0.1,
    eta: float = 0.01,
    optimise: bool = True,
    seed: int = 0,
    n_threads: int = 1,
    n_states: int = 1,
    mallet: str | Path | None = None,
    callback: Callable[[int, float, int], Any] | None = None,
    checkpoint: str | Path | None = None,
) -> Mixture:
    """LDA's topics as a Mixture, with alpha = E[theta theta'] estimated from the documents' topic shares.

    `provenance["document_prior"]` has the Dirichlet parameters of the topics in a document after the last sweep.

    sweeps : a number, or "settled": until 100 sweeps gain less than 0.002 in the log-likelihood of a token, at most
        1,000. MALLET cannot be stopped early and makes all 1,000
    alpha, eta : the Dirichlet parameters of one topic in a document and of one word in a topic
    optimise : whether the sampler fits alpha (and MALLET also eta) during sampling
    n_threads : threads; the result is reproducible with one thread only
    n_states : tomotopy's topics are the mean of this many states, ten sweeps apart, the first after `sweeps`
    mallet : the path of MALLET's `mallet` command, to use it instead of tomotopy
    callback : called after every 100 sweeps of tomotopy, or 10 of MALLET, with the number of sweeps so far, the
        log-likelihood of a token (MALLET's includes the token's topic), and the largest number of sweeps
    checkpoint : a file for tomotopy's state, written after every 100 sweeps and deleted at the end. If the file
        exists, sampling resumes from it
    """
    corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
    n_topics, n_threads = whole_number("n_topics", n_topics, least=1), whole_number("n_threads", n_threads, least=1)
    seed, n_states = whole_number("seed", seed), whole_number("n_states", n_states, least=1)
    if n_states > 1 and mallet is not None:
        raise ValueError("MALLET gives its last state only: leave out n_states")
    sweeps = SETTLED if sweeps == SETTLED else whole_number("sweeps", sweeps, least=1)
    if not (0 < alpha < np.inf and 0 < eta < np.inf):
        raise ValueError(f"alpha and eta must be positive numbers, not {alpha!r} and {eta!r}")
    if corpus.n_tokens == 0:
        raise ValueError("the corpus has no token")
    settings = {
        "sweeps": sweeps,
        "alpha": alpha,
        "eta": eta,
        "optimise": optimise,
        "seed": seed,
        "n_threads": n_threads,
    }
    if mallet is None:
        topics, second, prior, done = _by_tomotopy(corpus, n_topics, callback, checkpoint, n_states, **settings)
    else:
        topics, second, prior, done = _by_mallet(corpus, n_topics, mallet, callback, **settings)
    return Mixture(
        topics / topics.sum(axis=1, keepdims=True), second / second.sum(), corpus.vocabulary,
        None if corpus.preparation is None else corpus.preparation.weighted(),
        settings | {"sweeps": done, "document_prior": [float(a) for a in prior]},
    )  # fmt: skip


def _by_tomotopy(
    corpus: Corpus, n_topics: int, callback: Any, checkpoint: Any, n_states: int, **settings: Any
) -> tuple[Floats, Floats, Any, int]:
    try:
        import tomotopy  # noqa: PLC0415
    except ImportError as missing:
        raise ImportError("baselines.lda needs tomotopy: pip install 'fdmix[lda]', or give mallet=...") from missing
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None and path.is_file():
        model = tomotopy.LDAModel.load(str(path))
        made = model.k, model.num_words, model.optim_interval > 0, float(model.eta)
        asked = n_topics, corpus.n_tokens, bool(settings["optimise"]), float(np.float32(settings["eta"]))
        priors = [] if settings["optimise"] else model.alpha
        if made != asked or not np.allclose(priors, settings["alpha"]):
            raise ValueError(f"{path} was made with other topics, priors or documents: delete it to begin again")
    else:
        model = tomotopy.LDAModel(k=n_topics, alpha=settings["alpha"], eta=settings["eta"], seed=settings["seed"])
        model.optim_interval = 10 if settings["optimise"] else 0
        for words in _documents(corpus):
            if words:
                model.add_doc(words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # results of several threads differ: see n_threads
        _train(model, settings["sweeps"], settings["n_threads"], callback, path)
        topics = _topics(model, corpus.n_words)
        for _ in range(n_states - 1):
            model.train(SWEEPS_BETWEEN_STATES, workers=settings["n_threads"], show_progress=False)
            topics += _topics(model, corpus.n_words)
    second = np.zeros((n_topics, n_topics))
    documents = iter(model.docs)
    while some := [document.get_topic_dist() for document in islice(documents, DOCUMENTS_AT_A_TIME)]:
        theta = np.array(some, dtype=np.float64)
        second += theta.T @ theta
    if path is not None:
        path.unlink(missing_ok=True)
    return topics, second, model.alpha, model.global_step


def _topics(model: Any, n_words: int) -> Floats:
    """The topics of tomotopy's present state over all words; words that no document has get 0."""
    topics = np.zeros((model.k, n_words))
    columns = [int(word) for word in model.used_vocabs]
    for t in range(model.k):
        topics[t, columns] = model.get_topic_word_dist(t)
    return topics


def _train(model: Any, sweeps: int | str, n_threads: int, callback: Any, checkpoint: Path | None) -> None:
    limit = MAX_SWEEPS if sweeps == SETTLED else int(sweeps)
    before = model.ll_per_word if model.global_step else -np.inf
    while model.global_step < limit:
        model.train(min(SWEEPS_AT_A_TIME, limit - model.global_step), workers=n_threads, show_progress=False)
        if checkpoint is not None:
            partial = checkpoint.with_name(checkpoint.name + ".new")
            model.save(str(partial), full=True)
            partial.replace(checkpoint)
        if callback is not None:
            callback(model.global_step, model.ll_per_word, limit)
        if sweeps == SETTLED and model.ll_per_word - before < SETTLED_GAIN:
            break
        before = model.ll_per_word


def _by_mallet(
    corpus: Corpus, n_topics: int, mallet: Any, callback: Any, **settings: Any
) -> tuple[Floats, Floats, Any, int]:
    sweeps = MAX_SWEEPS if settings["sweeps"] == SETTLED else int(settings["sweeps"])
    of_words, of_documents, alpha, eta = train_mallet(
        _documents(corpus), n_topics, corpus.n_words, mallet, callback, settings | {"sweeps": sweeps}
    )
    of_documents = of_documents[np.diff(of_documents.indptr) > 0]
    size = np.asarray(of_documents.sum(axis=1)).ravel() + alpha.sum()  # theta_d = (n_d + alpha) / size_d
    shares = sp.csr_array(of_documents / size[:, None])
    beside = np.outer(np.asarray(shares.T @ (1 / size)).ravel(), alpha)
    second = (shares.T @ shares).toarray() + beside + beside.T + np.outer(alpha, alpha) * np.sum(size**-2)
    return of_words + eta, second, alpha, sweeps


def _documents(corpus: Corpus) -> Any:
    """Each document as a list of its tokens, named by their columns."""
    counts = corpus.counts
    for d in range(corpus.n_documents):
        entries = slice(counts.indptr[d], counts.indptr[d + 1])
        yield [str(word) for word in np.repeat(counts.indices[entries], counts.data[entries])]
