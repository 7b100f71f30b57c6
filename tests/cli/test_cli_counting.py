"""count, merge, prune, subtract, as a newsroom uses them every day: new words enter, and nothing counts twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fdmix import Mixture, Moments, read_moments

pytestmark = pytest.mark.slow


def run(*arguments, code=0, **options):
    program = Path(sys.executable).with_name("fdmix")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    folder = tmp_path_factory.mktemp("days")
    words = [["flu", "season", "nurse"], ["covid", "season", "mask"], ["covid", "vaccine", "mask"]]
    for day, (name, chosen) in enumerate(zip(("mon", "tue", "wed"), words, strict=True)):
        lines = [f"{chosen[i % 3]} {chosen[(i + 1) % 3]} hospital rare{day}x{i}" for i in range(600)]
        (folder / f"{name}.txt").write_text("\n".join(lines))
    run("count", folder / "mon.txt", "--open", "-o", folder / "mon.moments")
    for name in ("tue", "wed"):
        run("count", folder / f"{name}.txt", "--like", folder / "mon.moments", "-o", folder / f"{name}.moments")
    return folder


def moments(days, *names):
    return [days / f"{name}.moments" for name in names]


def test_days_merge_to_one_count_and_new_words_reach_the_model(days, tmp_path):
    run("merge", *moments(days, "mon", "tue", "wed"), "-o", tmp_path / "week")
    week = Moments.load(tmp_path / "week")
    assert week == read_moments([*sorted(days.glob("*.txt"))], open_vocabulary=True, split="lines")
    assert week.n_words > 1_800
    fitted = run("fit", tmp_path / "week", "--topics", 3, "-o", tmp_path / "model")
    assert "of 1,807 words, those seen at least 5 times" in fitted.stderr
    model = Mixture.load(tmp_path / "model")
    assert {"covid", "vaccine"} <= set(model.vocabulary)
    assert not any(word.startswith("rare") for word in model.vocabulary)
    assert model.provenance["moments"]["digest"] == str(week.ledger.digest)


def test_a_source_is_not_counted_twice(days, tmp_path):
    mon, tue = moments(days, "mon", "tue")
    for command in (("merge", mon, mon), ("merge", mon, tue, mon)):
        refused = run(*command, "-o", tmp_path / "x", code=1).stderr
        assert "mon.txt (600 documents) is in more than one of these files" in refused
    assert "counted twice" in run("fit", mon, mon, "--topics", 2, "-o", tmp_path / "m", code=1).stderr
    assert not (tmp_path / "x").exists()
    run("merge", mon, mon, "--again", "-o", tmp_path / "twice")
    assert Moments.load(tmp_path / "twice") == Moments.load(mon) + Moments.load(mon)
    run("merge", mon, tue, "-o", tmp_path / "two")
    assert "counted twice" in run("merge", tmp_path / "two", tue, "-o", tmp_path / "x", code=1).stderr
    refused = run("count", days / "mon.txt", days / ".." / days.name / "mon.txt", "-o", tmp_path / "x", code=1).stderr
    assert "mon.txt is given twice" in refused
    (tmp_path / "copy.txt").write_bytes((days / "mon.txt").read_bytes())
    warned = run("count", days / "mon.txt", tmp_path / "copy.txt", "-o", tmp_path / "y").stderr
    assert "2 files hold the same 600 documents" in warned
    Moments.of([[1, 2], [3, 1]], ["a", "b"]).save(tmp_path / "counts")
    os.link(tmp_path / "counts", tmp_path / "same")
    assert (
        "holds the same documents" in run("merge", tmp_path / "counts", tmp_path / "same", "-o", "z", code=1).stderr
    )


def test_what_is_subtracted_is_certified(days, tmp_path):
    mon, tue, wed = moments(days, "mon", "tue", "wed")
    run("merge", mon, tue, "-o", tmp_path / "two")
    run("merge", mon, tue, wed, "-o", tmp_path / "all")
    said = run("subtract", tmp_path / "all", days / "wed.txt", "--certificate", tmp_path / "c.json", "-o",
               tmp_path / "rest").stderr  # fmt: skip
    two, rest = Moments.load(tmp_path / "two"), Moments.load(tmp_path / "rest")
    assert str(two.ledger.digest) in said
    assert rest.ledger == two.ledger
    assert rest == two
    assert (tmp_path / "rest").read_bytes() == (tmp_path / "two").read_bytes()
    found = json.loads((tmp_path / "c.json").read_text())
    assert found["after"]["digest"] == str(two.ledger.digest)
    assert found["removed"]["documents"] == 600
    assert (found["known_sources"], found["other_sources"]) == (["wed.txt"], [])
    (tmp_path / "part.txt").write_text("\n".join((days / "mon.txt").read_text().splitlines()[:5]))
    said = run("subtract", tmp_path / "all", tmp_path / "part.txt", "-o", tmp_path / "less").stderr
    assert "does not list part.txt as counted" in said
    twice = ("subtract", tmp_path / "less", tmp_path / "part.txt", "-o", tmp_path / "twice")
    assert "part.txt (5 documents) was removed already" in run(*twice, code=1).stderr
    (tmp_path / "never.txt").write_text("flu flu flu flu\n" * 600)
    refused = run("subtract", tmp_path / "all", tmp_path / "never.txt", "-o", tmp_path / "x", code=1).stderr
    assert "Check the files and --column" in refused
    facts = json.loads(run("info", tmp_path / "rest", "--json").stdout)
    assert facts["digest"] == str(two.ledger.digest)
    assert sorted(name for name, _, _ in facts["sources"].values()) == ["mon.txt", "tue.txt"]
    assert "mon.txt" in run("info", tmp_path / "rest").stdout


def test_prune(days, tmp_path):
    said = run("prune", days / "mon.moments", "--min-count", 5, "-o", tmp_path / "small").stderr
    assert "Kept 4 of 604 words; 25.0% of the tokens are left out." in said
    assert Moments.load(tmp_path / "small") == Moments.load(days / "mon.moments").prune(5)
    assert "closed vocabulary" in run("prune", tmp_path / "small", "-o", tmp_path / "x", code=1).stderr
    run("prune", tmp_path / "small", "--max-words", 2, "-o", tmp_path / "two")
    assert Moments.load(tmp_path / "two").n_words == 2


def test_count_json_and_estimate(days, tmp_path):
    files = [days / "mon.txt", days / "tue.txt"]
    facts = json.loads(run("count", *files, "--json", "-o", tmp_path / "m").stdout)
    counted = Moments.load(tmp_path / "m")
    assert (facts["documents"], facts["pairs"]) == (counted.n_documents, counted.n_pairs)
    expected = json.loads(run("count", *files, "--estimate", "--json").stdout)
    assert expected["share"] == 1  # small enough to be read as a whole
    assert [expected[name] for name in ("documents", "words", "pairs")] == [
        counted.n_documents, counted.n_words, counted.n_pairs,
    ]  # fmt: skip
    assert "seconds" in run("count", *files, "--estimate").stderr
    assert "give --out" in run("count", *files, code=1).stderr


def test_standard_input_is_counted(days, tmp_path):
    text = (days / "mon.txt").read_text()
    run("count", "-", "--open", "-o", tmp_path / "a", input=text)
    run("count", "-", "--like", tmp_path / "a", "-o", tmp_path / "b", input=(days / "tue.txt").read_text())
    assert Moments.load(tmp_path / "a") == Moments.load(days / "mon.moments")
    assert Moments.load(tmp_path / "b") == Moments.load(days / "tue.moments")


def test_a_certificate_replaces_nothing(days, tmp_path):
    run("merge", *moments(days, "mon", "tue"), "-o", tmp_path / "two")
    command = ("subtract", tmp_path / "two", days / "tue.txt", "-o", tmp_path / "rest", "--certificate")
    for name in ("two", "rest"):
        assert "give another name for the certificate" in run(*command, tmp_path / name, code=1).stderr
    (tmp_path / "c.json").write_text("{}")
    assert "--force" in run(*command, tmp_path / "c.json", code=1).stderr
    assert not (tmp_path / "rest").exists()


def test_text_is_removed_before_pruning(days, tmp_path):
    run("prune", days / "mon.moments", "--min-count", 5, "-o", tmp_path / "small")
    refused = run("subtract", tmp_path / "small", days / "mon.txt", "-o", tmp_path / "x", code=1).stderr
    assert "subtract from the file before that, then prune" in refused


def test_a_file_that_is_counted_again_is_in_the_ledger_twice(days, tmp_path):
    run("count", days / "mon.txt", days / "mon.txt", "--again", "--open", "-o", tmp_path / "twice")
    assert [source.times for source in Moments.load(tmp_path / "twice").ledger.sources.values()] == [2]
    refused = run("fit", days / "mon.txt", days / "mon.txt", "-t", 2, "-o", tmp_path / "m", code=1).stderr
    assert "mon.txt is given twice" in refused
    assert "counted twice" in run("merge", tmp_path / "twice", *moments(days, "mon"), "-o", "x", code=1).stderr


def test_days_without_text_can_be_merged(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("\n")
        run("count", tmp_path / f"{name}.txt", "--open", "-o", tmp_path / name)
    run("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "both")
    refused = run("fit", tmp_path / "a.txt", "-t", 2, "-o", tmp_path / "m", code=1).stderr
    assert "no word is left" in refused


def test_moments_are_not_text(days, tmp_path):
    run("fit", days / "mon.moments", "--topics", 2, "-o", tmp_path / "model")
    refused = run("evaluate", tmp_path / "model", days / "mon.moments", code=1).stderr
    assert "is a file of fdmix moments, not text" in refused
    (tmp_path / "t.csv").write_text("mine")
    assign = ("assign", tmp_path / "model", days / "mon.txt", "-o", tmp_path / "t.csv")
    assert "--force" in run(*assign, code=1).stderr
    run(*assign, "--force")
    Mixture([[0.5, 0.5]], vocabulary=["flu", "season"]).save(tmp_path / "bare")
    assert (
        "does not know how its text was cleaned" in run("assign", tmp_path / "bare", days / "mon.txt", code=1).stderr
    )


def test_a_memory_limit_changes_nothing_but_the_memory(days, tmp_path):
    run("count", days / "mon.txt", "--open", "--memory", "1GB", "-o", tmp_path / "mon")
    assert (tmp_path / "mon").read_bytes() == (days / "mon.moments").read_bytes()
    run("merge", *moments(days, "mon", "tue"), "--memory", "1GB", "-o", tmp_path / "two")
    assert Moments.load(tmp_path / "two") == Moments.load(days / "mon.moments") + Moments.load(days / "tue.moments")
    refused = run("count", days / "mon.txt", "--memory", "10MB", "-o", tmp_path / "no", code=1)
    assert "at least 700 MB" in refused.stderr
    said = run("count", days / "mon.txt", "--estimate", "--memory", "1GB").stderr
    assert "temporary files" in said


def test_rare_pairs_are_left_out_on_request_and_the_loss_is_reported(days, tmp_path):
    command = ("prune", days / "mon.moments", "--min-count", 1, "-o", tmp_path / "small")
    said = run(*command, "--rare-pairs", 0.6, "--lost", tmp_path / "lost.csv").stderr
    assert "of the weight of all pairs" in said
    small, whole = Moments.load(tmp_path / "small"), Moments.load(days / "mon.moments")
    assert small.n_pairs < whole.n_pairs == Moments.load(days / "mon.moments").prune(min_count=1).n_pairs
    header, first, *others = (tmp_path / "lost.csv").read_text().splitlines()
    assert header == "word,tokens,lost"
    assert first.endswith(",1.000000")
    assert len(others) + 1 == small.n_words
    refused = run("prune", days / "mon.moments", "--lost", tmp_path / "x", "-o", tmp_path / "y", code=1)
    assert "--lost goes with --rare-pairs" in refused.stderr
    before = (days / "mon.moments").read_bytes()
    for lost in (tmp_path / "small", days / "mon.moments"):
        refused = run(*command, "--rare-pairs", 0.6, "--lost", lost, "--force", code=1)
        assert "give --lost the name of another file" in refused.stderr
    assert (days / "mon.moments").read_bytes() == before
