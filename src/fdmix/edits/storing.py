"""The base of an edited model: the arrays of the model before the first edit, in the same folder, for undo."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from typing import Any

import numpy as np

from fdmix.edits.before_after import StepStory
from fdmix.edits.log import EditLog
from fdmix.mixture.mixture import Mixture
from fdmix.storage.arrays import FileError
from fdmix.storage.model_folder import BASE_FILE
from fdmix.storage.places import place_of
from fdmix.storage.temporaries import replacing

LOG = "edits"  # where the provenance of a model keeps the log


def base_digest(mixture: Mixture) -> str:
    """A fingerprint of topics, correlations and prior."""
    digest = hashlib.sha256()
    for array in (mixture.topics, mixture.correlations, mixture.prior):
        if array is not None:
            digest.update(np.ascontiguousarray(array, np.float64).data)
    return digest.hexdigest()


def last_story(mixture: Mixture) -> StepStory:
    """What the last step of edits did to the model; a ValueError if it was not edited, or by an older version."""
    steps = EditLog.from_facts(mixture.provenance[LOG]).steps if LOG in mixture.provenance else ()
    if not steps or steps[-1].story is None:
        raise ValueError("the model does not tell of a step of edits: fdmix edit makes one")
    return StepStory.from_facts(steps[-1].story)


def write_base(path: str | os.PathLike[str], base: Mixture) -> None:
    """Write the base into a model folder."""
    from safetensors.numpy import save  # noqa: PLC0415  (slow to import)

    arrays = {"topics": base.topics, "correlations": base.correlations}
    if base.prior is not None:
        arrays["prior"] = base.prior
    with replacing(place_of(path) / BASE_FILE) as file:
        file.write(save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))


def read_base(path: str | os.PathLike[str], mixture: Mixture, log: EditLog) -> Mixture:
    """The base of the edited model in a folder; a FileError if it is missing, damaged, or that of another model."""
    from safetensors import SafetensorError  # noqa: PLC0415  (slow to import)
    from safetensors.numpy import load  # noqa: PLC0415

    file = place_of(path) / BASE_FILE
    if not file.is_file():
        raise FileError(f"{path} does not hold the model before its edits ({BASE_FILE}), so they cannot be undone")
    try:
        arrays: dict[str, Any] = load(file.read_bytes())
        base = replace(
            mixture,
            topics=arrays["topics"],
            correlations=arrays["correlations"],
            prior=arrays.get("prior"),
            labels=dict(log.labels),
            provenance=_provenance(mixture, log),
        )
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise FileError(f"{file} is damaged: {error}") from None
    if base_digest(base) != log.base:
        raise FileError(f"{file} is not the model that the edits of {path} began with")
    return base


def _provenance(mixture: Mixture, log: EditLog) -> dict[str, Any]:
    """That of the base: the same without the steps of the log, and without the log unless it inherits constraints."""
    story = {name: fact for name, fact in mixture.provenance.items() if name != LOG}
    return story | {LOG: replace(log, steps=(), standing=log.inherited).facts()} if log.inherited else story
