"""The folder of a model: its arrays as safetensors, its facts as JSON, each checked when it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fdmix.corpus.preparation import Preparation
from fdmix.mixture.assignment import matched_prior
from fdmix.mixture.labels import labels_of_facts
from fdmix.mixture.reliability import stored_reliability
from fdmix.storage.facts import mapping, strings

if TYPE_CHECKING:
    from fdmix.mixture.mixture import Mixture


def contents(mixture: Mixture) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the facts to write."""
    facts = {
        "topics": mixture.n_topics,
        "words": mixture.n_words,
        "provenance": dict(mixture.provenance),
        "preparation": None if mixture.preparation is None else mixture.preparation.facts(),
        "relevance": mixture.relevance,
        "tokens": mixture.n_tokens,
        "vocabulary": mixture.vocabulary,
    }
    if mixture.labels:
        facts["labels"] = {str(topic): label for topic, label in mixture.labels.items()}
    arrays = {"topics": mixture.topics, "correlations": mixture.correlations}
    if mixture.reliability is not None:
        facts["reliability"] = mixture.reliability.facts()
        arrays |= mixture.reliability.arrays()
    return arrays if mixture.prior is None else arrays | {"prior": mixture.prior}, facts


def fields(arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the mixture that `contents` gave; KeyError, TypeError or ValueError if they cannot be true."""
    topics, correlations = (_probabilities(arrays[name], name) for name in ("topics", "correlations"))
    known = facts["vocabulary"]
    return {
        "topics": topics,
        "correlations": correlations,
        "vocabulary": None if known is None else strings(known, "the vocabulary"),
        "preparation": Preparation.from_facts(facts["preparation"]),
        "provenance": mapping(facts["provenance"], "the provenance"),
        "prior": _stored_prior(arrays.get("prior"), facts.get("concentration"), correlations),
        "relevance": _stated(facts, "relevance"),
        "n_tokens": _stated(facts, "tokens"),
        "labels": labels_of_facts(facts.get("labels", {}), len(topics)),
        "reliability": stored_reliability(arrays, facts.get("reliability"), topics.shape[1]),
    }


def _stated(facts: Mapping[str, Any], name: str) -> float | None:
    """A number that a file states, or None; older files do not have all of them."""
    value = facts.get(name)
    if value is not None and type(value) not in (int, float):
        raise ValueError(f"the {name} must be a number, not {value!r}")
    return None if value is None else float(value)


def _probabilities(array: Any, name: str) -> Any:
    """A table of a file whose numbers can be added up without overflow."""
    if array.ndim != 2 or array.dtype.kind != "f" or not (np.abs(array) <= 2).all():
        raise ValueError(f"{name} must be a table of probabilities")
    return array


def _stored_prior(prior: Any, concentration: Any, correlations: Any) -> Any:
    """The prior of a folder; older folders store only its strength A, and then it is A E[theta]."""
    if prior is not None and (prior.ndim != 1 or prior.dtype.kind != "f"):
        raise ValueError("the prior must be one number for each topic")
    if prior is not None or concentration is None:
        return prior
    if type(concentration) not in (int, float) or not 0 < concentration < np.inf:
        raise ValueError(f"the concentration must be a positive number, not {concentration!r}")
    return matched_prior(correlations, float(concentration))
