"""How fast and how well are topics assigned?

Speed: 5,000 paragraphs, T = 500, against scikit-learn's NMF at an equal or better L. Short documents: the posterior
mean against the sum over all assignments of topics to tokens.
"""

import time
import warnings
from itertools import product
from math import gamma

import numpy as np

from benchmarks import data
from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import Corpus, Mixture, Moments, fit_mixture

N_TOPICS = 500
N_DOCUMENTS = 5_000


def by_scikit_learn(mixture, counts):
    """theta from the multiplicative updates of KL-NMF, which are EM for the same likelihood."""
    from sklearn.decomposition import non_negative_factorization

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge
        weights, _, rounds = non_negative_factorization(
            counts.astype(np.float64),
            H=np.maximum(mixture.topics, 1e-12),
            n_components=mixture.n_topics,
            init="custom",
            update_H=False,
            solver="mu",
            beta_loss="kullback-leibler",
        )
    return weights / weights.sum(axis=1, keepdims=True), rounds


def mean_likelihood(mixture, theta, counts):
    values = np.empty(counts.nnz)
    document = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    for begin in range(0, counts.nnz, 50_000):
        some = slice(begin, begin + 50_000)
        values[some] = np.einsum("et,te->e", theta[document[some]], mixture.topics[:, counts.indices[some]])
    totals = np.bincount(document, weights=counts.data * np.log(np.maximum(values, 1e-300)))
    return float(np.mean(totals / np.asarray(counts.sum(axis=1)).ravel()))


def timed(work):
    """(result, seconds, CPU seconds)."""
    begin, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - begin, time.process_time() - cpu


def posterior_by_enumeration(topics, a, document):
    """The mean of theta given a document, as the sum over all assignments of topics to its tokens."""
    exact, weight = np.zeros(len(topics)), 0.0
    for labels in product(range(len(topics)), repeat=len(document)):
        counts = np.bincount(labels, minlength=len(topics))
        chance = np.prod([topics[t, u] for t, u in zip(labels, document, strict=True)])
        chance *= np.prod([gamma(a + count) / gamma(a) for count in counts])
        weight += chance
        exact += chance * (a + counts) / (a * len(topics) + len(document))
    return exact / weight


def short_documents(n_documents=60, n_topics=3, n_words=12, length=7, a=0.1):
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(n_words, 0.5), n_topics)
    mixture, errors = Mixture(topics, np.eye(n_topics) / n_topics), []
    for theta in rng.dirichlet(np.full(n_topics, a), n_documents):
        document = rng.choice(n_words, length, p=theta @ topics)
        counts = np.bincount(document, minlength=n_words)
        found = mixture.assign([counts], prior=np.full(n_topics, a))[0]
        errors.append(abs(found - posterior_by_enumeration(topics, a, document)).sum())
    record("posterior", mean=float(np.mean(errors)), most=max(errors))
    print(f"  posterior mean against enumeration: l1 {np.mean(errors):.3f}, at most {max(errors):.2f}")


def main():
    print(f"# assignment\n{machine()}")
    short_documents()
    counts = data.mlpapers()
    if counts is None:
        return
    mixture = fit_mixture(Moments.of(counts[N_DOCUMENTS:]), N_TOPICS).mixture
    possible = mixture.topics.any(axis=0)  # scikit-learn cannot skip words that no topic has
    corpus = Corpus(counts[:N_DOCUMENTS].multiply(possible).tocsr())
    mixture.assign(corpus[:10])  # compile
    result, ours, our_cpu = timed(lambda: mixture.assignment(corpus))
    (theta, rounds), theirs, their_cpu = timed(lambda: by_scikit_learn(mixture, corpus.counts))
    print(f"{N_DOCUMENTS:,} paragraphs, T {N_TOPICS}, {(mixture.topics > 0).sum(axis=0).mean():.1f} topics a word")
    peer = mean_likelihood(mixture, theta, corpus.counts)
    own = float(np.nanmean(result.log_likelihoods))
    record("Mixture.assign", seconds=ours, cpu_seconds=our_cpu, likelihood=own, gap=result.gaps.max())
    record("scikit-learn", seconds=theirs, cpu_seconds=their_cpu, likelihood=peer, rounds=rounds)
    record("ratio", cpu_seconds=their_cpu / our_cpu)
    print(f"  scikit-learn, {rounds} rounds   {theirs:7.2f} s, mean L {peer:.5f}")
    print(
        f"  Mixture.assign            {ours:7.2f} s, mean L {own:.5f}, "
        f"largest gap {result.gaps.max():.1e}: {theirs / ours:.0f} times as fast (target 10)"
    )
