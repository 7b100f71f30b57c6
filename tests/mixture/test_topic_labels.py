"""Labels of topics: checked, stored with the model, and kept by everything that changes it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fdmix import Mixture
from fdmix.mixture.labels import read_labels, topics_digest
from fdmix.storage.arrays import FileError

TOPICS = [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]]


@pytest.fixture
def mixture():
    return Mixture(TOPICS, vocabulary=["ant", "bee", "cat"])


def test_labels_are_given_changed_and_removed(mixture):
    assert mixture.labels == {}
    named = mixture.labelled({2: " bees  and\nhoney ", 0: "ants"})
    assert named.labels == {0: "ants", 2: "bees and honey"}
    assert mixture.labels == {}
    assert named.labelled({0: "", np.int64(1): "cats"}).labels == {1: "cats", 2: "bees and honey"}
    assert replace(named, provenance={"a": 1}).labels == named.labels


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        ({3: "x"}, "no topic 3"),
        ({-1: "x"}, "no topic -1"),
        ({True: "x"}, "no topic True"),
        ({"0": "x"}, "no topic '0'"),
        ({0: 5}, "must be a string"),
        ({0: "x" * 201}, "201 characters"),
        ({0: "\ud800"}, "not valid Unicode"),
    ],
)
def test_bad_labels_are_refused(mixture, labels, error):
    with pytest.raises((ValueError, TypeError), match=error):
        mixture.labelled(labels)


def test_labels_are_stored(mixture, tmp_path):
    mixture.labelled({1: "Katzen </b>"}).save(tmp_path / "m")
    assert Mixture.load(tmp_path / "m").labels == {1: "Katzen </b>"}
    mixture.save(tmp_path / "m")
    assert Mixture.load(tmp_path / "m").labels == {}


@pytest.mark.parametrize("labels", [[], "x", {"9": "x"}, {"a": "x"}, {"0": 1}, {"0": "x" * 300}, {"²": "x"}])
def test_forged_labels_are_refused(mixture, tmp_path, labels):
    import hashlib

    mixture.save(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    head = json.loads(path.read_text())
    head["facts"]["labels"] = labels
    head["sha256"]["facts"] = hashlib.sha256(json.dumps(head["facts"], sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(head))
    with pytest.raises(FileError, match="not a valid model"):
        Mixture.load(tmp_path / "m")


def test_files_of_labels(mixture):
    digest = topics_digest(mixture.topics)
    exported = json.dumps({"kind": "fdmix labels", "topics": digest, "labels": {"0": "ants", "1": ""}}).encode()
    assert read_labels(exported, mixture.topics) == {0: "ants", 1: ""}
    assert read_labels(b'{"2": "bees"}', mixture.topics) == {2: "bees"}
    with pytest.raises(ValueError, match="another model"):
        read_labels(exported, mixture.topics[::-1])
    for text in (b"", b"{", b"[1]", b'{"x": "y"}', b'{"kind": "fdmix labels"}', b'{"5": "y"}'):
        with pytest.raises(ValueError):  # noqa: PT011  (each says something else)
            read_labels(text, mixture.topics)


def test_tables_name_topics_by_their_labels_or_else_by_words_and_phrases():
    topics = [[0.5, 0.3, 0.2, 0], [0, 0.1, 0.2, 0.7]]
    mixture = Mixture(topics, vocabulary=["supreme court", "court", "judge", "tax"]).labelled({1: "money"})
    assert mixture.topic_names(2) == ["supreme court, judge", "money"]
    assert mixture.topic_table(library="pandas")["label"].tolist()[1] == "money"
    documents = mixture.document_table(np.array([[3, 1, 0, 0], [0, 0, 0, 4]]), library="pandas")
    assert documents["label"].tolist()[1] == "money"
