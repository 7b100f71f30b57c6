"""From text to counts: read sources, cut documents into tokens, clean tokens into words, count words."""

from fdmix.corpus.preparation import Cleaning
from fdmix.text.cleaning import PRESETS
from fdmix.text.grouped import read_moments_by
from fdmix.text.reading import read_corpus, read_moments

__all__ = ["PRESETS", "Cleaning", "read_corpus", "read_moments", "read_moments_by"]
