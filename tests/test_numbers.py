"""Numbers of README and docs are those of the committed result files: `python -m experiments.numbers` writes them."""

import pytest
from experiments.numbers import COVERED, MARKED, ROOT, filled, pages, without_source


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_numbers_are_those_of_the_result_files(page):
    text = page.read_text(encoding="utf-8")
    assert filled(text) == text


@pytest.mark.parametrize("name", COVERED)
def test_every_result_has_a_source(name):
    assert without_source((ROOT / name).read_text(encoding="utf-8")) == []


def test_there_are_numbers_with_a_source():
    assert sum(len(MARKED.findall(page.read_text(encoding="utf-8"))) for page in pages()) > 100


def test_another_number_is_noticed():
    assert filled("0.5<!-- paper/matrix: #0: l1 to the true matrix -->").startswith("0.1<!--")
    with pytest.raises(LookupError, match="0 rows 'nobody'"):
        filled("0.5<!-- paper/synthetic: nobody: l1 -->")
