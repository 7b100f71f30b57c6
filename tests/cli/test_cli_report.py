"""fdmix report and fdmix label, and labels in the output of the other commands."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fdmix import Mixture, Moments, fit_mixture, read_corpus

TEXTS = ["cats chase a mouse and a dog", "stocks fell and bonds rose", "a dog chases cats", "bonds and stocks"] * 20


def run(*arguments, code=0):
    program = str(Path(sys.executable).with_name("fdmix"))
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, the moments of its text, and the text in two CSV files with a column of groups."""
    folder = tmp_path_factory.mktemp("report")
    moments = Moments.of(read_corpus(TEXTS, stop_words="english"))
    moments.save(folder / "text.moments")
    fit_mixture(moments, 2).mixture.save(folder / "model")
    fit_mixture(moments, 3).mixture.save(folder / "other")
    for name, part in (("a.csv", TEXTS[:40]), ("b.csv", TEXTS[40:])):
        with (folder / name).open("w", newline="") as file:
            csv.writer(file).writerows([["text", "year"], *([text, 2000 + i % 3] for i, text in enumerate(part))])
    return folder


@pytest.mark.slow
def test_a_report_of_everything(folder, tmp_path):
    """Several files may follow --documents, as the shell's globs give them."""
    out = tmp_path / "r.html"
    _, said = run(
        "report", folder / "model", "--moments", folder / "text.moments", "--by", "year", "--column", "text",
        "--documents", folder / "a.csv", folder / "b.csv", "-o", out,
    )  # fmt: skip
    assert "Open it in a browser" in said
    assert out.read_text().startswith("<!doctype html>")
    run("report", folder / "model", folder / "other", "-o", out, code=1)
    run("report", folder / "model", folder / "other", "-o", out, "--force")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing"], "there is no model"),
        (["model", "--by", "year"], "give --documents, too"),
        (["model", "--moments", "a.csv"], "not a file of moments"),
        (["model", "other", "model"], "compares two models"),
        (["model", "--documents", "missing.csv"], "missing.csv"),
        (["model", "--documents", "a.csv", "--column", "text", "--by", "month"], "month"),
        (["model", "-o", "missing/r.html"], "there is no folder"),
        (["text.moments"], "not a model"),
    ],
)
def test_what_goes_wrong_is_said_in_a_sentence(folder, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(folder)
    if "-o" not in arguments:
        arguments = [*arguments, "-o", str(tmp_path / "r.html")]
    assert sentence in run("report", *arguments, code=1)[1]
    assert not (tmp_path / "r.html").exists()


@pytest.fixture(scope="module")
def labelled(folder):
    """A model whose topic 1 is labelled."""
    Mixture.load(folder / "model").save(folder / "labelled")
    (folder / "labels.json").write_text('{"1": "=money()"}')
    _, said = run("label", folder / "labelled", "--from", folder / "labels.json")
    assert "labels for 1 of 2 topics (1: =money())." in said
    return folder / "labelled"


@pytest.mark.slow
def test_labels_are_in_the_table_of_topics(labelled):
    table, _ = run("topics", labelled)
    assert "label" in table.splitlines()[0]
    assert "=money()" in table
    facts = json.loads(run("topics", labelled, "--json")[0])
    assert [topic["label"] for topic in facts] == [None, "=money()"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["main", "long", "wide"])
@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet"])
def test_labels_are_in_assignments(labelled, tmp_path, form, kind):
    """A column of labels, and names of the wide columns; a label that looks like a formula is marked in CSV."""
    (tmp_path / "new.txt").write_text("stocks and bonds\ncats and a dog\nzzz\n")
    out = tmp_path / f"topics{kind}"
    run("assign", labelled, tmp_path / "new.txt", "--form", form, "-o", out)
    if kind == ".csv":
        with out.open(newline="") as file:
            rows = list(csv.DictReader(file))
    elif kind == ".jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    else:
        rows = pq.read_table(out).to_pylist()
    known = {str(row["topic"]): row["label"] for row in rows if row["topic"] not in ("", None)}
    assert known["1"] == ("'=money()" if kind == ".csv" else "=money()")
    assert not known["0"]
    if form == "wide" and kind != ".jsonl":
        assert [name for name in rows[0] if name.startswith("topic_")] == ["topic_0", "topic_1 =money()"]


@pytest.mark.slow
def test_without_labels_nothing_changes(folder, tmp_path):
    (tmp_path / "new.txt").write_text("stocks and bonds\n")
    table, _ = run("assign", folder / "model", tmp_path / "new.txt", "--form", "wide")
    assert table.splitlines()[0] == "document,topic,words,share,known_words,topic_0,topic_1"
    assert "label" not in run("topics", folder / "model")[0]


@pytest.mark.slow
def test_labels_of_another_model_are_refused(folder, tmp_path):
    (tmp_path / "labels.json").write_text('{"kind": "fdmix labels", "topics": "0123", "labels": {"0": "x"}}')
    _, said = run("label", folder / "model", "--from", tmp_path / "labels.json", code=1)
    assert "another model" in said
    assert Mixture.load(folder / "model").labels == {}
    assert "there is no file" in run("label", folder / "model", "--from", tmp_path / "none.json", code=1)[1]
