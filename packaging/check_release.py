"""Install the wheel of dist/ into an empty environment, and run `fdmix demo` and the smoke tests there.

Writes dist/fdmix-VERSION.cdx.json, a bill of materials (CycloneDX) of the package and all that it needs.
Usage: python packaging/check_release.py [--dist FOLDER]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SMOKE = ROOT / "tests" / "smoke" / "test_installed_package.py"
VENDOR = ROOT / "src" / "fdmix" / "report" / "page" / "vendor"
DEMO = ("demo", "--documents", "1500", "--topics", "10", "--out", "demo")  # docstrings of NumPy and others: seconds


def main() -> None:
    """Check the wheel; the exit code says whether it works."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder with the wheel (default: dist)")
    dist = parser.parse_args().dist.resolve()
    wheels = sorted(dist.glob("*.whl"))
    if len(wheels) != 1:
        sys.exit(f"{dist} holds {len(wheels)} wheels, not one: run `make build` first")
    with tempfile.TemporaryDirectory(prefix="fdmix-release-") as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        _step("install the wheel into an empty environment", folder, python, "-m", "pip", "install", "-q", wheels[0])
        _bill_of_materials(python, dist / f"{'-'.join(wheels[0].name.split('-')[:2])}.cdx.json")
        _step("fdmix demo", folder, python, "-m", "fdmix", *DEMO)
        if not (folder / "demo" / "report.html").is_file():
            sys.exit("fdmix demo wrote no report")
        _step("install pytest", folder, python, "-m", "pip", "install", "-q", "pytest")
        shutil.copy(SMOKE, folder)
        pytest = ("-m", "pytest", "-q", "-W", "error", "-o", "markers=slow", SMOKE.name)
        _step("smoke tests", folder, python, *pytest)
    print("The wheel installs, and works without its source tree.")


def _bill_of_materials(python: Path, target: Path) -> None:
    """Written before pytest is installed, so that it lists what a user gets; pip is part of every environment."""
    tool = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON"]
    subprocess.run([*tool, "--pyproject", ROOT / "pyproject.toml", "-o", target, python], check=True)
    bill = json.loads(target.read_text("utf-8"))
    bill["components"] += [_vendored(path) for path in sorted(VENDOR.glob("*.js"))]
    target.write_text(json.dumps(bill, indent=2) + "\n", "utf-8")
    print(f"Wrote {target.name}", flush=True)


def _vendored(path: Path) -> dict[str, object]:
    """The entry of a JavaScript library that the package contains, such as d3-7.9.0.min.js."""
    name, version = path.name.removesuffix(".min.js").rsplit("-", 1)
    return {
        "type": "library", "name": name, "version": version, "bom-ref": f"{name}@{version}",
        "purl": f"pkg:npm/{name}@{version}", "licenses": [{"license": {"id": "ISC"}}],
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
    }  # fmt: skip


def _step(what: str, folder: Path, *command: object) -> None:
    """Run a command outside of the source tree, where nothing but the installed package can be imported."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    began = time.monotonic()
    done = subprocess.run([*map(str, command)], cwd=folder, env=environment, check=False)
    if done.returncode:
        sys.exit(f"failed: {what}")
    print(f"{what}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
