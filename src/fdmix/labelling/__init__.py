"""Labels of topics from a language model: any server that speaks OpenAI's chat completions."""

from fdmix.labelling.answers import Answers
from fdmix.labelling.asking import ask_labels
from fdmix.labelling.endpoint import AnswerError, Endpoint, EndpointError
from fdmix.labelling.questions import Question, questions_about

__all__ = ["AnswerError", "Answers", "Endpoint", "EndpointError", "Question", "ask_labels", "questions_about"]
