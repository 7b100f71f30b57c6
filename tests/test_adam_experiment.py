"""`python -m experiments.adam` goes on where it was, and writes a table and figures."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from pytorch import needs_torch

from fdmix import Moments, worlds

pytest.importorskip("matplotlib")
pytestmark = [needs_torch, pytest.mark.slow]


@pytest.fixture
def experiment(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    from experiments.adam import problems, run, tables

    uncompiled = {name: plan._replace(solver=replace(plan.solver, compiled=False)) for name, plan in run.RUNS.items()}
    monkeypatch.setattr(run, "RUNS", uncompiled)  # compiling takes longer than these runs
    world = worlds.intervals()
    moments = Moments.of(world.sample(3_000, length=20, seed=1), weighting="paper")
    return run, tables, problems.Problem("authors", moments, world.mixture, 20)


def test_a_run_goes_on_where_it_was(experiment, tmp_path, monkeypatch, capsys):
    run, tables, problem = experiment
    for tolerance in ("TOLERANCE", "EXACT_TOLERANCE"):
        monkeypatch.setattr(run, tolerance, -1.0)  # never settles
    for name in ("paper", "ours-exact"):
        first = run.continued(name, problem, tmp_path / name, 0.2, "cpu", 1)
        second = run.continued(name, problem, tmp_path / name, 0.2, "cpu", 1)
        assert "going on after" in capsys.readouterr().out
        assert second[: len(first)] == first
        assert second[-1]["steps"] > first[-1]["steps"]
        assert second[-1]["seconds"] > first[-1]["seconds"]
        assert second[-1]["likelihood"] > first[0]["likelihood"]
        assert run.read_curve(tmp_path / name) == second
    tables.write(tmp_path, problem)
    facts = json.loads((tmp_path / "result.json").read_text())
    assert [row["run"] for row in facts["rows"]] == ["paper", "ours-exact"]
    assert not facts["complete"]
    assert (tmp_path / "l1.svg").is_file()


def test_a_settled_run_is_not_repeated(experiment, tmp_path, monkeypatch, capsys):
    run, _, problem = experiment
    monkeypatch.setattr(run, "EXACT_TOLERANCE", 1e9)
    curve = run.continued("exact", problem, tmp_path, 60, "cpu", 1)
    assert curve[-1]["settled"]
    assert run.continued("exact", problem, tmp_path, 60, "cpu", 1) == curve
    assert "settled already" in capsys.readouterr().out


def test_a_run_from_the_truth_begins_there(experiment, tmp_path):
    run, _, problem = experiment
    curve = run.continued("truth", problem, tmp_path, 0.1, "cpu", 1)
    assert curve[0]["l1"] < 1e-3
    assert curve[0]["trace"] == pytest.approx(problem.truth.correlations.trace(), abs=1e-4)


def test_the_papers_problem_needs_the_synthetic_experiment(experiment, monkeypatch):
    from experiments.adam import problems

    with pytest.raises(SystemExit, match="reproduce synthetic"):
        problems.problem_of("paper", None)
    assert sys.modules["experiments.adam.problems"].PROBLEMS == ("authors", "middle", "large", "paper")


def test_the_papers_problem_is_the_first_corpus_of_the_synthetic_experiment(experiment, tmp_path):
    """The files as that experiment names them: true topics, and documents drawn from them."""
    from experiments.adam import problems
    from experiments.synthetic import run as synthetic

    truth, folder = worlds.zipf(4, 60, seed=1).mixture, tmp_path / "synthetic"
    settings = {"n_topics": 4, "n_documents": 50, "runs": {"one corpus": 1, "fresh corpora": 1, "unequal lengths": 0}}
    with pytest.raises(SystemExit, match="reproduce synthetic"):
        problems.problem_of("paper", folder)
    synthetic.true_model(folder).parent.mkdir()
    truth.save(synthetic.true_model(folder))
    paths = [
        synthetic.sampled(corpus, folder / name, truth, settings)
        for corpus, name, *_ in synthetic.planned_runs(settings, ["FDM"])
    ]
    found = problems.problem_of("paper", folder)
    assert paths[0] == synthetic.first_corpus(folder)
    expected = Moments.of(synthetic.load_corpus(paths[0]), weighting="paper")
    assert abs(found.moments.matrix - expected.matrix).sum() == 0
    assert abs(found.truth.topics - truth.topics).max() < 1e-9
    assert found.truth.correlations.trace() == pytest.approx((1 + 1 / 4) / 2)  # of theta ~ Dir(1/4, ..., 1/4)
