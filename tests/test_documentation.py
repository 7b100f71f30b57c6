"""The examples in README, docs and docstrings run and say the truth."""

import doctest
import importlib
import os
import pkgutil
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

import fdmix
from fdmix.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "experiments/README.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
ENGINE_MODULES = {"fdmix.distributed.dask_partitions": "dask", "fdmix.distributed.spark_partitions": "pyspark"}
MODULES = sorted(module.name for module in pkgutil.walk_packages(fdmix.__path__, "fdmix."))


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    engine = ENGINE_MODULES.get(name)
    if engine is not None and find_spec(engine) is None and not os.environ.get("FDMIX_SKIP_NOTHING"):
        pytest.skip(f"{engine} is not installed")
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)


def commands_of(page):
    """Lines of a page that call fdmix, as lists of arguments, without what a shell does with the result."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"^(?:    |\t)(?:\$ )?(fdmix [a-z].*)$", text, flags=re.MULTILINE):
        words = shlex.split(line, comments=True)
        ends = [place for place, word in enumerate(words) if word in ("|", ">", "&&", ";")]
        if "..." not in words and not words[1].isupper():
            yield words[1 : ends[0] if ends else None]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_have_the_arguments_that_pages_give_them(page):
    program = typer.main.get_command(app)
    for arguments in commands_of(page):
        if not arguments[0].startswith("-"):
            program.commands[arguments[0]].make_context(arguments[0], arguments[1:], resilient_parsing=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target, heading in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            linked = page.parent / target if target else page
            assert linked.exists(), f"{page.relative_to(ROOT)} links to {target}"
            assert not heading or heading in _anchors(linked), f"{page.relative_to(ROOT)} links to {target}#{heading}"


def _anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_map_names_files_that_exist():
    page = (ROOT / "docs" / "reference" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+/\w+\.py)`", page)
    missing = [name for name in named if not any((root / name).exists() for root in (ROOT, ROOT / "src" / "fdmix"))]
    folders = {path.name for path in (ROOT / "src" / "fdmix").iterdir() if (path / "__init__.py").exists()}
    assert [name for name in missing if "yours" not in name] == []
    assert folders == set(re.findall(r"^\| `(\w+)/` \|", page, flags=re.MULTILINE))


def test_pages_that_the_code_names_exist():
    for folder in ("src", "benchmarks", "experiments", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            for name in re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8")):
                assert (ROOT / name).exists(), f"{path.relative_to(ROOT)} names {name}"
