"""The methods that can be compared, by name.

A method is a function from a `Task` to a `Found`, and the packages it needs. To add one, write the function in the
file that fits, or in a new one, and add a line below.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fdmix.compare.found import Found, Task


@dataclass(frozen=True)
class Method:
    """A way to find topics.

    where : module and function, imported only when the method runs
    packages : what must be installed, as {module: what pip installs}
    """

    about: str
    where: str
    packages: dict[str, str]
    needs_texts: bool = False
    needs_mallet: bool = False

    def missing(self) -> str | None:
        """What to install so that the method can run, in a sentence; None if all is there."""
        lacking = [package for module, package in self.packages.items() if importlib.util.find_spec(module) is None]
        return f"needs {' and '.join(lacking)}: pip install {' '.join(lacking)}" if lacking else None

    def prepare(self) -> Callable[[Task], Found]:
        """The function that fits, with its packages imported and its loops compiled, so that the clock can start."""
        module, function = self.where.split(":")
        found = importlib.import_module(f"fdmix.compare.methods.{module}")
        getattr(found, "prepare", lambda: None)()
        for package in self.packages:
            importlib.import_module(package)
        fit: Any = getattr(found, function)
        return fit


TOMOTOPY, GENSIM = {"tomotopy": "tomotopy"}, {"gensim": "gensim"}
SENTENCES = {"sentence_transformers": "sentence-transformers"}
METHODS = {
    "fdm": Method("fdmix: word pairs, then LDA from there", "fdm:documents", {}),
    "fdm-pairs": Method("fdmix: word pairs alone (FDM)", "fdm:pairs", {}),
    "fdm-noise": Method("fdmix: its LDA sampling from a random start", "fdm:noise", {}),
    "tomotopy": Method("LDA by Gibbs sampling, priors optimised", "lda:tomotopy", TOMOTOPY),
    "tomotopy-fixed": Method("LDA by Gibbs sampling, alpha 0.1", "lda:tomotopy_fixed", TOMOTOPY),
    "tomotopy-averaged": Method("tomotopy, mean of the last ten states", "lda:tomotopy_averaged", TOMOTOPY),
    "mallet": Method("LDA by SparseLDA (--mallet PATH)", "lda:mallet", {}, needs_mallet=True),
    "sklearn-lda": Method("variational LDA of scikit-learn", "scikit:lda", {}),
    "gensim": Method("variational LDA of gensim, priors optimised", "lda:gensim", GENSIM),
    "nmf": Method("NMF of scikit-learn, KL loss", "scikit:nmf", {}),
    "bertopic": Method(
        "clusters of sentence embeddings", "embeddings:bertopic", {"bertopic": "bertopic"} | SENTENCES, True
    ),
    "keynmf": Method(
        "NMF of keywords by embeddings", "embeddings:keynmf", {"turftopic": "turftopic"} | SENTENCES, True
    ),
    "fastopic": Method(
        "transport between embeddings", "embeddings:fastopic", {"turftopic": "turftopic[torch]"} | SENTENCES, True
    ),
}
ALIASES = {"lda": "tomotopy", "fdmix": "fdm"}


def method_names(given: list[str]) -> list[str]:
    """The methods that a user names; a ValueError lists all if one is unknown."""
    names = [ALIASES.get(name, name) for name in given]
    unknown = [name for name in names if name not in METHODS]
    if unknown:
        raise ValueError(f"there is no method {unknown[0]!r}; there are {', '.join(METHODS)}")
    return list(dict.fromkeys(names))
