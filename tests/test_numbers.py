"""Numbers of README and docs are those of the committed result files: `python -m experiments.numbers` writes them."""

import json

import pytest
from experiments.numbers import BENCHMARKS, MARKED, ROOT, filled, pages, value
from experiments.unsourced_numbers import GENERATED, is_checked, unsourced


def name_of(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_numbers_are_those_of_the_result_files(page):
    text = page.read_text(encoding="utf-8")
    assert filled(text) == text


@pytest.mark.parametrize("page", [page for page in pages() if is_checked(page)], ids=name_of)
def test_every_number_has_a_source_or_a_reason(page):
    assert unsourced(page.read_text(encoding="utf-8")) == []


def test_readme_and_evidence_are_checked():
    checked = {name_of(page) for page in pages() if is_checked(page)}
    assert "README.md" in checked
    assert {name_of(page) for page in pages() if "evidence" in page.parts} <= checked | GENERATED.keys()
    for path in (*GENERATED, *GENERATED.values()):
        assert (ROOT / path).is_file()


def test_there_are_numbers_with_a_source():
    assert sum(len(MARKED.findall(page.read_text(encoding="utf-8"))) for page in pages()) > 200


def test_ratios_and_differences_of_rows():
    key = "l1 to the true matrix"
    few, many = (value("paper/matrix", row, key) for row in ("#0", "#2"))
    assert value("paper/matrix", "#0 / #2", key) == few / many
    assert value("paper/matrix", "#0 - #2", key) == few - many


def test_another_number_is_noticed():
    assert filled("0.5<!-- paper/matrix: #0: l1 to the true matrix -->").startswith("0.1<!--")
    assert filled("0.50<!-- adam/authors/paper: step 162000: l1 -->").startswith("0.60<!--")
    with pytest.raises(LookupError, match="0 rows 'nobody'"):
        filled("0.5<!-- before/synthetic: nobody: l1 -->")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It takes 3.2 s and -0.45 of it, 12 % or 40 MB.", ["3.2", "-0.45", "12", "40"]),
        ("It takes 3.2<!-- paper/synthetic: FDM: l1 --> s, with 20 topics.", []),
        ("| method | seconds |\n|---|---|\n| **ours** | 12 |\n| 500 words | **0.3** |", ["12", "0.3"]),
        ("With `0.5` and Dir(0.1), rate 0.01, Python 3.11, NumPy 1.26 or [page](v1.2.md):", []),
        ("```\n0.5 s\n```\n\n    0.5 s\n\n0.7 s", ["0.7"]),
        ("0.5<!-- given --> and 0.6<!-- no result file -->, 0.7", ["0.7"]),
        ("<!-- given: options -->\n- 0.5\n- 0.6\n\n0.7", ["0.7"]),
        ("# Page\n\n*History: long ago.*\n\n0.5\n\n## Part\n\n0.6", []),
        ("# Page\n\n## Part\n\n*History: long ago.*\n\n0.5\n\n### Smaller\n\n0.6\n\n## Next\n\n0.7", ["0.7"]),
        ("# Page\n\nText first.\n\n*History: too late.*\n\n0.5", ["0.5"]),
    ],
)
def test_what_needs_a_source(text, numbers):
    assert [number for _, number in unsourced(text)] == numbers


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.json")), ids=lambda path: path.stem)
def test_results_of_benchmarks_say_how_they_were_made(path):
    facts = json.loads(path.read_text(encoding="utf-8"))
    assert facts["command"].endswith(f"python -m benchmarks {path.stem} --save")
    assert facts["machine"]
    assert facts["versions"].keys() >= {"python", "numpy"}
    assert facts["rows"]
    assert len({row["row"] for row in facts["rows"]}) == len(facts["rows"])
