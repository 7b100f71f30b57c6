"""From text to counts: sources, cleaning, tokens, words."""

from fdmix.corpus.preparation import Cleaning
from fdmix.text.cleaning import PRESETS
from fdmix.text.reading import read_corpus, read_moments

__all__ = ["PRESETS", "Cleaning", "read_corpus", "read_moments"]
