"""fdmix topics --tree and --cut."""

import json
import shutil

import pytest

from fdmix import Mixture, Moments, worlds
from fdmix.cli.app import app


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """(model of six topics, moments)."""
    folder = tmp_path_factory.mktemp("tree")
    world = worlds.zipf(6, 60, seed=0)
    moments = Moments.of(world.sample(500, 20, 0), [f"w{u}" for u in range(60)])
    moments.save(folder / "text.moments")
    Mixture(world.topics, world.mixture.correlations, moments.vocabulary, labels={2: "second"}).save(folder / "model")
    return folder / "model", folder / "text.moments"


def topics(*arguments):
    app(["topics", *map(str, arguments)], standalone_mode=False)


def test_the_tree_has_a_line_for_each_node(files, capsys):
    model, moments = files
    topics(model, "--tree", "--moments", moments, "-n", 3)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 11
    assert lines[0].startswith("6 topics, merging costs ")
    assert any("topic 2: second, " in line for line in lines)


def test_the_moments_beside_the_model_are_found(files, tmp_path, capsys):
    model, moments = files
    copied = tmp_path / "model"
    shutil.copytree(model, copied)
    shutil.copy(moments, tmp_path / "model.moments")
    topics(copied, "--tree", "-n", 3)
    assert len(capsys.readouterr().out.splitlines()) == 11


def test_a_cut_shows_the_top_of_the_tree(files, capsys):
    model, moments = files
    topics(model, "--tree", "--cut", 3, "--moments", moments)
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 5
    assert "3 of 6 topics lose" in told.err


def test_the_model_of_a_cut_is_written(files, tmp_path, capsys):
    model, moments = files
    topics(model, "--cut", 3, "--moments", moments, "-o", tmp_path / "three")
    cut = Mixture.load(tmp_path / "three")
    whole = Mixture.load(model)
    assert cut.n_topics == 3
    assert (cut.topics == whole.tree(Moments.load(moments)).cut(3).topics).all()
    assert len(capsys.readouterr().out.splitlines()) == 4
    with pytest.raises(FileExistsError, match="--force"):
        topics(model, "--cut", 3, "--moments", moments, "-o", tmp_path / "three")


def test_json(files, capsys):
    model, moments = files
    topics(model, "--tree", "--moments", moments, "--json")
    merges = json.loads(capsys.readouterr().out)
    assert [merge["topics_left"] for merge in merges] == [5, 4, 3, 2, 1]
    assert merges[-1]["share"] == pytest.approx(1)
    topics(model, "--cut", 2, "--moments", moments, "--json")
    assert len(json.loads(capsys.readouterr().out)) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tree"], "name it with --moments FILE"),
        (["--cut", "2"], "name it with --moments FILE"),
        (["--moments", "MOMENTS"], "give --tree or --cut"),
        (["--tree", "--moments", "MODEL"], "not a file of moments"),
        (["--cut", "7", "--moments", "MOMENTS"], "has 6 topics"),
        (["--tree", "--moments", "MOMENTS", "-o", "x"], "give --cut"),
    ],
)
def test_wrong_usage_is_refused_in_words(files, arguments, words):
    model, moments = files
    named = {"MOMENTS": str(moments), "MODEL": str(model)}
    with pytest.raises((ValueError, OSError), match=words):
        topics(model, *(named.get(each, each) for each in arguments))
