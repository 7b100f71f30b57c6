"""Tables and figures of rows with known numbers."""

import csv
import io
import sys

import pytest

from fdmix.compare.figures import draw_figures
from fdmix.compare.tables import latex, markdown, paired_markdown, summaries, write_tables


def row(method, topics, seed, completion, seconds, **more):
    return {"method": method, "topics": topics, "seed": seed, "completion": completion, "seconds": seconds} | more


ROWS = [
    row("fdm", 20, 0, -6.0, 1.0, c_v=0.5),
    row("fdm", 20, 1, -7.0, 3.0, c_v=0.7),
    row("nmf", 20, 0, -6.5, 0.5, c_v=0.6),
    row("nmf", 20, 1, -7.5, 0.5, c_v=float("nan")),
    {"method": "gensim", "topics": 20, "seed": 0, "failed": "needs gensim: pip install gensim"},
    {"method": "gensim", "topics": 20, "seed": 1, "failed": "needs gensim: pip install gensim"},
]


def test_means_and_deviations():
    fdm, nmf, gensim = summaries(ROWS)
    assert (fdm.means["completion"], fdm.means["seconds"]) == (-6.5, 2.0)
    assert fdm.spread["completion"] == pytest.approx(0.5**0.5)
    assert (nmf.means["c_v"], nmf.spread["c_v"]) == (0.6, 0)
    assert gensim.means == {}
    assert gensim.failed == "needs gensim: pip install gensim"


def test_markdown_marks_the_best_and_says_what_failed():
    lines = markdown(summaries(ROWS)).splitlines()
    assert lines[0] == "| topics | method | completion | c_v | seconds |"
    assert lines[2] == "| 20 | fdm | **-6.500 ± 0.707** | **0.600 ± 0.141** | 2.0 ± 1.4 |"
    assert lines[3] == "| 20 | nmf | -7.000 ± 0.707 | **0.600 ± 0.000** | **0.5 ± 0.0** |"
    assert lines[4] == "| 20 | gensim: failed |  |  |  |"
    assert lines[6] == "- gensim, 20 topics: needs gensim: pip install gensim"


def test_paired_differences_vary_less_than_scores():
    assert paired_markdown(ROWS).splitlines() == [
        "| topics | difference | completion | c_v |",
        "|---:|---|---:|---:|",
        "| 20 | nmf - fdm | -0.500 ± 0.000 |  |",
    ]
    assert paired_markdown(ROWS[:2]) == ""


def test_latex():
    text = latex(summaries(ROWS))
    assert r"20 & fdm & $\mathbf{-6.500} \pm 0.707$" in text
    assert r"c\_v" in text
    assert text.count(r"\\") == 4
    assert "% gensim, 20 topics: needs gensim" in text


def test_files(tmp_path):
    write_tables(tmp_path, ROWS)
    runs = list(csv.DictReader(io.StringIO((tmp_path / "runs.csv").read_text())))
    means = list(csv.DictReader(io.StringIO((tmp_path / "table.csv").read_text())))
    assert [float(one["completion"] or "nan") for one in runs[:4]] == [-6.0, -7.0, -6.5, -7.5]
    assert runs[4]["failed"] == means[2]["failed"] == "needs gensim: pip install gensim"
    assert float(means[0]["completion_sd"]) == pytest.approx(0.5**0.5)
    assert means[0]["runs"] == "2"
    assert "nmf - fdm" in (tmp_path / "table.md").read_text()
    assert (tmp_path / "table.tex").read_text().startswith(r"\begin{tabular}")


def test_figures(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    more = [row("fdm", 50, 0, -5.9, 2.0), row("nmf", 50, 0, -6.1, 4.0)]
    written = draw_figures(tmp_path, summaries(ROWS + more))
    assert sorted(path.name for path in written) == ["scores.png", "scores.svg", "time.png", "time.svg"]
    assert "number of topics" in (tmp_path / "scores.svg").read_text() or (tmp_path / "scores.svg").stat().st_size
    assert draw_figures(tmp_path, summaries(ROWS[4:])) == []


def test_figures_without_matplotlib(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("fdmix.plots")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'fdmix\[plots\]'"):
        draw_figures(tmp_path, summaries(ROWS))
