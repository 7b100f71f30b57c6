"""What does an open vocabulary cost? Tweets, counted with every word, and with those seen five times or more.

A fit to an open vocabulary leaves out the words seen less often, so that both kinds of topics have the same words.
"""

import time

from benchmarks.data import data_file
from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import fit_mixture, metrics, read_corpus, read_moments

STEPS = {"preset": "tweets", "max_words": None, "min_count": 5}
VOCABULARIES = {"closed": False, "open": True}
SIZES = (10_000, 100_000, 1_000_000)
FITTED, N_TOPICS = 160_000, 50


def counted(tweets, **steps):
    """(moments, CPU seconds)."""
    begin = time.process_time()
    moments = read_moments(tweets, **STEPS, **steps)
    return moments, time.process_time() - begin


def sizes(tweets):
    for n in SIZES:
        for name, is_open in VOCABULARIES.items():
            moments, cpu = counted(tweets.slice(0, n), open_vocabulary=is_open)
            million, megabytes = moments.n_pairs / 1e6, moments.nbytes / 1e6
            record(f"{n} {name}", words=moments.n_words, million_pairs=million, megabytes=megabytes, cpu_seconds=cpu)
            print(
                f"  {n:9,} tweets, {name:6}: {moments.n_words:,} words, {million:.2f} million pairs, "
                f"{megabytes:.0f} MB, {cpu:.1f} CPU s"
            )


def topics(tweets):
    """How well topics predict tweets that they were not fitted to, if rare words are left out later or at once."""
    for name, is_open in VOCABULARIES.items():
        moments, _ = counted(tweets.slice(0, FITTED), open_vocabulary=is_open)
        mixture = fit_mixture(moments, N_TOPICS).mixture
        test = read_corpus(tweets.slice(FITTED, 20_000), like=mixture)
        score = metrics.completion_log_likelihood(mixture, test, prior="dirichlet").mean
        record(f"topics, {name}", words=mixture.n_words, completion=score)
        print(f"  {N_TOPICS} topics of {FITTED:,} tweets, {name}: {mixture.n_words:,} words, completion {score:.4f}")


def main():
    print(f"# vocabularies\n{machine()}")
    path = data_file("tweets.parquet")
    if path is None:
        return
    import pyarrow.parquet as pq

    tweets = pq.read_table(path, columns=["text"])
    read_moments(["warm up", "warm up"])
    sizes(tweets)
    topics(tweets)
