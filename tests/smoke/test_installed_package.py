"""A short run through an installed package, without the source tree: `make release-check` copies this file alone.

It needs pytest and fdmix, nothing else, so it also runs with the oldest and the newest versions of all dependencies.
"""

import csv
import importlib.metadata
import importlib.resources
import json
import subprocess
import sys

import numpy as np
import pytest

import fdmix

ANIMALS, MONEY = "cat dog cow goat sheep horse", "bank tax price market stock trade"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a CSV of texts about two things."""
    folder = tmp_path_factory.mktemp("smoke")
    rng = np.random.default_rng(0)
    with (folder / "texts.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "about"])
        for about, words in (("animals", ANIMALS), ("money", MONEY)):
            rows.writerows([" ".join(rng.choice(words.split(), 8)), about] for _ in range(60))
    return folder


def run(folder, *arguments):
    """The command line, as `python -m fdmix`; what it prints to standard output."""
    done = subprocess.run(
        [sys.executable, "-m", "fdmix", *arguments],
        cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_version_is_that_of_the_metadata():
    assert importlib.metadata.version("fdmix") == fdmix.__version__


def test_every_public_name_can_be_imported():
    assert [name for name in fdmix.__all__ if getattr(fdmix, name, None) is None] == []


def test_files_that_are_not_python_are_there():
    page = importlib.resources.files("fdmix") / "report" / "page"
    assert (importlib.resources.files("fdmix") / "py.typed").is_file()
    assert (page / "report.html").is_file()
    names = {entry.name for folder in (page, page / "vendor") for entry in folder.iterdir()}
    assert {"main.js", "1-base.css", "d3-LICENSE.txt"} <= names


def test_python_from_text_to_topics(folder):
    texts = [line.split(",")[0] for line in (folder / "texts.csv").read_text().splitlines()[1:]]
    corpus = fdmix.read_corpus(texts)
    mixture = fdmix.fit_documents(corpus, n_topics=2).mixture
    found = [set(words) for words in mixture.top_words(6)]
    assert sorted(found, key=min) == [set(MONEY.split()), set(ANIMALS.split())]
    mixture.save(folder / "python-model")
    again = fdmix.Mixture.load(folder / "python-model")
    assert np.array_equal(again.topics, mixture.topics)
    theta = again.assign(fdmix.read_corpus(["a cat and a dog"], like=again))
    assert theta[0].argmax() == found.index(set(ANIMALS.split()))


def test_moments_add_and_subtract_exactly(folder):
    a, b = fdmix.read_corpus(["ant bee cow", "bee cow"] * 3), fdmix.read_corpus(["ant cow", "ant bee"] * 2)
    both = fdmix.Moments.of(a) + fdmix.Moments.of(b)
    assert both - fdmix.Moments.of(b) == fdmix.Moments.of(a)
    both.save(folder / "both.moments")
    assert fdmix.Moments.load(folder / "both.moments") == both


@pytest.mark.slow
def test_the_command_line_from_text_to_report(folder):
    assert "--topics" in run(folder, "fit", "--help")
    run(folder, "fit", "texts.csv", "--column", "text", "--topics", "2", "-o", "model")
    topics = json.loads(run(folder, "topics", "model", "--json"))
    assert len(topics) == 2
    run(folder, "assign", "model", "texts.csv", "--column", "text", "--keep", "about", "-o", "out.csv")
    with (folder / "out.csv").open(newline="", encoding="utf-8") as file:
        main = {(row["about"], row["topic"]) for row in csv.DictReader(file)}
    assert len(main) == 2, "each thing has a topic of its own"
    run(folder, "report", "model", "--documents", "texts.csv", "--column", "text", "-o", "report.html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "d3" in page
    assert "<script" in page
    assert (folder / "model" / "README.md").is_file()


def test_the_estimator(folder):
    counts = np.repeat(np.eye(2, dtype=int), 3, axis=1).repeat(20, axis=0) + np.eye(6, dtype=int)[np.arange(40) % 6]
    assert fdmix.FDM(n_components=2).fit_transform(counts).shape == (40, 2)
