"""How many topics can the data support? The share of topics that a fit misses, by the tokens for each topic.

Topics ~ Dir(60 x Zipf) or sparser, theta ~ Dir(1/T), documents of equal length; two seeds. `long` has few long
documents, `few words` topics over few words.
"""

import logging

import numpy as np

from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import Moments, fit_documents, fit_mixture, worlds
from fdmix.metrics import matching_distance

SEEDS = 2
TOKENS = (50, 100, 200, 450, 800, 1_600)  # for each topic
WORLDS = {  # name: topics, words, tokens of a document, sum of the Dirichlet's parameters
    "T 10, N 500, 10 tokens": (10, 500, 10, 60.0),
    "T 10, N 500, 40 tokens": (10, 500, 40, 60.0),
    "T 30, N 800, 10 tokens": (30, 800, 10, 60.0),
    "T 30, N 800, 40 tokens": (30, 800, 40, 60.0),
    "T 30, N 4000, 10 tokens": (30, 4_000, 10, 60.0),
    "T 30, N 4000, 40 tokens": (30, 4_000, 40, 60.0),
    "T 100, N 3000, 10 tokens": (100, 3_000, 10, 60.0),
    "T 100, N 3000, 40 tokens": (100, 3_000, 40, 60.0),
    "T 30, N 800, sparser topics, 10 tokens": (30, 800, 10, 20.0),
}
LONG = (1, 2, 4)  # documents for each topic, of 2,000 tokens
FEW_WORDS = (10, 15, 20, 30)  # of ten topics, Dir(2 x Zipf)


def missed(world, n_documents, length, seed, fit=fit_mixture):
    """The share of the topics that are missed."""
    corpus = world.sample(max(2, n_documents), length=length, seed=seed + 50)
    data = Moments.of(corpus) if fit is fit_mixture else corpus
    n_topics = world.topics.shape[0]
    return matching_distance(fit(data, n_topics).mixture, world.mixture).missed / n_topics


def main():
    print(f"# share of the topics that are missed, by tokens for each topic\n{machine()}")
    logging.getLogger("fdmix").setLevel(logging.ERROR)  # every fit of the first columns warns
    worse = []  # the share that fit_documents misses more than fit_mixture
    for name, (n_topics, n_words, length, concentration) in WORLDS.items():
        found = {}
        for fit in (fit_mixture, fit_documents):
            shares = {}
            for tokens in TOKENS:
                runs = [
                    missed(
                        worlds.zipf(n_topics, n_words, seed, concentration),
                        tokens * n_topics // length,
                        length,
                        seed,
                        fit,
                    )
                    for seed in range(SEEDS)
                ]
                shares[f"{tokens} tokens"] = float(np.mean(runs))
            found[fit] = shares
            label = name if fit is fit_mixture else f"{name}, fit_documents"
            record(label, **shares)
            print(f"  {label:55} {'  '.join(f'{share:.2f}' for share in shares.values())}", flush=True)
        worse += [found[fit_documents][tokens] - share for tokens, share in found[fit_mixture].items()]
    record("fit_documents misses more", **{"at most": max(worse), "at least": min(worse)})
    for documents in LONG:
        runs = [missed(worlds.zipf(30, 800, seed), documents * 30, 2_000, seed) for seed in range(SEEDS)]
        record(f"long documents, {documents} for each topic", missed=np.mean(runs))
        print(f"  {documents} documents of 2,000 tokens for each topic: {np.mean(runs):.2f}", flush=True)
    for n_words in FEW_WORDS:
        runs = [missed(worlds.zipf(10, n_words, seed, 2.0), 20_000, 30, seed) for seed in range(SEEDS)]
        record(f"{n_words} words", missed=np.mean(runs))
        print(f"  10 topics over {n_words} words: {np.mean(runs):.2f}", flush=True)
