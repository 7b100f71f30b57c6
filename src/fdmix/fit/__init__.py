"""Fit topics to word pairs."""

from fdmix.fit.correlations import fit_correlations
from fdmix.fit.fitting import fit_mixture
from fdmix.fit.solution import Progress, Solution
from fdmix.fit.stopping import Stop

__all__ = ["Progress", "Solution", "Stop", "fit_correlations", "fit_mixture"]
