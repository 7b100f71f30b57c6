"""fdmix choose and fdmix reliability: tables, files, what the other commands show, and sentences for bad input."""

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.choice import Choice
from fdmix.cli import console
from fdmix.cli.app import app
from fdmix.cli.choose import _show
from fdmix.report.gathering import gathered


def run(*arguments):
    """What a command says; it runs in this process, because a new one takes seconds to start."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Moments with folds and without, and their text."""
    folder = tmp_path_factory.mktemp("choose")
    names = [f"w{u}" for u in range(100)]
    counts = worlds.zipf(4, 100, concentration=20).sample(600, length=20, seed=1).counts
    Moments.of(counts, names, folds=5).save(folder / "folds.moments")
    Moments.of(counts, names).save(folder / "plain.moments")
    rows = counts.toarray()
    with (folder / "text.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["text"], *([" ".join(np.repeat(names, row))] for row in rows)])
    return folder


@pytest.fixture(scope="module")
def model(folder):
    fit_mixture(Moments.load(folder / "folds.moments"), 4).mixture.save(folder / "model")
    run("reliability", folder / "model", folder / "folds.moments", "--refits", 4)
    return folder / "model"


def test_choose_prints_and_writes_the_table(folder, tmp_path):
    said = run("choose", folder / "folds.moments", "--topics", "2,4,8", "-o", tmp_path / "t.csv")
    assert "Take 4 topics" in " ".join(said.split())
    with (tmp_path / "t.csv").open() as file:
        assert [row["topics"] for row in csv.DictReader(file)] == ["1", "2", "4", "8"]


@pytest.mark.parametrize("criterion", ["pairs", "completion"])
def test_the_table_of_choose_fits_into_80_columns(criterion, monkeypatch, capsys):
    scores = {"pairs": -14.1, "completion": -8.1, "coherence": -0.1, "exclusivity": 0.5, "stability": 0.9}
    tables = {name: np.array([[value, value + 0.1]] * 3) for name, value in scores.items()}
    monkeypatch.setattr(console.out, "width", 80)
    _show(Choice((1, 1000), tables, criterion, 900), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[-1] == "stability"
    assert lines[2].endswith("<- take")


def test_choose_tells_programs_everything(folder):
    found = json.loads(run("choose", folder / "folds.moments", "--topics", "2,4,8", "--json"))
    assert found["topics"] == 4
    assert set(found["others"]) == {"coherence", "exclusivity", "stability"}
    assert [row["topics"] for row in found["candidates"]] == [1, 2, 4, 8]


@pytest.mark.slow
def test_choose_reads_text_and_draws(folder, tmp_path):
    pytest.importorskip("matplotlib")
    options = ("--column", "text", "--numbers", "--topics", "2..8", "--steps", 3, "--folds", 5)
    found = json.loads(run("choose", folder / "text.csv", *options, "--plot", tmp_path / "t.svg", "--json"))
    assert found["topics"] == 4
    assert "completion" in found["others"]
    assert (tmp_path / "t.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("folds.moments", "--topics", "8..2"), "up to a larger number"),
        (("folds.moments", "--topics", "some"), "given as 10..300"),
        (("plain.moments", "--topics", "2,4"), "count --folds 10"),
        (("folds.moments", "--topics", "2,4", "--folds", "7"), "keep 5 folds"),
        (("folds.moments", "--topics", "2,4", "-o", "t.xlsx"), ".csv, .parquet or .json"),
        (("folds.moments", "--topics", "2,4", "-o", "text.csv"), "exists already"),
        (("folds.moments", "--topics", "2,4", "--criterion", "completion"), "do not keep documents"),
        (("folds.moments", "--topics", "2,4", "--column", "text"), "options of text"),
    ],
)
def test_choose_refuses_in_words(folder, monkeypatch, options, sentence):
    monkeypatch.chdir(folder)
    with pytest.raises((ValueError, OSError), match=re.escape(sentence)):
        run("choose", *options)


def test_topics_and_info_show_how_sure(model):
    assert "comes back" in run("topics", model)
    facts = json.loads(run("topics", model, "--json"))
    assert all(fact["share_interval"][0] <= fact["share"] <= fact["share_interval"][1] for fact in facts)
    assert "returned" in facts[0]
    assert json.loads(run("info", model, "--json"))["reliability"]["refits"] == 4


def test_models_without_it_show_as_before(model, tmp_path):
    loaded = Mixture.load(model)
    Mixture(loaded.topics, loaded.correlations, loaded.vocabulary).save(tmp_path / "plain")
    assert "comes back" not in run("topics", tmp_path / "plain")
    assert "returned" not in run("topics", tmp_path / "plain", "--json")
    assert "fdmix reliability finds it" in " ".join(run("info", tmp_path / "plain").split())


def test_the_report_holds_how_sure(model):
    mixture = Mixture.load(model)
    facts, _ = gathered(mixture, "title")
    assert facts["quality"]["reliability"]["returned"] == mixture.reliability.returned.tolist()
    assert facts["quality"]["reliability"]["refits"] == 4
    plain, _ = gathered(Mixture(mixture.topics, mixture.correlations, mixture.vocabulary), "title")
    assert plain["quality"]["reliability"] is None


def test_a_refused_reliability_leaves_the_model_as_it_was(folder, model, tmp_path):
    moments = Moments.load(folder / "folds.moments")
    fit_mixture(moments, 4).mixture.save(tmp_path / "other")
    with pytest.raises(ValueError, match="keep no folds"):
        run("reliability", tmp_path / "other", folder / "plain.moments")
    with pytest.raises(ValueError, match="level of intervals"):
        run("reliability", tmp_path / "other", folder / "folds.moments", "--level", 90)
    assert Mixture.load(tmp_path / "other").reliability is None
