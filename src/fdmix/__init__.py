"""Topic models from word pairs: full dependence mixtures on exact, additive co-occurrence moments."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdmix import baselines, metrics, worlds
    from fdmix import distributed as distributed
    from fdmix import plots as plots
    from fdmix.cells.moments_by_group import MomentsByGroup
    from fdmix.choice import Choice, choose_n_topics
    from fdmix.corpus.corpus import Corpus
    from fdmix.corpus.preparation import Cleaning
    from fdmix.documents import Refinement, fit_documents, refine
    from fdmix.fit import Progress, Solution, fit_mixture
    from fdmix.mixture.mixture import Mixture
    from fdmix.moments.moments import Moments
    from fdmix.report.representatives import Representative, representatives
    from fdmix.sklearn.estimator import FDM
    from fdmix.text import read_corpus, read_moments, read_moments_by

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


# Where each name comes from. It is imported when it is asked for: numba, SciPy and scikit-learn take a second.
_MODULES = {
    "FDM": "sklearn.estimator",
    "Choice": "choice",
    "Cleaning": "corpus.preparation",
    "Corpus": "corpus.corpus",
    "Mixture": "mixture.mixture",
    "Moments": "moments.moments",
    "MomentsByGroup": "cells.moments_by_group",
    "Progress": "fit",
    "Refinement": "documents",
    "Representative": "report",
    "Solution": "fit",
    "choose_n_topics": "choice",
    "fit_documents": "documents",
    "fit_mixture": "fit",
    "read_corpus": "text",
    "read_moments": "text",
    "read_moments_by": "text",
    "refine": "documents",
    "representatives": "report",
}
_PACKAGES = {
    "baselines", "cells", "choice", "cli", "compare", "corpus", "display", "distributed", "documents", "edits",
    "effects", "engines", "fit", "kernels", "labelling", "metrics", "mixture", "moments", "plots", "reliability",
    "report", "runtime", "sklearn", "solvers", "storage", "text", "tree", "worlds",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """A public name or a package, imported now."""
    if name in _PACKAGES:
        return import_module(f"fdmix.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'fdmix' has no attribute {name!r}")
    value = getattr(import_module(f"fdmix.{_MODULES[name]}"), name)
    globals()[name] = value  # the next time, Python finds it without this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
