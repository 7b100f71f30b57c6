"""How near do fits to real text come to having anchor words? 20 Newsgroups, T = 20."""

import time

import numpy as np

from benchmarks.measure import machine
from benchmarks.memory import newsgroups
from benchmarks.recording import record
from fdmix import Corpus, Moments, fit_documents, fit_mixture, metrics

T = 20


def slack():
    """Topics with an anchor word, and the mean slack, of three fits."""
    counts = newsgroups()
    if counts is None:
        return
    corpus = Corpus(counts)
    moments = Moments.of(corpus)
    for name, fit in (
        ("sparse", lambda: fit_mixture(moments, T, sparsity=0.2)),
        ("pairs", lambda: fit_mixture(moments, T)),
        ("documents", lambda: fit_documents(corpus, T)),
    ):
        begin = time.process_time()
        found = metrics.identifiability(fit().mixture)
        cpu = time.process_time() - begin
        blurred = int(np.sum(found.slack > 0.5))
        record(
            name, anchored=found.n_anchored, mean=float(found.slack.mean()), without_own_word=blurred,
            cpu_seconds=cpu,
        )  # fmt: skip
        print(
            f"  {name:10} {found.n_anchored} topics with an anchor word, slack {found.slack.mean():.2f}, "
            f"{blurred} without a word of their own, {cpu:.0f} CPU s"
        )


def main():
    print(f"# slack\n{machine()}")
    slack()
