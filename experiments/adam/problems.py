"""What Adam is run on: documents drawn from known topics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.measured import load_corpus
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
    corpus = None if folder is None else Path(folder) / "run-0" / "corpus.npz"
    if corpus is None or not corpus.is_file():
        raise SystemExit(
            "--problem paper needs --synthetic FOLDER, the folder of a finished `fdmix reproduce synthetic --scale "
            "paper`, such as results/paper/synthetic"
        )
    learned = Mixture.load(Path(folder) / "truth" / "sparselda.model")
    law = worlds.World(learned.topics, 1 / learned.n_topics)
    moments = Moments.of(load_corpus(corpus), weighting="paper")
    return Problem("paper", moments, law.mixture, 1_000)
