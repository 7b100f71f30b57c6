"""Ask a language model for the labels of topics, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fdmix.labelling.answers import Answers
from fdmix.labelling.cleaning import clean_label
from fdmix.labelling.endpoint import AnswerError, Endpoint, EndpointError
from fdmix.labelling.questions import Question

MAX_FAILURES_IN_A_ROW = 3


def ask_labels(
    questions: Iterable[Question],
    endpoint: Endpoint,
    answers: Answers | None = None,
    report: Callable[[str, int, int | None], Any] | None = None,
) -> tuple[dict[int, str], dict[int, str]]:
    """(labels by topic, why a topic has none) for these questions.

    A question that was answered before is not asked again. Whatever ends the run, an EndpointError or Ctrl-C, the
    answers so far are kept in `answers`, and the next run goes on after them.

    report : called as `report("asking", done, total)`
    """
    known = Answers() if answers is None else answers
    waiting = list(questions)
    failed: dict[int, str] = {}
    in_a_row = 0
    for done, question in enumerate(waiting):
        if report is not None:
            report("asking", done, len(waiting))
        if known.get(question, endpoint.model) is not None:
            continue
        try:
            known.add(question, endpoint.model, _label(endpoint.ask(question.messages())))
            in_a_row = 0
        except AnswerError as error:
            failed[question.topic] = str(error)
            in_a_row += 1
            if in_a_row == MAX_FAILURES_IN_A_ROW:
                raise EndpointError(
                    f"{endpoint.model} gave no label to {in_a_row} topics in a row ({error}): try another model"
                ) from None
    return known.labels_of(waiting, endpoint.model), failed


def _label(answer: str) -> str:
    label = clean_label(answer)
    if not label:
        raise AnswerError("the answer holds no label")
    return label
