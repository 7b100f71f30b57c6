"""Questions, answers that are kept, and labels that are plain text."""

import numpy as np
import pytest
from hostile import HOSTILE_WORDS
from server import serving

from fdmix import Mixture
from fdmix.labelling import Answers, Endpoint, EndpointError, ask_labels, questions_about
from fdmix.labelling.cleaning import MAX_LABEL_CHARACTERS, clean_label
from fdmix.mixture.labels import checked_labels

WORDS = [f"word{u}" for u in range(12)]


def mixture(n_topics=4):
    topics = np.full((n_topics, 12), 0.01)
    for t in range(n_topics):
        topics[t, [2 * t, 2 * t + 1, (2 * t + 2) % 12]] = 1
    return Mixture(topics / topics.sum(axis=1, keepdims=True), vocabulary=WORDS)


def test_a_question_holds_words_and_neighbours_and_no_text():
    question = questions_about(mixture())[1]
    text = question.messages()[1]["content"]
    assert text.startswith("Words of the topic: word2, ")
    assert len(question.neighbours) == 3
    assert question.neighbours[0][0] in ("word0", "word4")
    assert "Document" not in text


def test_documents_are_cut_and_hidden_characters_written_out():
    documents = [["first \x1b[2J\n\n line", "x" * 5000], [], [], []]
    question = questions_about(mixture(), documents)[0]
    assert r"first \x1b[2J line" in question.messages()[1]["content"]
    assert max(map(len, question.documents)) <= 600
    with pytest.raises(ValueError, match="each of the 4 topics"):
        questions_about(mixture(), [["a"]])


def test_a_changed_topic_is_another_question():
    before = questions_about(mixture())
    changed = mixture().topics.copy()
    changed[0] = changed[0][::-1]
    after = questions_about(Mixture(changed, vocabulary=WORDS))
    assert before[0].digest("small") != after[0].digest("small")
    assert before[0].digest("small") != before[0].digest("large")
    assert before[0].digest("small") == questions_about(mixture())[0].digest("small")


def test_mixtures_without_words_are_refused():
    with pytest.raises(ValueError, match="no words to ask about"):
        questions_about(Mixture([[0.5, 0.5]]))


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Tax policy", "Tax policy"),
        ('"Tax policy."', "Tax policy"),
        ("**Label:** Tax policy", "Tax policy"),
        ("Label: Tax\tpolicy\nBecause of the words.", "Tax policy"),
        ("\n\n- `Tax policy`\n- Budget", "Tax policy"),
        ("1. Tax policy", "Tax policy"),
        ("# Tax policy", "Tax policy"),
        ("<think>\nHm, tax.\n</think>\nTax policy", "Tax policy"),
        ("<b>Tax policy</b>", "Tax policy"),
        ("Tax\x1b policy\u202e\u200b", "Tax policy"),
        ("R&D < 5% of GDP", "R&D < 5% of GDP"),
        ("Steuern und Abgaben", "Steuern und Abgaben"),
        ("税收政策", "税收政策"),
        ("", ""),
        ('""', ""),
        ("<think>never ends", ""),
        ("\x00\x1b", ""),
    ],
)
def test_labels_are_cleaned(answer, label):
    assert clean_label(answer) == label


@pytest.mark.parametrize("answer", [*HOSTILE_WORDS, "word " * 100, "x" * 1000, "a\u2028b", "\ud800 lone"])
def test_whatever_is_answered_is_a_valid_short_line(answer):
    label = clean_label(answer)
    assert len(label) <= MAX_LABEL_CHARACTERS
    assert label == checked_labels({0: label}, 1)[0]
    assert not set(label) & set("\n\r\t\x1b\u202e\u2028\x00")


def endpoint(chat):
    return Endpoint(chat.url, "small", timeout=10, sleep=lambda _: None)


def test_each_topic_is_asked_once(tmp_path):
    questions = questions_about(mixture())
    seen = []
    with serving(lambda number: f"Label {number}") as chat:
        labels, failed = ask_labels(questions, endpoint(chat), Answers(tmp_path), lambda *told: seen.append(told))
        again, _ = ask_labels(questions, endpoint(chat), Answers(tmp_path))
    assert labels == again == {t: f"Label {t}" for t in range(4)}
    assert not failed
    assert len(chat.requests) == 4
    assert seen[0] == ("asking", 0, 4)


def test_a_failure_keeps_what_was_answered(tmp_path):
    questions = questions_about(mixture())
    with serving(lambda number: f"Label {number}" if number < 2 else (400, {}, b"")) as chat:
        with pytest.raises(EndpointError, match="refused the question"):
            ask_labels(questions, endpoint(chat), Answers(tmp_path))
        chat.answer = lambda number: f"Late {number}"
        labels, _ = ask_labels(questions, endpoint(chat), Answers(tmp_path))
    assert labels == {0: "Label 0", 1: "Label 1", 2: "Late 3", 3: "Late 4"}


def test_one_empty_answer_costs_one_label_and_three_end_the_run():
    questions = questions_about(mixture())
    with serving(lambda number: "" if number == 1 else f"Label {number}") as chat:
        labels, failed = ask_labels(questions, endpoint(chat))
    assert sorted(labels) == [0, 2, 3]
    assert failed == {1: "the answer is empty"}
    with serving(lambda _: '""') as chat:
        with pytest.raises(EndpointError, match="3 topics in a row"):
            ask_labels(questions, endpoint(chat))
        assert len(chat.requests) == 3


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"kind": "other"}', b"\xff", b'{"labels": 3}'])
def test_a_damaged_file_of_answers_is_replaced(tmp_path, content):
    (tmp_path / "answers.json").write_bytes(content)
    with serving(lambda _: "Label") as chat:
        ask_labels(questions_about(mixture()), endpoint(chat), Answers(tmp_path))
    assert len(chat.requests) == 4
    assert len(Answers(tmp_path).labels) == 4
