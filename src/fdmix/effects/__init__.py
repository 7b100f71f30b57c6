"""Topics over time and groups: shares with error bars, differences, trends, words that rise and fall, regressions."""

from fdmix.effects.comparing import Differences, compare
from fdmix.effects.formula import columns_of_formula
from fdmix.effects.over import SharesByGroup, over
from fdmix.effects.regression import Effects, effects
from fdmix.effects.words import WordChanges, word_changes

__all__ = [
    "Differences", "Effects", "SharesByGroup", "WordChanges", "columns_of_formula", "compare", "effects", "over",
    "word_changes",
]  # fmt: skip
