"""One report for all tests of a process."""

import pytest
from examples import small_report


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """(path of a report with every view, its mixture)."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    return path, small_report(path)
