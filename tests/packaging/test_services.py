"""Files that other services read agree with the package: workflows, recipe, container file, citation, noxfile."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import fdmix

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_careful(path):
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {}, "a job asks for what it needs"
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert [name for name in used if not re.fullmatch(r"[\w./-]+@v\d+\.\d+\.\d+", name)] == []
    for step in steps(workflow):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
        assert "${{" not in step.get("run", ""), "values reach a shell through the environment only"
    assert "un by the authors" in text.split("name:")[0], "the head says what was not run"


def test_publishing_needs_no_password():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "publish.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["pypi"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in (ROOT / ".github" / "workflows" / "publish.yml").read_text(encoding="utf-8")


def test_all_python_versions_are_tested():
    promised = {line.split(" :: ")[-1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)}
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["fast"]["strategy"]["matrix"]
    assert {*matrix["python"], *(entry["python"] for entry in matrix["include"])} == promised
    nox = re.search(r"^PYTHONS = \[(.*)\]", (ROOT / "noxfile.py").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(re.findall(r"[\d.]+", nox[1])) == promised


def test_the_recipe_needs_what_the_package_needs():
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    needed = {line.replace(" ", "") for line in recipe["requirements"]["run"] if not line.startswith("python ")}
    assert needed == {bound for bound in PROJECT["dependencies"] if ";" not in bound}
    assert recipe["context"]["version"] == fdmix.__version__
    assert recipe["about"]["summary"] == PROJECT["description"]


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == fdmix.__version__
    assert PROJECT["license"] == f"{citation['license']} AND ISC"  # d3 is cited by its own authors


def test_every_dependency_has_a_lower_bound():
    extras = [bound for bounds in PROJECT["optional-dependencies"].values() for bound in bounds]
    assert all(re.fullmatch(r"[\w.-]+(\[\w+\])?>=[\d.]+(; .*)?", bound) for bound in PROJECT["dependencies"])
    assert all(">=" in bound or bound.startswith("fdmix[") for bound in extras)


def test_the_changelog_has_this_version():
    page = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(fdmix.__version__)}\b", page, flags=re.MULTILINE)
