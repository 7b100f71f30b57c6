"""The page of results says what the result files say."""

from pathlib import Path

from benchmarks.comparison_page import page

ROOT = Path(__file__).parents[2]


def test_the_page_is_made_from_the_result_files():
    """`python -m benchmarks.comparison_page experiments/results/comparison` prints it anew."""
    published = (ROOT / "docs/evidence/comparison_results.md").read_text()
    assert published.strip() == page(ROOT / "experiments/results/comparison").strip()
