"""The sdist and the wheel: the same bytes twice, small, and complete."""

import email
import importlib.util
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAX_WHEEL_BYTES = 1_200_000  # 0.75 MB when the limit was chosen; D3 alone is 0.1 MB of it
MAX_SDIST_BYTES = 8_000_000  # tests, docs with pictures, results of experiments


def script(name):
    """A script of packaging/ as a module; the folder is not importable, since `packaging` is another package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """(sdist, wheel, folder of both)."""
    folder = tmp_path_factory.mktemp("built") / "1"
    return *script("make_distributions").build(ROOT, folder), folder


@pytest.mark.slow
def test_two_builds_have_the_same_bytes(built, tmp_path, monkeypatch):
    making = script("make_distributions")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    making.build(ROOT, tmp_path / "2")
    assert making.checksums(built[2]) == making.checksums(tmp_path / "2")


@pytest.mark.slow
def test_the_wheel_has_the_package_and_nothing_else(built):
    wheel = built[1]
    assert wheel.name.endswith("-py3-none-any.whl")
    assert wheel.stat().st_size < MAX_WHEEL_BYTES
    names = set(zipfile.ZipFile(wheel).namelist())
    roots = {name.split("/")[0] for name in names}
    assert {root for root in roots if not root.endswith(".dist-info")} == {"fdmix"}
    package = ROOT / "src"
    wanted = {
        path.relative_to(package).as_posix()
        for path in (package / "fdmix").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if name.startswith("fdmix/")} == wanted
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("/d3-LICENSE.txt") and ".dist-info/licenses/" in name for name in names)


@pytest.mark.slow
def test_the_sdist_has_what_the_tests_need(built):
    sdist = built[0]
    assert sdist.stat().st_size < MAX_SDIST_BYTES
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    assert {(member.uid, member.gid) for member in members} == {(0, 0)}
    names = {member.name.split("/", 1)[1] for member in members if "/" in member.name}
    for folder in ("src", "tests", "docs", "experiments", "benchmarks", "javascript", "packaging"):
        wanted = {
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / folder).rglob("*.py")
            if not {"__pycache__", "node_modules"} & set(path.parts)
        }
        assert wanted <= names, folder
    assert {"README.md", "LICENSE", "pyproject.toml", "Makefile", "hatch_build.py", "CITATION.cff"} <= names
    assert "tests/fingerprints.json" in names
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc")) or "node_modules" in name]


@pytest.mark.slow
def test_addresses_come_from_one_setting(built, tmp_path, monkeypatch):
    """No address without the setting: an invented one could belong to somebody else."""
    assert metadata(built[1]).get_all("Project-URL") is None
    monkeypatch.setenv("FDMIX_REPOSITORY", "https://example.org/us/fdmix/")
    told = metadata(script("make_distributions").build(ROOT, tmp_path / "out")[1])
    addresses = dict(line.split(", ") for line in told.get_all("Project-URL"))
    assert set(addresses) == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    assert all(address.startswith("https://example.org/us/fdmix") for address in addresses.values())
    readme = told.get_payload()
    assert f"(https://example.org/us/fdmix/blob/v{told['Version']}/CHANGELOG.md)" in readme
    assert "](docs/" not in readme
    assert told["Description-Content-Type"] == "text/markdown"
    assert told["License-Expression"] == "BSD-3-Clause AND ISC"  # fdmix, and d3 within it
    assert told["Requires-Python"] == ">=3.11"


def metadata(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    return email.message_from_string(archive.read(name).decode("utf-8"))


def test_an_address_must_be_one():
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    text = "[a](pages/a.md) ![b](pages/b.png) [c](https://example.org) [d](#d)"
    assert hook.with_addresses(text, "https://r", "v1") == (
        "[a](https://r/blob/v1/pages/a.md) ![b](https://r/raw/v1/pages/b.png) [c](https://example.org) [d](#d)"
    )
    with pytest.raises(ValueError, match="https://"):
        hook.CustomMetadataHook(str(ROOT), {"repository": "ftp://x"}).update({"version": "1"})
