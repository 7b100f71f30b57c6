"""The coherences that `fdmix evaluate` measures only if asked: gensim's, and those of word vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fdmix import metrics
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.text.files import STDIN
from fdmix.text.sequences import read_sequences
from fdmix.text.sources import Files

OF_WINDOWS = ("c_v", "c_npmi")
NAMES = (*OF_WINDOWS, "embedding")


@dataclass(frozen=True, eq=False)
class MoreCoherence:
    """Coherences beyond NPMI, with the text they are measured on.

    names : those asked for; vectors : a file of word vectors
    text : the reference, or the input without one; None if the reference is a file of moments
    """

    names: tuple[str, ...]
    vectors: Path | None
    text: Files | None

    def __post_init__(self) -> None:
        unknown = [name for name in self.names if name not in NAMES]
        if unknown:
            raise ValueError(f"there is no coherence {unknown[0]!r} to add; there are {', '.join(NAMES)}")
        windows = [name for name in self.names if name in OF_WINDOWS]
        if windows and self.text is None:
            raise ValueError(
                f"{windows[0]} needs the order of words, which moments do not keep: give --reference text"
            )
        if windows and self.text is not None and STDIN in self.text.paths:
            raise ValueError(f"{windows[0]} reads the text a second time, which standard input does not allow")
        if self.vectors is not None and not self.vectors.is_file():
            raise FileNotFoundError(f"there is no file of word vectors {self.vectors}")

    def scores(self, mixture: Mixture, reference: Any, n_threads: int | None) -> dict[str, float]:
        """The mean over topics of each coherence, by its title; NaN where the reference lacks the words.

        reference : the Corpus or Moments that NPMI was measured on
        """
        found: dict[str, float] = {}
        if any(name in OF_WINDOWS for name in self.names) and self.text is not None:
            sequences = read_sequences(self.text, mixture, n_threads=n_threads)
            for name in (name for name in self.names if name in OF_WINDOWS):
                found[f"coherence ({name})"] = _mean(metrics.coherence, mixture, sequences, name)
        if "embedding" in self.names:
            pairs = reference if isinstance(reference, Moments) else Moments.of(reference, n_threads=n_threads)
            vectors = _vectors(lambda: metrics.word_vectors(pairs))
            found["coherence (word vectors of the text)"] = _mean(metrics.embedding_coherence, mixture, vectors)
        if self.vectors is not None:
            top = {word for words in mixture.top_words(10, as_shown=False) for word in words}
            vectors = metrics.read_word_vectors(self.vectors, top)
            found["coherence (word vectors of the file)"] = _mean(metrics.embedding_coherence, mixture, vectors)
        return found


def names_of(given: Iterable[str] | None) -> tuple[str, ...]:
    """The names in lists such as `c_v,c_npmi`."""
    return tuple(dict.fromkeys(name.strip() for value in given or () for name in value.split(",") if name.strip()))


def _vectors(make: Callable[[], Any]) -> Any:
    """Word vectors, or None if the text is too short to have any."""
    try:
        return make()
    except ValueError:
        return None


def _mean(score: Callable[..., Any], mixture: Mixture, reference: Any, *more: Any) -> float:
    """NaN where it is unknown: a short text may lack the top words of all topics."""
    try:
        values = np.empty(0) if reference is None else score(mixture, reference, *more).topics
    except ValueError:
        values = np.empty(0)
    return float("nan") if np.isnan(values).all() else float(np.nanmean(values))
