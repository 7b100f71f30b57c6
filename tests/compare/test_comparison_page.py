"""The page that `benchmarks.comparison_page` makes of results."""

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def comparison_page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.comparison_page")


def result(folder, method, seed, **scores):
    row = {"method": method, "topics": 20, "seed": seed} | scores
    (folder / "runs" / f"{method}-20-{seed}.json").write_text(json.dumps(row))


def test_losses_are_listed(comparison_page, tmp_path):
    folder = tmp_path / "news"
    (folder / "runs").mkdir(parents=True)
    sizes = {"documents": 1000, "words": 200, "tokens": 5000}
    (folder / "comparison.json").write_text(json.dumps({"documents": sizes}))
    machine = {"about": "Some news.", "machine": "a machine", "versions": {"fdmix": "1", "gensim": None}}
    (folder / "machine.json").write_text(json.dumps(machine))
    for seed in (0, 1):
        result(folder, "fdm", seed, completion=-6.0 - seed, npmi=0.2, seconds=1.0)
        result(folder, "nmf", seed, completion=-6.5 - seed, npmi=0.3, seconds=2.0)
        result(folder, "bertopic", seed, failed="needs bertopic: pip install bertopic")
    text = comparison_page.page(tmp_path)
    assert "## news" in text
    assert "| corpus | topics | completion: fdm | pairs | best other | NPMI: fdm | pairs | best other |" in text
    assert "| news | 20 | **-6.500** |  | -7.000 nmf | 0.200 |  | **0.300** nmf |" in text
    assert "Some news. 1,000 documents, 200 words, 5,000 tokens. a machine; fdmix 1." in text
    assert "| 20 | nmf - fdm | -0.500 ± 0.000 | +0.100 ± 0.000 |" in text
    assert "- fdm, 20 topics: NPMI 0.200 ± 0.000, nmf 0.300 ± 0.000\n" in text
    assert "- bertopic, 20 topics: needs bertopic: pip install bertopic" in text


def test_a_folder_without_results(comparison_page, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"run python -m benchmarks\.compare"):
        comparison_page.page(tmp_path)
