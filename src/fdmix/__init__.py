"""Topic models from word pairs: full dependence mixtures on exact, additive co-occurrence moments."""

from typing import TYPE_CHECKING, Any

from fdmix import baselines, metrics, worlds
from fdmix.corpus.corpus import Corpus
from fdmix.corpus.preparation import Cleaning
from fdmix.documents import Refinement, fit_documents, refine
from fdmix.fit import Progress, Solution, fit_mixture
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.report import Representative, representatives
from fdmix.text import read_corpus, read_moments

if TYPE_CHECKING:
    from fdmix.sklearn.estimator import FDM

__version__ = "0.1.0"
__all__ = [
    "FDM",
    "Cleaning",
    "Corpus",
    "Mixture",
    "Moments",
    "Progress",
    "Refinement",
    "Representative",
    "Solution",
    "__version__",
    "baselines",
    "fit_documents",
    "fit_mixture",
    "metrics",
    "read_corpus",
    "read_moments",
    "refine",
    "representatives",
    "worlds",
]


def __getattr__(name: str) -> Any:
    """FDM, when it is asked for: scikit-learn takes a second to import, and most of fdmix does not need it."""
    if name == "FDM":
        from fdmix.sklearn.estimator import FDM  # noqa: PLC0415

        return FDM
    raise AttributeError(f"module 'fdmix' has no attribute {name!r}")
