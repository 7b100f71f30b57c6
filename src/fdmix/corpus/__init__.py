"""Documents as whole word counts: the corpus, its vocabulary, and how text became its words."""

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.preparation import Cleaning, Preparation

__all__ = ["Cleaning", "Corpus", "Preparation"]
