"""Take the screenshots of docs/how-to/report.md from three reports.

    python docs/screenshots.py REPORT COMPARED LARGE

REPORT : of a model with moments, documents and --by; COMPARED : of two models; LARGE : of some hundred topics
Needs Playwright and a Chromium (tests/browser.py says which).
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from browser import launched  # noqa: E402  (the tests' folder is not a package)

# By name of the picture: the report (its place among the arguments), the address, and how high the picture is.
VIEWS = {
    "overview": (0, "view=overview", 900),
    "topic": (0, "topic=15", 900),
    "map": (0, "view=map", 900),
    "together": (0, "view=together", 900),
    "tree": (0, "view=tree", 1020),
    "groups": (0, "view=groups", 900),
    "compare": (1, "view=compare", 900),
    "treemap": (2, "view=topics", 900),
}
WIDTH = 1280
SHOWN_WIDTH = 1024  # pixels of the picture
N_COLOURS, QUANTISER = 256, Image.Quantize.MAXCOVERAGE  # as in pictures.py


def main(reports: list[str]) -> None:
    """One picture for each view."""
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        for name, (place, address, height) in VIEWS.items():
            page = browser.new_page(viewport={"width": WIDTH, "height": height}, color_scheme="light")
            page.goto(f"{Path(reports[place]).resolve().as_uri()}#{address}")
            page.wait_for_selector("html[data-ready]")
            page.wait_for_timeout(500)
            page.screenshot(path=f"{folder}/{name}.png")
            page.close()
            picture = Image.open(f"{folder}/{name}.png").convert("RGB")
            size = (SHOWN_WIDTH, round(SHOWN_WIDTH * height / WIDTH))
            small = picture.resize(size, Image.Resampling.LANCZOS).quantize(N_COLOURS, QUANTISER)
            small.save(HERE / "images" / f"report-{name}.png", optimize=True)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(sys.argv[1:])
