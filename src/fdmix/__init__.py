"""Topic models from word pairs: full dependence mixtures on exact, additive co-occurrence moments."""

from fdmix.corpus import Corpus
from fdmix.moments import Moments

__version__ = "0.1.0"
__all__ = ["Corpus", "Moments", "__version__"]
