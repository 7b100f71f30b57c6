"""How sure the topics of a mixture are: what refits on resampled documents found, stored with the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fdmix.storage.facts import mapping

Floats = np.ndarray[Any, np.dtype[np.float64]]
ARRAYS = ("returned", "moved", "shares", "correlations", "words", "probabilities", "kept")
PREFIX = "reliability_"  # of the arrays' names in a model folder


@dataclass(frozen=True, eq=False)
class PairCheck:
    """Whether word pairs look like the mixture.

    excess : squared residuals of the pairs, as a multiple of what the sampling of documents explains; about 1 if the
        model is true
    typical_error : how far, relative to M, the pairs are from the mixture beyond sampling; 0.1 is 10 %
    n_pairs : word pairs with enough expected tokens to be compared
    misfits : (u, v, Mhat / M, z) of the pairs that fit worst, z in standard errors; the worst first
    """

    excess: float
    typical_error: float
    n_pairs: int
    misfits: tuple[tuple[int, int, float, float], ...] = ()

    @property
    def verdict(self) -> str:
        """What the numbers mean, in words."""
        if not self.n_pairs:
            return "There are too few documents to compare the pairs with the model."
        if self.excess <= 1.1:
            return "The pairs look like this mixture: they differ from it no more than sampling documents explains."
        return (
            f"Beyond what the sampling of documents explains, the pairs differ from this mixture by "
            f"{self.typical_error:.0%} (typically, over {self.n_pairs:,} pairs)."
        )


@dataclass(frozen=True, eq=False)
class Reliability:
    """How sure the topics are, from refits on resampled documents.

    returned : (T,), the share of the refits in which the topic came back: nearer than `distance` in l1
    moved : (T,), the mean l1 distance between the topic and its counterpart in a refit, from 0 to 2
    shares : (T, 2), the interval of each topic's share
    correlations : (2, T, T), the lower and the upper ends of the intervals of alpha
    words : (T, n), the columns of each topic's most probable words
    probabilities : (T, n, 2), the interval of the probability of each of these words
    kept : (T, n), the share of the refits in which the word is among the n most probable of its topic
    level : of the intervals; n_refits, n_folds : how they were found
    warm : whether refits began at the topics; then the intervals are the variation between refits, and no more
    digest : a fingerprint of the topics that it tells of
    check : whether the pairs look like the mixture
    """

    returned: Floats
    moved: Floats
    shares: Floats
    correlations: Floats
    words: Any
    probabilities: Floats
    kept: Floats
    level: float
    n_refits: int
    n_folds: int
    distance: float
    digest: str
    warm: bool = False
    check: PairCheck = field(default_factory=lambda: PairCheck(np.nan, np.nan, 0))

    def __post_init__(self) -> None:
        n_topics, n = len(self.returned), self.words.shape[1] if self.words.ndim == 2 else -1
        shapes = {"returned": (n_topics,), "moved": (n_topics,), "shares": (n_topics, 2)}
        shapes |= {"correlations": (2, n_topics, n_topics), "words": (n_topics, n)}
        shapes |= {"probabilities": (n_topics, n, 2), "kept": (n_topics, n)}
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype.kind not in ("iu" if name == "words" else "f"):
                raise ValueError(f"the reliability of {n_topics} topics needs {name} of the shape {shape}")
            if array.dtype.kind == "f" and not ((array >= 0) & (array <= 2)).all():
                raise ValueError(f"the reliability has {name} that cannot be")
            array.setflags(write=False)
        if not 0 < self.level < 1:
            raise ValueError(f"the level of intervals is above 0 and below 1, not {self.level!r}")

    @property
    def name_of_intervals(self) -> str:
        """What the intervals are called where they are shown; those of warm refits are not "90% intervals"."""
        return "refits vary" if self.warm else f"{self.level:.0%} interval"

    def arrays(self) -> dict[str, Any]:
        """For a model folder."""
        return {PREFIX + name: getattr(self, name) for name in ARRAYS}

    def facts(self) -> dict[str, Any]:
        """For a model folder: what `arrays` leaves out."""
        excess, error = (None if np.isnan(x) else x for x in (self.check.excess, self.check.typical_error))
        check: dict[str, Any] = {"excess": excess, "typical_error": error, "pairs": self.check.n_pairs}
        return {
            "level": self.level, "refits": self.n_refits, "folds": self.n_folds, "distance": self.distance,
            "digest": self.digest, "warm": self.warm,
            "check": check | {"misfits": [list(pair) for pair in self.check.misfits]},
        }  # fmt: skip


def stored_reliability(arrays: Mapping[str, Any], facts: Any, n_words: int) -> Reliability | None:
    """The reliability that a model folder states, checked; None if it has none."""
    if facts is None:
        return None
    told = mapping(facts, "the reliability")
    check = mapping(told["check"], "the check of pairs")
    misfits = tuple((int(u), int(v), float(ratio), float(z)) for u, v, ratio, z in check["misfits"])
    found = Reliability(
        **{name: arrays[PREFIX + name] for name in ARRAYS},
        level=float(told["level"]), n_refits=int(told["refits"]), n_folds=int(told["folds"]),
        distance=float(told["distance"]), digest=str(told["digest"]),
        warm=told.get("warm") is not False,  # refits were warm before models said so
        check=PairCheck(_number(check["excess"]), _number(check["typical_error"]), int(check["pairs"]), misfits),
    )  # fmt: skip
    columns = [*found.words.ravel().tolist(), *(u for pair in misfits for u in pair[:2])]
    if columns and not 0 <= min(columns) <= max(columns) < n_words:
        raise ValueError("the reliability names words that the model does not have")
    return found


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)
