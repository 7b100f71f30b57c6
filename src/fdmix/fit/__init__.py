"""Fit topics to word pairs."""

from fdmix.fit.fitting import Progress, Solution, fit_correlations, fit_mixture

__all__ = ["Progress", "Solution", "fit_correlations", "fit_mixture"]
