"""axe-core finds nothing serious in any view, light or dark."""

import hashlib
from pathlib import Path

import pytest
from browser import opened

pytestmark = pytest.mark.slow  # minutes in all: a browser, or a process for each fit

AXE = Path(__file__).parent / "axe" / "axe-4.14.0.min.js"
SHA256 = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878"
VIEWS = [
    "view=overview", "view=topics", "view=map", "view=together", "view=words", "view=tree", "view=groups",
    "view=compare", "topic=1", "word=cat",
]  # fmt: skip


def test_axe_is_the_file_of_the_registry():
    assert hashlib.sha256(AXE.read_bytes()).hexdigest() == SHA256


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser, report, scheme):
    with opened(browser, report[0], scheme=scheme) as page:
        # Through the debugging protocol: the page's own policy would not let this script in.
        page.page.evaluate(AXE.read_text("utf-8"))
        for view in VIEWS:
            page.go(view)
            page.page.wait_for_timeout(300)
            found = page.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
            serious = [
                (each["id"], each["nodes"][0]["html"][:200], each["nodes"][0].get("failureSummary", "")[:300])
                for each in found
                if each["impact"] in ("serious", "critical")
            ]
            assert not serious, view
