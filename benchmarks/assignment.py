"""How fast are topics assigned? 5,000 paragraphs, T = 500, against scikit-learn's NMF at an equal or better L."""

import warnings

import numpy as np

from benchmarks import data
from benchmarks.measure import machine, seconds
from fdmix import Corpus, Moments, fit_mixture

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


def main():
    print(f"# assignment\n{machine()}")
    counts = data.mlpapers()
    if counts is None:
        return
    mixture = fit_mixture(Moments.of(counts[N_DOCUMENTS:]), N_TOPICS).mixture
    possible = mixture.topics.any(axis=0)  # scikit-learn cannot skip words that no topic has
    corpus = Corpus(counts[:N_DOCUMENTS].multiply(possible).tocsr())
    mixture.assign(corpus[:10])  # compile
    ours, result = seconds(lambda: mixture.assignment(corpus), repeats=3)
    theirs, (theta, rounds) = seconds(lambda: by_scikit_learn(mixture, corpus.counts), repeats=1)
    print(f"{N_DOCUMENTS:,} paragraphs, T {N_TOPICS}, {(mixture.topics > 0).sum(axis=0).mean():.1f} topics a word")
    peer = mean_likelihood(mixture, theta, corpus.counts)
    print(f"  scikit-learn, {rounds} rounds   {theirs:7.2f} s, mean L {peer:.5f}")
    print(
        f"  Mixture.assign            {ours:7.2f} s, mean L {np.nanmean(result.log_likelihoods):.5f}, "
        f"largest gap {result.gaps.max():.1e}: {theirs / ours:.0f} times as fast (target 10)"
    )
