"""fdmix plot: every kind of figure as a file, and sentences where something is missing."""

import csv
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fdmix import Moments, fit_mixture, read_corpus
from fdmix.cli.app import app
from fdmix.reliability import reliability

pytest.importorskip("matplotlib")

TEXTS = ["cats chase a mouse and a dog", "stocks fell and bonds rose", "a dog chases cats", "bonds and stocks"] * 20


def run(*arguments):
    """What the command says; it runs in this process, because a new one takes seconds to start."""
    done = CliRunner().invoke(app, ["plot", *map(str, arguments)])
    if done.exception is not None:
        raise done.exception
    return done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models, moments, and the text with a column of years."""
    folder = tmp_path_factory.mktemp("plot")
    moments = Moments.of(read_corpus(TEXTS, stop_words="english"))
    moments.save(folder / "text.moments")
    fit_mixture(moments, 2).mixture.labelled({0: "$money$"}).save(folder / "model")
    fit_mixture(moments, 3).mixture.save(folder / "other")
    with (folder / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["text", "year"], *([text, 2000 + i % 3] for i, text in enumerate(TEXTS))])
    return folder


KINDS = {
    "bars": ["--topics", "1,0"],
    "map": [],
    "lift": [],
    "likelihood": [],
    "distances": ["--other", "other", "--other", "model"],
    "shares": ["--documents", "a.csv", "--by", "year", "--column", "text"],
    "pairs": ["--moments", "text.moments"],
}


def test_figures_of_what_a_model_remembers_and_of_cells(folder, tmp_path):
    words = ("cat", "dog", "mouse", "stocks", "bonds", "banks")  # copies of a document would share a fold
    distinct = [" ".join(chosen * n) for n in (1, 2, 3) for chosen in combinations(words, 2)]
    moments = Moments.of(read_corpus([*TEXTS, *distinct], stop_words="english"), folds=5)
    mixture = fit_mixture(moments, 3).mixture
    reliability(mixture, moments, n_refits=2).save(tmp_path / "sure")
    mixture.edit(moments).merge(0, 1).fit().save(tmp_path / "edited")
    CliRunner().invoke(
        app, ["count", str(folder / "a.csv"), "--column", "text", "--by", "year", "-o", str(tmp_path / "cells")]
    )
    for kind, options in {
        "intervals": [tmp_path / "sure"],
        "edits": [tmp_path / "edited"],
        "tree": [folder / "other", "--moments", folder / "text.moments"],
        "shares": [folder / "other", "--cells", tmp_path / "cells"],
    }.items():
        model, *more = options
        run(model, kind, "-o", tmp_path / f"{kind}.png", *more)
        assert (tmp_path / f"{kind}.png").stat().st_size > 4_000


def in_folder(folder, options):
    names = {"other", "model", "a.csv", "text.moments"}
    return [folder / option if option in names else option for option in options]


@pytest.mark.parametrize(("kind", "suffix"), [*((kind, "png") for kind in KINDS), ("map", "svg"), ("lift", "pdf")])
def test_every_kind(folder, tmp_path, kind, suffix):
    out = tmp_path / f"figure.{suffix}"
    assert "Wrote" in run(folder / "model", kind, "-o", out, *in_folder(folder, KINDS[kind]))
    assert out.stat().st_size > 4_000


@pytest.mark.slow
def test_the_program_writes_a_figure_and_says_what_is_wrong(folder, tmp_path):
    program = [Path(sys.executable).with_name("fdmix"), "plot", folder / "model"]
    done = subprocess.run([*program, "map", "-o", tmp_path / "map.png"], capture_output=True, text=True, check=True)
    assert "Warning" not in done.stderr
    done = subprocess.run([*program, "pie", "-o", tmp_path / "x.png"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("fdmix: there is no plot 'pie'")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["model", "pie"],
            "there are: bars, map, lift, likelihood, distances, shares, words, pairs, tree, intervals, edits",
        ),
        (["missing", "map"], "there is no model"),
        (["model", "distances"], "a plot of distances needs --other"),
        (["model", "shares", "--documents", "a.csv"], "a plot of shares needs --by"),
        (["model", "pairs"], "a plot of pairs needs --moments"),
        (["model", "pairs", "--moments", "a.csv"], "is not a file of moments"),
        (["model", "map", "--topics", "1"], "is for plots of bars, shares, words and intervals, not of map"),
        (["model", "tree"], "a plot of tree needs --moments"),
        (["model", "words"], "a plot of words needs --cells"),
        (["model", "intervals"], "fdmix reliability finds it"),
        (["model", "edits"], "fdmix edit makes one"),
        (["model", "map", "--cells", "a.csv"], "--cells is for plots of shares and words, not of map"),
        (["model", "shares", "--cells", "a.csv", "--by", "year"], "give one of them"),
        (["model", "bars", "--topics", "one"], "takes numbers of topics"),
        (["model", "bars", "--topics", "7"], "there is no topic 7"),
        (["model", "distances", "--other", "missing"], "there is no model"),
        (["model", "shares", "--documents", "a.csv", "--by", "month"], "month"),
    ],
)
def test_errors_are_sentences(folder, tmp_path, arguments, sentence):
    arguments = [folder / "missing" if one == "missing" else one for one in in_folder(folder, arguments)]
    with pytest.raises((ValueError, OSError)) as error:
        run(*arguments, "-o", tmp_path / "figure.png")
    assert sentence in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_files_are_not_replaced_and_have_a_known_format(folder, tmp_path):
    out = tmp_path / "figure.png"
    out.write_bytes(b"mine")
    with pytest.raises(FileExistsError, match="add --force"):
        run(folder / "model", "map", "-o", out)
    assert out.read_bytes() == b"mine"
    run(folder / "model", "map", "-o", out, "--force")
    assert out.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match=r"written as \.png, \.svg or \.pdf"):
        run(folder / "model", "map", "-o", tmp_path / "figure.jpg")
