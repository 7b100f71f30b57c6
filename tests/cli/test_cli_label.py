"""fdmix label --endpoint, against a real server; the model folder is complete whatever happens."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fdmix import Cleaning, Mixture
from fdmix.cli.app import app
from fdmix.corpus.preparation import Preparation

sys.path.insert(0, str(Path(__file__).parents[1] / "labelling"))
from server import serving

KEY = "sk-secret-0123456789"


@pytest.fixture
def model(tmp_path):
    """A model of four topics about animals, money, space and food."""
    words = ["cat", "dog", "horse", "bank", "loan", "tax", "star", "moon", "comet", "bread", "soup", "egg"]
    topics = np.full((4, 12), 0.01)
    for t in range(4):
        topics[t, 3 * t : 3 * t + 3] = 1
    topics /= topics.sum(axis=1, keepdims=True)
    Mixture(topics, vocabulary=words, preparation=Preparation(Cleaning())).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture(autouse=True)
def _without_keys(monkeypatch):
    for name in ("FDMIX_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def label(model, *arguments):
    app(["label", str(model), *map(str, arguments)], standalone_mode=False)


def files(model):
    return {path.name: path.read_bytes() for path in model.iterdir()}


def test_labels_are_asked_and_stored(model, capsys):
    with serving(lambda number: f'"Label {number}"') as chat:
        label(model, "--endpoint", chat.url, "--model", "small")
        label(model, "--endpoint", chat.url, "--model", "small")
    assert Mixture.load(model).labels == {t: f"Label {t}" for t in range(4)}
    assert len(chat.requests) == 4
    told = capsys.readouterr().err
    assert f"Sent to {chat.url}/chat/completions: words of topics, no text of documents, without a key." in told
    assert "4 are known from before" in told


def test_no_text_is_sent_without_being_asked(model, tmp_path, capsys):
    text = tmp_path / "text.csv"
    text.write_text("text\n" + "\n".join(f"The secret cat number {i} met a dog and a horse." for i in range(9)))
    with serving(lambda number: f"Label {number}") as chat:
        label(model, "--endpoint", chat.url, "--model", "small")
        assert not any("secret" in question for question in chat.asked)
        label(model, "--endpoint", chat.url, "--model", "small", "--send-documents", text)
    assert any("The secret cat number" in question for question in chat.asked)
    assert "words of topics and passages of documents" in capsys.readouterr().err


def test_labels_of_people_stay(model):
    Mixture.load(model).labelled({1: "my own"}).save(model)
    with serving(lambda number: f"Label {number}") as chat:
        label(model, "--endpoint", chat.url, "--model", "small")
        assert Mixture.load(model).labels == {0: "Label 0", 1: "my own", 2: "Label 1", 3: "Label 2"}
        label(model, "--endpoint", chat.url, "--model", "small", "--replace")
    assert Mixture.load(model).labels[1] == "Label 3"


def test_a_dry_run_sends_nothing(model, capsys):
    before = files(model)
    with serving(lambda _: "Label") as chat:
        label(model, "--endpoint", chat.url, "--model", "small", "--dry-run")
    told = capsys.readouterr()
    assert "Words of the topic: cat" in told.out
    assert "Nothing was sent" in told.err
    assert not chat.requests
    assert files(model) == before


@pytest.mark.parametrize("name", ["FDMIX_API_KEY", "OPENAI_API_KEY"])
def test_the_key_comes_from_the_environment_and_is_not_shown(model, capsys, monkeypatch, name):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
    monkeypatch.setenv(name, KEY)
    with serving(lambda number: f"Label {number}") as chat:
        label(model, "--endpoint", chat.url, "--model", "small")
    assert {headers["Authorization"] for _, headers, _ in chat.requests} == {f"Bearer {KEY}"}
    told = capsys.readouterr()
    assert f"with the key of {name}" in told.err
    assert KEY not in told.out + told.err
    assert not any(KEY.encode() in content for content in files(model).values())


@pytest.mark.parametrize("answer", [(401, {}, b""), (404, {}, b""), (200, {}, b"no JSON"), (400, {}, b"{}")])
def test_a_failure_leaves_the_model_as_it_was(model, answer):
    before = files(model)
    with serving(lambda _: answer) as chat, pytest.raises(OSError, match=r"127\.0\.0\.1|JSON"):
        label(model, "--endpoint", chat.url, "--model", "small")
    assert files(model) == before


def test_a_failure_in_the_middle_keeps_the_labels_so_far(model):
    with serving(lambda number: f"Label {number}" if number < 2 else (401, {}, b"")) as chat:
        with pytest.raises(OSError, match="401"):
            label(model, "--endpoint", chat.url, "--model", "small")
        assert Mixture.load(model).labels == {0: "Label 0", 1: "Label 1"}
        chat.answer = lambda number: f"Late {number}"
        label(model, "--endpoint", chat.url, "--model", "small")
    assert Mixture.load(model).labels == {0: "Label 0", 1: "Label 1", 2: "Late 3", 3: "Late 4"}


def test_a_model_with_answers_can_be_written_again(model, tmp_path):
    with serving(lambda number: f"Label {number}") as chat:
        label(model, "--endpoint", chat.url, "--model", "small")
    named = Mixture.load(model)
    named.save(model)
    assert Mixture.load(model).labels == named.labels


@pytest.mark.slow
def test_ctrl_c_keeps_the_labels_so_far(model):
    with serving(lambda number: "Label" if number == 0 else lambda _: chat.released.wait(60)) as chat:
        command = [sys.executable, "-c", "from fdmix.cli.app import main; main()", "label", str(model)]
        command += ["--endpoint", chat.url, "--model", "small"]
        running = subprocess.Popen(command, stderr=subprocess.PIPE, env=os.environ, text=True)
        until = time.monotonic() + 60
        while len(chat.requests) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        told = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert "The same command goes on" in told
    assert Mixture.load(model).labels == {0: "Label"}


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--endpoint", "http://localhost/v1", "--from", "x.json"],
        ["--endpoint", "localhost", "--model", "small"],
        ["--endpoint", "http://localhost/v1"],
        ["--from", "x.json", "--model", "small"],
    ],
)
def test_wrong_usage_is_refused_in_words(model, arguments):
    with pytest.raises(ValueError, match=r"give|address|belong"):
        label(model, *arguments)
