"""What do regressions of topics on a covariate find where the effect is known? Documents of 5 to 50 words."""

import numpy as np

from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import Corpus, Mixture
from fdmix.effects import effects

SHARES = np.array([0.2, 0.5, 0.3])  # of a document of party R
EFFECT = np.array([0.15, -0.15, 0.0])  # what party D adds
N_WORDS, N_DOCUMENTS, N_WORLDS = 60, 1_000, 10  # documents of each party


def world(seed, length):
    """(topics that share their most frequent words, documents, the party of each: 0 or 1)."""
    rng = np.random.default_rng(seed)
    topics = 0.5 * rng.dirichlet(np.full(N_WORDS, 0.05), size=3) + 0.5 * rng.dirichlet(np.full(N_WORDS, 0.2))
    rows = []
    for shares in (SHARES, SHARES + EFFECT):
        theta = rng.dirichlet(2 * shares, size=N_DOCUMENTS)
        rows += [rng.multinomial(length, q / q.sum()) for q in theta @ topics]
    return Mixture(topics), Corpus(np.array(rows)), np.repeat([0.0, 1.0], N_DOCUMENTS)


def main():
    print(f"# regressions: true effect {EFFECT[0]}\n{machine()}")
    for length in (5, 12, 50):
        found = {"unbiased": [], "composition": []}
        for seed in range(N_WORLDS):
            mixture, corpus, party = world(seed, length)
            for method, estimates in found.items():
                estimates.append(effects(mixture, corpus, "~ party", {"party": party}, method=method).estimates[1, 0])
        means = {method: np.mean(estimates) for method, estimates in found.items()}
        record(f"{length} words", **means)
        shown = ", ".join(f"{method} {mean:.3f}" for method, mean in means.items())
        print(f"  {length:2} words: {shown}", flush=True)


if __name__ == "__main__":
    main()
