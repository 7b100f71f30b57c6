"""fdmix effects: a regression from files, its table, and sentences for bad input."""

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from fdmix import Mixture, read_corpus
from fdmix.cli.app import app
from fdmix.effects import effects

pytest.importorskip("formulaic")
WORDS = [f"w{u}" for u in range(40)]
SHARES = {"D": [0.8, 0.2], "R": [0.3, 0.7]}


def run(*arguments):
    done = CliRunner().invoke(app, ["effects", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """(model of two topics, documents with a party and a date): party R has 50 points less of topic 0."""
    folder, rng = tmp_path_factory.mktemp("effects"), np.random.default_rng(0)
    topics = rng.dirichlet(np.full(40, 0.2), size=2)
    with (folder / "text.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "party", "date"])
        for d in range(300):
            party = "DR"[d % 2]
            words = rng.choice(WORDS, size=12, p=np.array(SHARES[party]) @ topics)
            rows.writerow([" ".join(words), "" if d == 7 else party, f"2021-{d % 12 + 1:02}-01"])
    corpus = read_corpus(folder / "text.csv", column="text", preset="plain", min_count=1)
    order = [WORDS.index(word) for word in corpus.vocabulary]
    topics = topics[:, order] / topics[:, order].sum(axis=1, keepdims=True)
    Mixture(topics, vocabulary=corpus.vocabulary, preparation=corpus.preparation).save(folder / "model")
    return folder / "model", folder / "text.csv"


def test_the_table_has_the_effects_of_the_library(files, tmp_path):
    model, text = files
    options = ("--column", "text", "--formula", "~ party + month(date)", "-o", tmp_path / "e.csv")
    rows = json.loads(run(model, text, *options, "--json"))
    mixture = Mixture.load(model)
    corpus = read_corpus(text, column="text", like=mixture, columns=["party", "date"])
    expected = effects(mixture, corpus, "~ party + month(date)").columns()
    assert [row["term"] for row in rows] == expected["term"]
    np.testing.assert_allclose([row["estimate"] for row in rows], expected["estimate"])
    (found,) = [row for row in rows if row["topic"] == 0 and row["term"] == "party[T.R]"]
    assert found["low"] < -0.5 < found["high"]
    with (tmp_path / "e.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 6
    shown = run(model, text, "--column", "text", "--formula", "~ party")
    assert "party[T.R]" in shown
    assert "Intercept" not in shown


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--formula", "~ color"), "has no column 'color'; it has text, party, date"),
        (("--formula", "topic ~ party"), "left side of the formula"),
        (("--formula", "~ month(party)"), "'D' is not a date"),
        (("--formula", "~ party", "--method", "x"), "--method is one of unbiased, composition"),
        (("--formula", "~ party", "--level", "2"), "level of intervals"),
        (("--formula", "~ party", "-o", "e.xlsx"), ".csv or .parquet"),
    ],
)
def test_bad_questions_are_refused_in_words(files, options, sentence):
    model, text = files
    with pytest.raises(ValueError, match=re.escape(sentence)):
        run(model, text, "--column", "text", *options)


def test_columns_of_a_corpus_have_their_own_names(files):
    _, text = files
    corpus = read_corpus(text, column="text", date="date", columns=["party"])
    assert corpus.documents["party"].tolist()[:2] == ["D", "R"]
    with pytest.raises(ValueError, match="another column already"):
        read_corpus(text, column="text", date="date", columns=["date"])
    with pytest.raises(TypeError, match="a list of names"):
        read_corpus(text, column="text", columns="party")
