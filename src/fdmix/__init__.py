"""Topic models from word pairs: full dependence mixtures on exact, additive co-occurrence moments."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fdmix import baselines, metrics, worlds
from fdmix.cells.moments_by_group import MomentsByGroup
from fdmix.choice import Choice, choose_n_topics
from fdmix.corpus.corpus import Corpus
from fdmix.corpus.preparation import Cleaning
from fdmix.documents import Refinement, fit_documents, refine
from fdmix.fit import Progress, Solution, fit_mixture
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.report import Representative, representatives
from fdmix.text import read_corpus, read_moments, read_moments_by

if TYPE_CHECKING:
    from fdmix import distributed as distributed
    from fdmix import plots as plots
    from fdmix.sklearn.estimator import FDM

__version__ = "0.1.0"
__all__ = [
    "FDM",
    "Choice",
    "Cleaning",
    "Corpus",
    "Mixture",
    "Moments",
    "MomentsByGroup",
    "Progress",
    "Refinement",
    "Representative",
    "Solution",
    "__version__",
    "baselines",
    "choose_n_topics",
    "fit_documents",
    "fit_mixture",
    "metrics",
    "read_corpus",
    "read_moments",
    "read_moments_by",
    "refine",
    "representatives",
    "worlds",
]


def __getattr__(name: str) -> Any:
    """What is imported when it is asked for: scikit-learn takes a second, matplotlib and clusters are optional."""
    if name == "FDM":
        from fdmix.sklearn.estimator import FDM  # noqa: PLC0415

        return FDM
    if name in ("distributed", "plots"):
        return import_module(f"fdmix.{name}")
    raise AttributeError(f"module 'fdmix' has no attribute {name!r}")
