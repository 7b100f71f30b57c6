"""Answers of a language model, kept in a model folder by a fingerprint of what was asked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from fdmix.labelling.questions import Question
from fdmix.storage import replacing
from fdmix.storage.facts import mapping, parse_json, string
from fdmix.storage.model_folder import ANSWERS_FILE
from fdmix.storage.places import place_of

KIND, FORMAT = "fdmix answers", 1


class Answers:
    """Labels by the fingerprint of a question.

    folder : the model folder that keeps them; None keeps them in memory. A damaged or foreign file is not used, and
        the next answer replaces it: it only saves asking again
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.path = None if folder is None else place_of(folder) / ANSWERS_FILE
        self.labels: dict[str, str] = {} if self.path is None else _stored(self.path)

    def get(self, question: Question, model: str) -> str | None:
        """The label that the model gave as its answer, or None."""
        return self.labels.get(question.digest(model))

    def add(self, question: Question, model: str, label: str) -> None:
        """Keep an answer; the file is complete at every moment."""
        self.labels[question.digest(model)] = label
        if self.path is not None:
            content = {"kind": KIND, "format": FORMAT, "labels": self.labels}
            with replacing(self.path) as file:
                file.write(json.dumps(content, ensure_ascii=True, indent=1).encode())

    def made(self, label: str) -> bool:
        """Whether a label is one of these answers, and not one that a person gave."""
        return label in self.labels.values()

    def labels_of(self, questions: Iterable[Question], model: str) -> dict[int, str]:
        """The labels that are known, by topic."""
        found = {question.topic: self.get(question, model) for question in questions}
        return {topic: label for topic, label in found.items() if label is not None}


def _stored(path: Path) -> dict[str, str]:
    try:
        stated = mapping(parse_json(path.read_bytes()), ANSWERS_FILE)
        if (stated.get("kind"), stated.get("format")) != (KIND, FORMAT):
            return {}
        labels = mapping(stated["labels"], "the labels")
        return {digest: string(label, "a label") for digest, label in labels.items()}
    except (OSError, ValueError, KeyError):
        return {}
