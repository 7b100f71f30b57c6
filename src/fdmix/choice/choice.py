"""The scores of several numbers of topics, the number they speak for, and why, in words."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.mixture.frames import as_frame
from fdmix.storage import replacing
from fdmix.storage.arrays import FileError
from fdmix.storage.facts import mapping, parse_json, stated_number, string
from fdmix.storage.places import place_of

Floats = np.ndarray[Any, np.dtype[np.float64]]
PAIRS, COMPLETION = "pairs", "completion"
KINDS = (".csv", ".parquet", ".json")
WRITTEN_BY = "fdmix choose -o numbers.json writes one"
IN_WORDS = {PAIRS: "the word pairs of left-out documents", COMPLETION: "the other half of left-out documents"}


@dataclass(frozen=True, eq=False)
class Choice:
    """How several numbers of topics compare, and the one to take.

    candidates : the numbers of topics, rising; the first is 1, the word frequencies alone
    scores : by name, (folds, candidates): "pairs" and "completion" are log-likelihoods of a pair and of a token of
        the documents left out; "coherence" (NPMI), "exclusivity" and "stability" describe the topics; NaN: unknown
    criterion : the score that decides
    n_documents : documents that were counted
    """

    candidates: tuple[int, ...]
    scores: Mapping[str, Floats]
    criterion: str
    n_documents: int

    @property
    def n_topics(self) -> int:
        """The smallest number of topics whose gain is within one standard error of the largest; 1: no topics."""
        return self.chosen_by(self.criterion)

    @property
    def has_topics(self) -> bool:
        """Whether any number of topics explains left-out documents better than word frequencies do."""
        return self.n_topics > 1

    def gains(self, name: str | None = None) -> Floats:
        """(folds, candidates): what a score gains over one topic; the mean over folds is what is compared."""
        values = self.scores[name or self.criterion]
        return np.asarray(values - values[:, :1])

    def standard_errors(self, name: str | None = None) -> Floats:
        """The standard error of the mean gain of each number of topics, over the folds."""
        gains = self.gains(name)
        return np.asarray(gains.std(axis=0, ddof=1) / np.sqrt(len(gains)))

    def best(self, name: str | None = None) -> int:
        """The number of topics with the largest mean of a score."""
        return self.candidates[int(np.nanargmax(self.means(name or self.criterion)))]

    def means(self, name: str) -> Floats:
        """The mean of a score over the folds, for each number of topics."""
        known = ~np.isnan(self.scores[name])
        total = np.where(known, self.scores[name], 0).sum(axis=0)
        return np.divide(total, known.sum(axis=0), out=np.full(total.shape, np.nan), where=known.any(axis=0))

    def chosen_by(self, name: str) -> int:
        """The number of topics that a score speaks for.

        For likelihoods, the smallest within one standard error of the largest gain; for others, the best.
        """
        if name not in IN_WORDS:
            return self.best(name) if not np.isnan(self.scores[name]).all() else 1
        mean, error = self.gains(name).mean(axis=0), self.standard_errors(name)
        best = int(mean.argmax())
        return self.candidates[int(np.argmax(mean >= mean[best] - error[best]))]

    @property
    def others(self) -> dict[str, int]:
        """What the other scores speak for, by name."""
        return {name: self.chosen_by(name) for name in self.scores if name != self.criterion}

    @property
    def verdict(self) -> str:
        """The choice and its reason, in words."""
        mean, error = self.gains().mean(axis=0), self.standard_errors()
        at, best = self.candidates.index(self.n_topics), int(mean.argmax())
        what = IN_WORDS[self.criterion]
        if not self.has_topics:
            return (
                f"There are no topics: word frequencies alone explain {what} as well as any number of topics that "
                f"was tried ({_listed(self.candidates[1:])})."
            )
        said = f"Take {self.n_topics:,} topics: on {what} they gain {mean[at]:.4f} over word frequencies alone"
        if at == best:
            said += f" (standard error {error[best]:.4f}), the most of all numbers tried."
        else:
            said += f", within one standard error ({error[best]:.4f}) of the best, {mean[best]:.4f} with "
            said += f"{self.candidates[best]:,} topics."
        if at == len(self.candidates) - 1:
            said += " It is the largest number tried: try larger ones, too."
        elif at == 1 and self.candidates[1] > 2:
            said += " It is the smallest number tried: try smaller ones, too."
        return said

    @property
    def second_opinions(self) -> str:
        """What the other scores would choose, in words."""
        named = {COMPLETION: "completion of documents", PAIRS: "word pairs"}
        return "; ".join(f"{named.get(name, name)}: {n:,}" for name, n in self.others.items())

    def columns(self) -> dict[str, list[Any]]:
        """A row for each number of topics: gain, standard error, means of all scores, whether it is chosen."""
        found: dict[str, list[Any]] = {"topics": list(self.candidates)}
        found["gain"] = self.gains().mean(axis=0).tolist()
        found["standard_error"] = self.standard_errors().tolist()
        for name in self.scores:
            found[name] = [None if np.isnan(value) else float(value) for value in self.means(name)]
        found["chosen"] = [number == self.n_topics for number in self.candidates]
        return found

    def to_frame(self, library: str | None = None) -> Any:
        """The table of `columns`; library : "pandas", "polars" or "arrow", by default the first that is installed."""
        return as_frame(self.columns(), library)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV or Parquet, or all scores as JSON, which `load` reads; the name's end says which."""
        kind = table_kind(path)
        if kind == ".json":
            with replacing(path) as file:
                file.write(json.dumps(self.facts(), indent=1).encode())
            return
        if kind == ".parquet":
            import pyarrow.parquet as pq  # noqa: PLC0415  (slow to import)

            with replacing(path) as file:
                pq.write_table(as_frame(self.columns(), "arrow"), file)
            return
        columns, text = self.columns(), io.StringIO(newline="")
        rows = csv.writer(text)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))
        with replacing(path) as file:
            file.write(text.getvalue().encode())

    def facts(self) -> dict[str, Any]:
        """Everything, for JSON; NaN becomes None."""
        scores = {
            name: [[None if np.isnan(value) else float(value) for value in row] for row in table]
            for name, table in self.scores.items()
        }
        return {
            "kind": "choice", "candidates": list(self.candidates), "criterion": self.criterion,
            "documents": self.n_documents, "scores": scores,
        }  # fmt: skip

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Choice:
        """The choice that `save` wrote to a .json file."""
        place = place_of(path)
        if not place.is_file():
            raise FileNotFoundError(f"there is no file {path}. {WRITTEN_BY}")
        try:
            return cls._of_facts(mapping(parse_json(place.read_bytes()), "the choice"))
        except (ValueError, KeyError, TypeError) as error:
            raise FileError(f"{path} is not a choice of the number of topics: {error}. {WRITTEN_BY}") from None

    @classmethod
    def _of_facts(cls, facts: Mapping[str, Any]) -> Choice:
        if facts.get("kind") != "choice":
            raise ValueError("it does not say so")
        numbers = tuple(stated_number(number, "a number of topics", least=1) for number in facts["candidates"])
        scores = {
            str(name): np.array([[np.nan if value is None else float(value) for value in row] for row in table])
            for name, table in mapping(facts["scores"], "the scores").items()
        }
        criterion = string(facts["criterion"], "the criterion")
        if criterion not in IN_WORDS or criterion not in scores or numbers[:1] != (1,) or len(numbers) < 2:
            raise ValueError("its criterion or its numbers of topics are missing")
        if list(numbers) != sorted(set(numbers)):
            raise ValueError("its numbers of topics do not rise")
        shapes = {table.shape for table in scores.values()}
        if len(shapes) != 1 or shapes != {(len(scores[criterion]), len(numbers))} or len(scores[criterion]) < 2:
            raise ValueError("its scores are not a table of folds and numbers of topics")
        if not all(np.isfinite(scores[name]).all() for name in IN_WORDS if name in scores):
            raise ValueError("its likelihoods are not all numbers")
        return cls(numbers, scores, criterion, stated_number(facts["documents"], "the number of documents"))

    def __repr__(self) -> str:
        return f"Choice({self.n_topics:,} topics of {_listed(self.candidates)}, by {self.criterion})"


def table_kind(path: str | os.PathLike[str]) -> str:
    """The end of the name of a table, ".csv", ".parquet" or ".json"."""
    kind = place_of(path).suffix.lower()
    if kind not in KINDS:
        raise ValueError(
            f"tables are written as .csv, .parquet or .json: {place_of(path).name!r} ends in none of them"
        )
    return kind


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)
