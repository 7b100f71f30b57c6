"""The paper's experiments at the small scale, as a user would run them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fdmix
from fdmix.cli.reproduce import INSTALL

pytest.importorskip("tomotopy")
pytest.importorskip("matplotlib")
PARTS = ("matrix", "theory", "synthetic", "papers", "tweets", "graphs", "consistency")


def reproduce(*arguments, code=0):
    program = Path(sys.executable).with_name("fdmix")
    done = subprocess.run(
        [program, "reproduce", *map(str, arguments)], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.returncode == code, done.stderr
    return done.stderr


@pytest.mark.slow
def test_without_the_source_tree_there_is_no_such_command(tmp_path):
    shutil.copytree(Path(fdmix.__file__).parent, tmp_path / "fdmix", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "fdmix", "reproduce", "matrix"],
        capture_output=True, text=True, check=False, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 2
    assert "No such command 'reproduce'" in done.stderr


def test_the_readme_says_how_to_install_what_it_needs():
    page = (Path(fdmix.__file__).parents[2] / "README.md").read_text()
    assert " -e " in INSTALL  # without it, the installed package does not know its source tree
    said = " ".join(page[page.index("`fdmix reproduce` repeats") :].split())
    assert f"some minutes at the small scale, and needs a clone with `{INSTALL}`" in said


def test_the_paper_scale_asks_for_its_corpora(tmp_path, monkeypatch):
    monkeypatch.delenv("FDMIX_DATA", raising=False)
    said = reproduce("papers", "--scale", "paper", "--out", tmp_path, code=1)
    assert "name their folder with --data or FDMIX_DATA" in said


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_everything_at_the_small_scale(tmp_path):
    said = reproduce("all", "--out", tmp_path)
    folder = tmp_path / "small"
    page = (folder / "results.md").read_text()
    for part in PARTS:
        result = json.loads((folder / part / "result.json").read_text())
        assert result["title"] in page
        assert result["verdict"]
        assert result["rows"]
        assert (folder / part / "table.csv").is_file()
        for name in result["figures"]:
            assert (folder / part / f"{name}.png").stat().st_size > 5_000
            assert "<svg" in (folder / part / f"{name}.svg").read_text()[:2000]
    assert "<table>" in (folder / "results.html").read_text()
    errors = json.loads((folder / "consistency" / "result.json").read_text())["rows"]
    assert errors[1]["FDM"] < 0.5 * errors[0]["FDM"]
    assert errors[1]["FDM"] < errors[1]["FDM without sparsity"]
    rows = json.loads((folder / "synthetic" / "result.json").read_text())["rows"]
    errors = {(row["documents"], row["method"]): row["l1"] for row in rows}
    assert errors["one corpus", "FDM"] < errors["one corpus", "EP"]
    assert {documents for documents, _ in errors} == {"one corpus", "fresh corpora", "unequal lengths"}
    assert all(row["holds"] == "yes" for row in json.loads((folder / "theory" / "result.json").read_text())["rows"])
    assert "done already" not in said
    (folder / "papers" / "result.json").unlink()  # as if it had been stopped before the end
    said = reproduce("all", "--out", tmp_path)
    assert said.count("done already") == len(PARTS) - 1


@pytest.mark.slow
def test_what_is_left_is_told_by_what_is_done(tmp_path):
    from experiments.measured import Schedule, save_corpus

    from fdmix import worlds

    save_corpus(worlds.intervals().sample(200, length=20, seed=1), tmp_path / "corpus.npz")
    said = []
    schedule = Schedule(["FDM", "FDM"], said.append)
    for run in range(2):
        _, facts = schedule.measured(f"run {run}", "FDM", tmp_path / "corpus.npz", 3, tmp_path / str(run))
        schedule.seconds["FDM"] = [300.0]
    assert said == ["run 0", "run 1; 5 min left"]
    assert facts["peak_megabytes"] > 0
    assert schedule.left == []


def test_the_clock_goes_on_after_a_stop(tmp_path):
    from experiments.measured import Clock

    first = Clock(tmp_path / "clock")
    first.keep()
    kept = first.seconds()
    again = Clock(tmp_path / "clock")
    assert all(now >= before > 0 for now, before in zip(again.seconds(), again.before, strict=True))
    assert again.seconds()[0] < kept[0] + 10


def synthetic_jobs(mallet):
    from experiments.synthetic import run as synthetic

    return synthetic.method_jobs(synthetic.SCALES["paper"], 10_500, mallet, "truth.model")


def test_synthetic_methods_have_the_priors_of_the_paper_and_names_of_their_own():
    from experiments.methods import COLOURS, method_of

    jobs = synthetic_jobs("bin/mallet")
    assert jobs["MALLET, paper's priors"]["alpha"] == 1 / 500
    assert jobs["MALLET, paper's priors"]["eta"] == 1 / 10_500
    assert jobs["tomotopy, 10 alpha"]["alpha"] == 10 / 500
    assert jobs["tomotopy, 10 alpha, beta 0.01"]["alpha"] == 10 / 500
    assert jobs["tomotopy, 10 alpha, beta 0.01"]["eta"] == 0.01
    assert jobs["tomotopy, beta 0.01"]["eta"] == 0.01
    assert not any(jobs[name].get("optimise") for name in jobs)
    assert all(callable(method_of(name)) and name in COLOURS for name in jobs)
    without = synthetic_jobs(None)
    assert set(jobs) - set(without) == {name for name in jobs if name.startswith("MALLET")}


def test_synthetic_runs_are_on_one_corpus_on_fresh_ones_and_on_unequal_documents(tmp_path):
    from experiments.measured import load_corpus
    from experiments.synthetic import run as synthetic

    from fdmix import worlds

    runs = synthetic.planned_runs(synthetic.SCALES["paper"], synthetic_jobs(None))
    assert [(folder, seed) for corpus, folder, seed, name in runs if (corpus, name) == ("one corpus", "EP")] == [
        ("corpus-0", seed) for seed in range(5)
    ]
    fresh = {(folder, name) for corpus, folder, _, name in runs if corpus == "fresh corpora"}
    assert {folder for folder, name in fresh if name == "FDM"} == {f"corpus-{k}" for k in range(1, 6)}
    assert [seed for corpus, _, seed, name in runs if (corpus, name) == ("one corpus", "FDM")] == [0]
    assert {corpus for corpus, _, _, name in runs if name == "FDM, weights by length"} == {"unequal lengths"}
    settings = {"n_documents": 300, "n_topics": 3}
    truth = worlds.intervals().mixture
    equal = load_corpus(synthetic.sampled("one corpus", tmp_path / "corpus-0", truth, settings))
    unequal = load_corpus(synthetic.sampled("unequal lengths", tmp_path / "unequal-0", truth, settings))
    assert set(equal.counts.sum(axis=1).tolist()) == {30}
    assert len(set(unequal.counts.sum(axis=1).tolist())) > 30


def test_a_result_is_complete_only_with_the_peers_asked_for(tmp_path):
    from experiments.results import Results, finished

    results = Results(tmp_path, "x", "small", {}, rows=[{"method": "tomotopy, 10 alpha"}])
    results.write()
    assert finished(tmp_path, "small")
    assert not finished(tmp_path, "small", ["MALLET"])
    results.rows.append({"method": "MALLET, 10 alpha"})
    results.write()
    assert finished(tmp_path, "small", ["MALLET"])


def test_words_of_fewer_tokens_are_left_out_of_papers():
    from experiments.corpora import without_rare_words

    from fdmix import Corpus

    kept = without_rare_words(Corpus([[30, 30, 1], [20, 19, 1]], ["ant", "bee", "cow"]), 50)
    assert kept.vocabulary == ("ant",)
    assert kept.n_documents == 2


def test_a_graph_of_ones_own(tmp_path):
    from experiments.graphs import karate, run

    lines = [f"{a} {b}" for a, b in karate.EDGES]
    (tmp_path / "edges.txt").write_text("# friends\n" + "\n".join([*lines, "2 1", "3 3"]))
    assert len(run.edge_list(tmp_path / "edges.txt")) == 78
    run.run("small", tmp_path / "graphs", tmp_path, lambda text: None)
    rows = json.loads((tmp_path / "graphs" / "result.json").read_text())["rows"]
    assert rows[-1] == {"graph": "edges.txt", "communities": 2, "nodes": 34, "NMI": None}
    assert rows[1]["NMI"] > 0.95
    (tmp_path / "edges.txt").write_text("1 2\n3")
    with pytest.raises(ValueError, match="two nodes in each line"):
        run.edge_list(tmp_path / "edges.txt")


@pytest.mark.slow
def test_kept_results_belong_to_their_documents(tmp_path):
    from experiments.measured import measured, save_corpus

    from fdmix import worlds

    save_corpus(worlds.intervals().sample(200, length=20, seed=1), tmp_path / "corpus.npz")
    first, facts = measured("FDM", tmp_path / "corpus.npz", 3, tmp_path, seed=0)
    again, same = measured("FDM", tmp_path / "corpus.npz", 3, tmp_path, seed=0)
    assert same == facts
    assert (again.topics == first.topics).all()
    for n_topics, seed in ((4, 0), (3, 1)):
        with pytest.raises(RuntimeError, match="other settings or documents"):
            measured("FDM", tmp_path / "corpus.npz", n_topics, tmp_path, seed=seed)
    save_corpus(worlds.intervals().sample(200, length=20, seed=2), tmp_path / "corpus.npz")
    with pytest.raises(RuntimeError, match="other settings or documents"):
        measured("FDM", tmp_path / "corpus.npz", 3, tmp_path, seed=0)


def test_scores_are_stored_beside_a_result_and_belong_to_it(tmp_path):
    from experiments.measured import stored_scores

    (tmp_path / "ep-l2.json").write_text("{}")
    first = stored_scores("EP, L2", tmp_path, lambda: {"l1": 0.5, "distances": np.array([0.25, 0.75])})
    again = stored_scores("EP, L2", tmp_path, dict)
    assert again["l1"] == first["l1"]
    assert (again["distances"] == first["distances"]).all()
    (tmp_path / "ep-l2.json").write_text('{"seconds": 1}')
    assert stored_scores("EP, L2", tmp_path, lambda: {"l1": 0.25}) == {"l1": 0.25}


@pytest.mark.slow
def test_one_method_at_a_time(tmp_path):
    assert "there is no method 'LSA'" in reproduce("synthetic", "--method", "LSA", "--out", tmp_path, code=1)
    for name in ("EP", "FDM"):
        reproduce("synthetic", "--method", name, "--out", tmp_path)
    result = json.loads((tmp_path / "small" / "synthetic" / "result.json").read_text())
    assert {row["method"] for row in result["rows"]} == {"FDM", "EP", "the truth"}
    assert not result["complete"]


@pytest.mark.slow
def test_one_part(tmp_path):
    reproduce("matrix", "--out", tmp_path)
    rows = json.loads((tmp_path / "small" / "matrix" / "result.json").read_text())["rows"]
    errors = [row["l1 to the true matrix"] for row in rows]
    assert errors[2] < 0.15 * errors[0]


@pytest.mark.slow
def test_what_goes_wrong(tmp_path):
    assert "there is no experiment 'tables'" in reproduce("tables", "--out", tmp_path, code=1)
    assert "--scale is small or paper" in reproduce("matrix", "--scale", "huge", "--out", tmp_path, code=1)
    said = reproduce("papers", "--scale", "paper", "--data", tmp_path, "--out", tmp_path, code=1)
    assert "neither mlpapers.npz nor Kaggle's papers.csv" in said
    shutil.rmtree(tmp_path / "paper", ignore_errors=True)
