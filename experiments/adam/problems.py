"""What Adam is run on: documents drawn from known topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.measured import load_corpus
from experiments.synthetic.run import first_corpus, true_model
from fdmix import Mixture, Moments, worlds

PROBLEMS = ("authors", "middle", "large", "paper")


@dataclass(frozen=True, eq=False)
class Problem:
    """Moments of the documents and the topics that they were drawn from.

    steps : of Adam between two looks at the likelihood
    """

    name: str
    moments: Moments
    truth: Mixture
    steps: int

    @property
    def seen(self):
        """The words that have pairs."""
        return np.flatnonzero(self.moments.unigram)


def problem_of(name, synthetic=None):
    if name == "paper":
        return _paper(synthetic)
    world, n_documents, steps = {
        "authors": (worlds.authors(seed=7), 50_000, 500),
        "middle": (worlds.zipf(100, 3_000, seed=7), 20_000, 500),
        "large": (worlds.zipf(500, 10_500, seed=7), 100_000, 1_000),  # the paper's size, other topics
    }[name]
    corpus = world.sample(n_documents, length=30, seed=8)
    return Problem(name, Moments.of(corpus, weighting="paper"), world.mixture, steps)


def _paper(folder):
    """The first corpus of `fdmix reproduce synthetic --scale paper` and the topics that it was drawn from."""
    files = None if folder is None else (first_corpus(folder), true_model(folder))
    if files is None or not all(path.exists() for path in files):
        raise SystemExit(
            "--problem paper needs --synthetic FOLDER, the folder of `fdmix reproduce synthetic --scale paper`, such "
            "as results/paper/synthetic; the true topics and the first corpus must be there, the methods need not"
        )
    corpus, learned = files[0], Mixture.load(files[1])
    law = worlds.World(learned.topics, 1 / learned.n_topics)
    moments = Moments.of(load_corpus(corpus), weighting="paper")
    return Problem("paper", moments, law.mixture, 1_000)
