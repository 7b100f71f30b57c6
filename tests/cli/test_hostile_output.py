"""Hostile words, provenance, columns and file names in every output: no crash, no escape, no formula, no loss."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hostile import HOSTILE_WORDS

from fdmix import Mixture, Moments
from fdmix.corpus.preparation import Preparation
from fdmix.text.cleaning import cleaning_of

N_TOPICS = 17  # of four hostile words each
NAME = "[red]\x1b[31m\u202ename\x9b"
FORMULA = re.compile(r"[=@\t\r]|[+-](?![0-9., ]*[0-9]$)")


CONTROLS = ("Cc", "Cs")  # what no output may have
HIDDEN = (*CONTROLS, "Cf", "Zl", "Zp")  # and what may not reach a terminal; in a file it is the user's text


def run(*arguments, code=0, unsafe=HIDDEN, **options):
    """The real program: what it prints is safe, and it does not crash."""
    program = str(Path(sys.executable).with_name("fdmix"))
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, check=False, timeout=280, **options)
    out, error = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == code, out + error
    assert "Traceback" not in error
    require_safe(out, unsafe)
    require_safe(error)
    return out, error


def require_safe(text, unsafe=HIDDEN):
    text = re.sub("\r+\n", "\n", text)  # CSV has line ends of its own, and a terminal, too
    found = {c for c in text if c not in "\n\t" and unicodedata.category(c) in unsafe}
    assert found <= {"\u200d"}  # which joins emoji


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of hostile words under a hostile name, text it can read, and moments of hostile words."""
    folder = tmp_path_factory.mktemp("hostile")
    words = (*HOSTILE_WORDS, "ant", "bee")
    topics = np.zeros((N_TOPICS, len(words)))
    for u in range(len(HOSTILE_WORDS)):
        topics[u % N_TOPICS, u] = 1
    topics[:, -2:] = [[0.5, 0.1], [0.1, 0.5]] * (N_TOPICS // 2) + [[0.1, 0.1]]
    provenance = {word: word for word in HOSTILE_WORDS} | {"nested": {NAME: list(HOSTILE_WORDS)}}
    cleaning = Preparation(cleaning_of("plain", {}))
    topics /= topics.sum(axis=1, keepdims=True)
    Mixture(topics, np.eye(N_TOPICS) / N_TOPICS, words, cleaning, provenance).save(folder / NAME)
    rows = [{"text": "ant bee ant", NAME: word} for word in HOSTILE_WORDS]
    (folder / "in.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    counts = np.random.default_rng(0).poisson(0.3, (300, len(HOSTILE_WORDS)))
    Moments.of(counts, HOSTILE_WORDS).save(folder / f"{NAME}.moments")
    return folder


def test_topics(folder):
    out, _ = run("topics", folder / NAME)
    assert "[/bold]" in out
    assert r"\x1b[31mred\x1b[0m" in out
    assert ":smile:" in out
    out, _ = run("topics", folder / NAME, "--json")
    found = {word for topic in json.loads(out) for word in topic["words"]}
    assert found == {*HOSTILE_WORDS, "ant", "bee"}


@pytest.mark.slow
def test_topics_on_a_terminal(folder):
    """On a terminal there are colours, and nothing else that steers it."""
    program = str(Path(sys.executable).with_name("fdmix"))
    pty = pytest.importorskip("pty", reason="Windows has no such terminals")
    for arguments in (("topics", folder / NAME), ("assign", folder / NAME, folder / "in.jsonl", "--column", "text")):
        mine, its = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color"}
        process = subprocess.Popen([program, *map(str, arguments)], stdout=its, stderr=its, env=environment)
        os.close(its)
        shown = b""
        try:
            while part := os.read(mine, 65536):
                shown += part
        except OSError:  # the other end was closed
            pass
        os.close(mine)
        assert process.wait() == 0, shown
        require_safe(re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()))


@pytest.mark.slow
def test_info(folder):
    out, _ = run("info", folder / NAME)
    assert r"\x1b]0;title\x07" in out
    out, _ = run("info", folder / NAME, "--json")
    assert json.loads(out)["provenance"]["nested"][NAME] == list(HOSTILE_WORDS)
    run("info", folder / f"{NAME}.moments")
    run("info", folder / f"{NAME}.moments", "--json")


@pytest.mark.slow
def test_fit(folder, tmp_path):
    out, error = run("fit", folder / f"{NAME}.moments", "-t", 3, "-o", tmp_path / NAME)
    assert "topic" in out
    assert r"\x1b[31m" in error  # the name of what was written
    assert set(Mixture.load(tmp_path / NAME).vocabulary) == set(HOSTILE_WORDS)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["main", "wide", "long"])
