"""Runs in processes of their own: what fails becomes a row, what is finished is kept."""

import json

import numpy as np
import pytest

from fdmix import Corpus
from fdmix.compare import METHODS, Comparison, Documents, Settings


def some_documents(seed=0):
    rng = np.random.default_rng(seed)
    topics = np.kron(np.eye(3), np.ones(8) / 8)
    counts = np.array([rng.multinomial(30, p) for p in rng.dirichlet([0.2] * 3, 200) @ topics])
    return Documents.of(Corpus(counts, [f"w{u}" for u in range(24)]))


def program(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def reported(comparison):
    """(rows, (method, seed) of the runs that were made)."""
    made = []
    rows = comparison.run(lambda _, __, run, row: made.append((run["method"], run["seed"])) if row is None else None)
    return rows, made


@pytest.mark.slow
def test_finished_rows_are_kept_and_failed_ones_run_again(tmp_path):
    mallet = program(tmp_path / "mallet", "echo no java; exit 1")
    documents, folder = some_documents(), tmp_path / "results"
    first = Settings(("nmf", "mallet"), (3,), seeds=2, sweeps=5, mallet=mallet, threads=1)
    rows, made = reported(Comparison(documents, first, folder))
    assert [(row["method"], row["seed"]) for row in rows] == made
    assert made == [("nmf", 0), ("mallet", 0), ("nmf", 1), ("mallet", 1)]
    good, bad = rows[0], rows[1]
    assert "MALLET failed: no java" in bad["failed"]
    assert good["completion"] < 0
    assert good["seconds"] > 0
    assert good["cpu_seconds"] > 0
    assert good["peak_megabytes"] > 20
    assert good["train_documents"] + good["test_documents"] == 200
    assert rows[2]["completion"] != good["completion"]  # another seed, other documents
    again, made = reported(Comparison(documents, first, folder))
    assert made == [("mallet", 0), ("mallet", 1)]
    assert again[0] == good
    more = Comparison(documents, Settings(("nmf",), (3,), seeds=1, sweeps=5, threads=1), folder)
    assert reported(more)[1] == []
    assert len(more.known_rows()) == 4
    with pytest.raises(ValueError, match="other documents"):
        Comparison(some_documents(1), first, folder)
    with pytest.raises(ValueError, match=r"other settings \(sweeps 5\)"):
        Comparison(documents, Settings(("nmf",), (3,), sweeps=6), folder)
    record = json.loads((folder / "comparison.json").read_text())
    assert record["documents"]["documents"] == 200


@pytest.mark.slow
def test_a_process_that_is_killed_is_a_row(tmp_path):
    """MALLET's command kills the process that started it, as the system does when memory runs out."""
    mallet = program(tmp_path / "mallet", "kill -9 $PPID")
    rows = Comparison(some_documents(), Settings(("mallet", "nmf"), (3,), 1, mallet=mallet, threads=1)).run()
    assert rows[0]["failed"] == "killed by the system, probably because memory ran out"
    assert "failed" not in rows[1]


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_a_row(tmp_path):
    mallet = program(tmp_path / "mallet", "sleep 60")
    rows = Comparison(some_documents(), Settings(("mallet",), (3,), 1, mallet=mallet, time_limit=3)).run()
    assert rows[0]["failed"] == "stopped after the time limit of 3 s"


@pytest.mark.slow
def test_methods_that_need_texts_say_so():
    name = "keynmf"
    rows = Comparison(some_documents(), Settings((name,), (3,), 1)).run()
    missing = METHODS[name].missing()
    assert rows[0]["failed"] == (missing or "needs the texts of documents, and these are counts")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"methods": ()}, "at least one method"),
        ({"methods": ("nix",)}, "there is no method 'nix'"),
        ({"methods": ("mallet",)}, "mallet needs the path"),
        ({"topics": (1,)}, "topics must be a whole number from 2"),
        ({"seeds": 0}, "seeds must be"),
        ({"held_out": 1.0}, "held_out is a share"),
        ({"time_limit": -1}, "number of seconds above 0"),
    ],
)
def test_bad_settings(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        Settings(**({"methods": ("fdm",), "topics": (3,)} | settings))
