"""Fit topics to word pairs."""

from fdmix.fit.correlations import fit_correlations
from fdmix.fit.fitting import fit_mixture
from fdmix.fit.solution import Progress, Solution
from fdmix.fit.stopping import Stop
from fdmix.fit.word_ranking import with_word_ranking

__all__ = ["Progress", "Solution", "Stop", "fit_correlations", "fit_mixture", "with_word_ranking"]