def test_assign_to_csv(folder, form, tmp_path):
    arguments = ("assign", folder / NAME, folder / "in.jsonl", "--column", "text", "--keep", NAME, "--form", form)
    printed, _ = run(*arguments, unsafe=CONTROLS)
    run(*arguments, "-o", tmp_path / "out.csv")
    written = (tmp_path / "out.csv").read_bytes().decode()
    assert written == printed
    rows = list(csv.reader(io.StringIO(written, newline="")))
    assert not any(FORMULA.match(cell) for row in rows for cell in row)
    assert {row[0] for row in rows[1:]} == {str(d) for d in range(len(HOSTILE_WORDS))}
    assert "-1" in {row[1] for row in rows}
    assert "'=cmd()" in {row[1] for row in rows}
    run(*arguments, "--raw", "-o", tmp_path / "raw.csv")
    with (tmp_path / "raw.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][1] == NAME
    assert list(dict.fromkeys(row[1] for row in rows[1:])) == list(HOSTILE_WORDS)


@pytest.mark.slow
def test_assign_to_parquet_and_json_lines(folder, tmp_path):
    arguments = ("assign", folder / NAME, folder / "in.jsonl", "--column", "text", "--keep", NAME)
    run(*arguments, "-o", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column(NAME).to_pylist() == list(HOSTILE_WORDS)
    run(*arguments, "-o", tmp_path / "out.jsonl")
    text = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    require_safe(text)
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row[NAME] for row in rows] == list(HOSTILE_WORDS)
    mixture = Mixture.load(folder / NAME)
    assert rows[0]["words"] == mixture.top_words(4)[rows[0]["topic"]]


@pytest.mark.slow
def test_lone_surrogates_are_written_out(folder, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "ant", "user": "\\udc80"}')
    for kind in ("csv", "parquet", "jsonl"):
        out = tmp_path / f"out.{kind}"
        run("assign", folder / NAME, tmp_path / "in.jsonl", "--column", "text", "--keep", "user", "-o", out)
    assert "\\udc80" in (tmp_path / "out.csv").read_text()
    assert pq.read_table(tmp_path / "out.parquet").column("user").to_pylist() == ["\\udc80"]
    assert json.loads((tmp_path / "out.jsonl").read_text())["user"] == "\udc80"


@pytest.mark.slow
def test_evaluate(folder):
    arguments = ("evaluate", folder / NAME, folder / "in.jsonl", "--column", "text", "--labels", NAME, "--per-topic")
    out, _ = run(*arguments)
    assert "[/bold]" in out
    facts = json.loads(run(*arguments, "--json")[0])
    assert facts["model"] == str(folder / NAME)
    assert {word for topic in facts["topics"] for word in topic["words"]} == {*HOSTILE_WORDS, "ant", "bee"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("topics", NAME),
        ("info", NAME),
        ("assign", NAME, "x.csv"),
        ("evaluate", NAME, "x.csv"),
        ("fit", NAME, "-t", "3", "-o", "m"),
        ("count", NAME, "-o", "m"),
        ("count", "x.csv", "--column", NAME, "-o", "m"),
        ("count", "x.csv", "-o", NAME + "/m"),
        ("merge", "x.csv", "-o", NAME + "/m"),
        ("fit", "x.csv", "-t", "3", "--preset", NAME, "-o", "m"),
    ],
)
def test_errors(arguments, tmp_path):
    names = [word for word in HOSTILE_WORDS if "\x00" not in word]
    with (tmp_path / "x.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, names])
    _, error = run(*arguments, code=1, cwd=tmp_path)
    assert len(error.splitlines()) == 1
    done = subprocess.run(
        [str(Path(sys.executable).with_name("fdmix")), *arguments, "--debug"],
        capture_output=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    require_safe(done.stderr.decode())
    assert b"Traceback" in done.stderr


def test_file_names_that_are_not_utf8(tmp_path):
    name = os.fsencode(tmp_path) + b"/caf\xe9.csv"
    _, error = run("topics", os.fsdecode(name), code=1)
    assert r"caf\udce9.csv" in error


def test_an_encoding_without_the_letters(folder):
    out, _ = run("topics", folder / NAME, env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert r"\u4e2d\u6587" in out
