"""fdmix compare: from a file to tables, stopped and resumed, and what it refuses."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fdmix.compare import METHODS

pytestmark = pytest.mark.slow  # minutes in all: a browser, or a process for each fit

PROGRAM = str(Path(sys.executable).with_name("fdmix"))


def run(*arguments, code=0, **options):
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=280, **options
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def news(tmp_path_factory):
    """300 texts of two subjects, with labels; a tenth of them has none."""
    rng = np.random.default_rng(0)
    subjects = {"pets": "cat dog mouse cheese bone fish", "money": "bank stock coin debt euro loan"}
    path = tmp_path_factory.mktemp("compare") / "news.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "section"])
        for d in range(300):
            name = list(subjects)[d % 2]
            writer.writerow([" ".join(rng.choice(subjects[name].split(), 12)), "" if d % 10 == 0 else name])
    return path


def test_help_names_every_method():
    shown = run("compare", "--help").stdout
    assert all(name in shown for name in METHODS)
    assert "Examples" in shown


@pytest.mark.slow
def test_one_table(news, tmp_path):
    folder = tmp_path / "results"
    arguments = ("compare", news, "--column", "text", "--labels", "section", "-m", "fdm-pairs,nmf,keynmf")
    done = run(*arguments, "-t", "2,3", "--seeds", 2, "--threads", 1, "-o", folder)
    for word in ("2 topics", "3 topics", "fdm-pairs", "nmf", "completion", "c_v", "accuracy", "memory, MB"):
        assert word in done.stdout
    assert "1/12 fdm-pairs, 2 topics, seed 0: " in done.stderr
    assert "keynmf, 2 and 3 topics: " in done.stderr  # not installed here, or without a network
    rows = list(csv.DictReader((folder / "runs.csv").read_text().splitlines()))
    assert len(rows) == 12
    good = [row for row in rows if not row["failed"]]
    assert all(float(row["nmi"]) > 0.5 for row in good if row["topics"] == "2")
    assert {"table.csv", "table.md", "table.tex", "runs"} <= {path.name for path in folder.iterdir()}
    again = run(*arguments, "-t", 2, "--seeds", 2, "--threads", 1, "-o", folder, "--json")
    assert "1/6 fdm-pairs, 2 topics, seed 0: kept from before" in again.stderr
    assert len(json.loads(again.stdout)) == 12  # the table has all that the folder knows
    wide = run(*arguments, "-t", 2, "--seeds", 2, "--threads", 1, "-o", folder, env=os.environ | {"COLUMNS": "40"})
    assert max(map(len, wide.stdout.splitlines())) <= 40


@pytest.mark.slow
def test_ctrl_c_keeps_finished_runs(news, tmp_path):
    folder, mallet = tmp_path / "results", tmp_path / "mallet"
    mallet.write_text("#!/bin/sh\nsleep 100\n")
    mallet.chmod(0o755)
    arguments = ["compare", news, "--column", "text", "-m", "nmf,mallet", "-t", 2, "--seeds", 1, "--threads", 1]
    arguments += ["--mallet", mallet, "-o", folder]
    process = subprocess.Popen(
        [PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    begin = time.monotonic()
    while not (folder / "runs" / "nmf-2-0.json").exists() and time.monotonic() < begin + 120:
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped after 1 runs, which are kept." in error
    assert "Traceback" not in error
    assert "completion" in out
    assert (folder / "table.md").is_file()


def test_what_is_refused(news, tmp_path):
    def refused(*arguments, **options):
        return run("compare", *arguments, code=1, **options).stderr

    assert "there is no method 'foo'" in refused(news, "-m", "fdm,foo")
    assert "whole numbers such as 20,50" in refused(news, "-t", "20,x")
    assert "no MALLET at" in refused(news, "--mallet", tmp_path / "nix")
    assert "more than once" in refused("-", input="some text")
    (tmp_path / "other.txt").write_text("text")
    assert "holds other files" in refused(news, "-o", tmp_path)
    assert "no column 'nix'" in refused(news, "--column", "text", "--labels", "nix")
    assert "at least 20 documents" in refused(tmp_path / "other.txt")
