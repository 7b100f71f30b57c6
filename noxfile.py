"""The tests on several versions of Python, with the newest and with the oldest dependencies: `make matrix`.

Python versions that are not on the PATH are skipped with a sentence. More arguments go to pytest:
`nox -s newest-3.12 -- tests -m "not slow"` runs all fast tests.
"""

import tomllib
from pathlib import Path

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
OLDEST_PYTHON = PYTHONS[0]  # the oldest dependencies have no wheels for newer ones
# What depends most on the versions of others: reading tables, arrays, files, kernels, the estimator.
FOLDERS = ["corpus", "mixture", "moments", "storage", "text", "sklearn"]
PLUGINS = ["pytest", "pytest-timeout", "hypothesis", "pyyaml"]

nox.needs_version = ">=2025.2"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["newest", "oldest"]


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """Smoke and fast tests with the newest version of every dependency."""
    session.install("--upgrade", ".[frames,excel,graphs]", *PLUGINS)
    run_tests(session)


@nox.session(python=OLDEST_PYTHON)
def oldest(session: nox.Session) -> None:
    """The same with the lower bounds of pyproject.toml; what old packages say about new ones is no error."""
    session.install(".", *oldest_versions(), *PLUGINS)
    run_tests(session, "-W", "default::DeprecationWarning", "-W", "default::FutureWarning")


def oldest_versions() -> list[str]:
    """The dependencies of pyproject.toml, each at its lower bound, such as numpy==1.26."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [project["optional-dependencies"][name][0] for name in ("frames", "excel", "graphs")]
    return [bound.replace(">=", "==") for bound in project["dependencies"] + extras]


def run_tests(session: nox.Session, *options: str) -> None:
    """Run pytest, and say first which versions it runs with."""
    session.run("python", "-m", "pip", "list", "--format=freeze")
    pytest = ("python", "-m", "pytest", "-q", *options)
    if session.posargs:
        session.run(*pytest, *session.posargs)
        return
    session.run(*pytest, "tests/smoke")
    session.run(*pytest, "-m", "not slow", *(f"tests/{folder}" for folder in FOLDERS))
