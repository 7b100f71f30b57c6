"""Tables that topics, reliability and edit write to files."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest

from fdmix import Mixture, Moments, worlds
from fdmix.cli.app import app
from fdmix.edits import last_story


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """(model of four topics, moments with folds)."""
    folder = tmp_path_factory.mktemp("tables")
    world = worlds.zipf(4, 60, seed=0)
    moments = Moments.of(world.sample(400, 20, 0), [f"w{u}" for u in range(60)], folds=6)
    moments.save(folder / "text.moments")
    mixture = Mixture(world.topics, world.mixture.correlations, moments.vocabulary, labels={2: "=two"})
    mixture.save(folder / "model")
    return folder / "model", folder / "text.moments"


def run(*arguments):
    app(list(map(str, arguments)), standalone_mode=False)


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_topics_and_merges(files, tmp_path):
    model, moments = files
    run("topics", model, "-n", 3, "--table", tmp_path / "topics.csv")
    rows, mixture = rows_of(tmp_path / "topics.csv"), Mixture.load(model)
    assert [row["label"] for row in rows] == ["", "", "'=two", ""]  # no formula in a spreadsheet
    np.testing.assert_allclose([float(row["share"]) for row in rows], mixture.shares, rtol=1e-5)
    assert rows[1]["words"].split() == mixture.top_words(3)[1]
    run("topics", model, "--tree", "--moments", moments, "--table", tmp_path / "merges.parquet")
    merges, tree = pq.read_table(tmp_path / "merges.parquet").to_pydict(), mixture.tree(Moments.load(moments))
    np.testing.assert_array_equal(np.column_stack([merges["left"], merges["right"]]), tree.merges)
    np.testing.assert_allclose(merges["cost"], tree.costs)


def test_intervals(files, tmp_path):
    model, moments = files
    Mixture.load(model).save(tmp_path / "model")
    run("reliability", tmp_path / "model", moments, "--refits", 2, "--warm", "--table", tmp_path / "sure.parquet")
    table, mixture = pq.read_table(tmp_path / "sure.parquet").to_pydict(), Mixture.load(tmp_path / "model")
    sure = mixture.reliability
    assert len(table["word"]) == sure.words.size
    for name, expected in {"share_low": np.repeat(sure.shares[:, 0], 10), "kept": sure.kept.ravel()}.items():
        np.testing.assert_array_equal(table[name], expected)
    assert table["word"][:10] == [mixture.word(u) for u in sure.words[0]]
    assert all(low <= p <= high for low, p, high in zip(
        table["probability_low"], table["probability"], table["probability_high"], strict=True))  # fmt: skip
    run("topics", tmp_path / "model", "--table", tmp_path / "topics.parquet")
    assert pq.read_table(tmp_path / "topics.parquet").to_pydict()["returned"] == sure.returned.tolist()


def test_topics_before_and_after(files, tmp_path):
    model, moments = files
    with pytest.raises(ValueError, match="does not go with --undo"):
        run("edit", model, "--moments", moments, "--undo", "-o", tmp_path / "new", "--table", tmp_path / "x.csv")
    run("edit", model, "--moments", moments, "--merge", "0,3", "-o", tmp_path / "new", "--table", tmp_path / "x.csv")
    rows, story = rows_of(tmp_path / "x.csv"), last_story(Mixture.load(tmp_path / "new"))
    assert [row["role"] for row in rows] == [change.role for change in story.topics]
    gone = next(row for row in rows if row["role"] == "gone")
    assert (gone["number_before"], gone["number_after"], gone["distance"]) == ("3", "", "")
    with pytest.raises(ValueError, match=r"must end in \.csv or \.parquet"):
        run("topics", model, "--table", tmp_path / "x.xls")
    with pytest.raises(FileExistsError, match="--force"):
        run("topics", model, "--table", tmp_path / "x.csv")
