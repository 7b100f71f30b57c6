"""Topic models from word pairs: full dependence mixtures on exact, additive co-occurrence moments."""

from fdmix import baselines, metrics, worlds
from fdmix.alternation import fit_documents
from fdmix.corpus import Corpus
from fdmix.fit import Progress, Solution, fit_mixture
from fdmix.mixture import Mixture
from fdmix.moments import Moments
from fdmix.refine import Refinement, refine

__version__ = "0.1.0"
__all__ = [
    "Corpus",
    "Mixture",
    "Moments",
    "Progress",
    "Refinement",
    "Solution",
    "__version__",
    "baselines",
    "fit_documents",
    "fit_mixture",
    "metrics",
    "refine",
    "worlds",
]
