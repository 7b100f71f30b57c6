"""`fdmix edit`, `update` and `forget` through their real entry point, and what goes wrong."""

import csv
import json
import random

import numpy as np
import pytest
from test_cli import run

from fdmix import Mixture, Moments
from fdmix.cli.edit_options import list_of, seeds_of, topic_and_text

GROUPS = {
    "tax": "tax budget money bank income spending",
    "climate": "carbon warming climate energy emission ice",
    "sport": "goal match team player season league",
}


def write_documents(path, n_documents, seed):
    draw = random.Random(seed)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text"])
        for number in range(n_documents):
            first, second = draw.sample(list(GROUPS.values()), 2)
            words = draw.choices(first.split(), k=12) + draw.choices(second.split(), k=4) + ["lol"]
            writer.writerow([number, " ".join(words)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edit")
    write_documents(folder / "a.csv", 300, 1)
    write_documents(folder / "b.csv", 100, 2)
    run("count", folder / "a.csv", "--column", "text", "--open", "-o", folder / "model.moments")
    run("fit", folder / "model.moments", "--topics", 3, "-o", folder / "model")
    return folder


def bits(path):
    return (path / "mixture.safetensors").read_bytes(), (path / "model.json").read_bytes()


@pytest.mark.slow
def test_edits_undo_and_replay(folder, tmp_path):
    model, moments = folder / "model", ("--moments", folder / "model.moments")
    done = run(
        "edit", model, "--merge", "0,1", "--seed", "money: tax bank=0.05 nosuch", "--ban", "lol", "-o", tmp_path / "a"
    )
    assert "left out: nosuch" in done.stderr
    assert "Log-likelihood of a pair" in done.stderr
    mixture = Mixture.load(tmp_path / "a")
    assert mixture.labels == {1: "money"}
    column = {word: u for u, word in enumerate(mixture.vocabulary)}
    assert not mixture.topics[:, column["lol"]].any()
    assert mixture.topics[1, column["bank"]] >= 0.05 / 1.07 - 1e-9
    done = run("edit", tmp_path / "a", *moments, "--split", 0, "--rename", "2: last", "--json", "-o", tmp_path / "b")
    assert json.loads(done.stdout)["new"] == [3]
    run("edit", tmp_path / "b", *moments, "--undo", "-o", tmp_path / "a again")
    assert bits(tmp_path / "a again") == bits(tmp_path / "a")
    run("edit", tmp_path / "a", *moments, "--undo", "-o", tmp_path / "model again")
    assert bits(tmp_path / "model again") == bits(model)
    run("edit", model, "--replay", tmp_path / "b", "-o", tmp_path / "b again")
    assert bits(tmp_path / "b again") == bits(tmp_path / "b")
    run("label", tmp_path / "b", "--from", _labels(tmp_path))
    run("edit", tmp_path / "b", *moments, "--undo", "--force", "-o", tmp_path / "b")
    assert bits(tmp_path / "b") == bits(tmp_path / "a")


def _labels(folder):
    path = folder / "labels.json"
    path.write_text('{"0": "named later"}')
    return path


BAD = {
    "there is no topic 9": ("--merge", "0,9"),
    "say what to change": (),
    "do not go together": ("--undo", "--ban", "lol"),
    "near, stay, follow": ("--ban", "lol", "--others", "all"),
    "there is no file": ("--ban", "lol", "--moments", "nowhere"),
}


@pytest.mark.slow
@pytest.mark.parametrize("sentence", list(BAD))
def test_bad_edits_write_nothing(sentence, folder, tmp_path):
    assert sentence in run("edit", folder / "model", *BAD[sentence], "-o", tmp_path / "new", code=1).stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda text: list_of(text, "--merge"), "a,b"),
        (lambda text: list_of(text, "--merge"), ""),
        (lambda text: list_of(text, "--pin", most=2), "1,2,3"),
        (seeds_of, "carbon"),
        (seeds_of, ": carbon"),
        (lambda text: topic_and_text(text, "--rename"), "taxes"),
        (lambda text: topic_and_text(text, "--rename"), "x: taxes"),
    ],
)
def test_options_of_edits_say_what_they_take(read, text):
    with pytest.raises(ValueError, match="such as"):
        read(text)


@pytest.mark.slow
def test_update_and_forget(folder, tmp_path):
    text = ("--column", "text")
    new = ("-o", tmp_path / "new", "--moments-out", tmp_path / "new.moments")
    run("update", folder / "model", folder / "b.csv", *text, *new)
    assert Moments.load(tmp_path / "new.moments").n_documents == 400
    overlap = np.sqrt(Mixture.load(folder / "model").topics) @ np.sqrt(Mixture.load(tmp_path / "new").topics).T
    assert overlap.argmax(axis=1).tolist() == [0, 1, 2]
    error = run("update", tmp_path / "new", folder / "b.csv", *text, code=1).stderr
    assert "fdmix update --again" in " ".join(error.split())
    assert "counted twice" in error
    run("forget", tmp_path / "new", folder / "b.csv", *text)
    assert bits(tmp_path / "new") == bits(folder / "model")
    assert (tmp_path / "new.moments").read_bytes() == (folder / "model.moments").read_bytes()
    error = run("forget", tmp_path / "new", folder / "b.csv", *text, code=1).stderr
    assert "cannot remove these documents" in error
    assert bits(tmp_path / "new") == bits(folder / "model")


@pytest.mark.slow
def test_an_edited_model_forgets_warm_only(folder, tmp_path):
    run("edit", folder / "model", "--ban", "lol", "-o", tmp_path / "edited")
    rest = (
        "--column",
        "text",
        "--moments",
        folder / "model.moments",
        "-o",
        tmp_path / "x",
        "--moments-out",
        tmp_path / "y",
    )
    error = run("forget", tmp_path / "edited", folder / "a.csv", *rest, code=1).stderr
    assert "the model was edited" in error
    both = ("--column", "text", "--moments", folder / "model.moments")
    run(
        "update",
        tmp_path / "edited",
        folder / "b.csv",
        *both,
        "-o",
        tmp_path / "more",
        "--moments-out",
        tmp_path / "more.moments",
    )
    run("forget", tmp_path / "more", folder / "b.csv", "--column", "text", "--warm")
    mixture = Mixture.load(tmp_path / "more")
    assert not mixture.topics[:, mixture.vocabulary.index("lol")].any()
