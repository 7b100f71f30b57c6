"""Build the sdist and the wheel into dist/, twice, and check that both times give the same bytes.

The wheel is built from the unpacked sdist, so the sdist holds all that the wheel needs. Times in the archives are
that of the last commit. Usage: python packaging/make_distributions.py [--out FOLDER]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEFORE_GIT = "1577836800"  # 2020-01-01: the time of the files where there is no commit, as in an unpacked sdist


def main() -> None:
    """Build, compare, and write what was built with its checksums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder to write (default: dist)")
    out = parser.parse_args().out
    if changed := _git("status", "--porcelain"):
        print(f"These files are not committed, so another clone builds other bytes:\n{changed}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="fdmix-build-") as folder:
        first, second = Path(folder) / "1", Path(folder) / "2"
        build(ROOT, first)
        build(ROOT, second)
        if checksums(first) != checksums(second):
            sys.exit(f"The build is not reproducible: {checksums(first)} and then {checksums(second)}")
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(first, out)
    lines = [f"{digest}  {name}\n" for name, digest in checksums(out).items()]
    (out / "SHA256SUMS").write_text("".join(lines))
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:>10,} bytes  {path.name}")


def build(source: Path, out: Path) -> tuple[Path, Path]:
    """(sdist, wheel) of a source tree, in the folder `out`."""
    out.mkdir(parents=True)
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct") or BEFORE_GIT
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    sdist = _run_backend("build_sdist", source, out, environment)
    with tempfile.TemporaryDirectory(prefix="fdmix-sdist-") as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (unpacked,) = Path(folder).iterdir()
        wheel = _run_backend("build_wheel", unpacked, out, environment)
    return sdist, wheel


def checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of each file in a folder, by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def _run_backend(hook: str, source: Path, out: Path, environment: dict[str, str]) -> Path:
    """Call a function of the build backend (PEP 517), as pip does; the path of what it wrote."""
    code = f"import sys; from hatchling.build import {hook}; print({hook}(sys.argv[1]))"
    command = [sys.executable, "-c", code, str(out)]
    done = subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True, text=True)
    return out / done.stdout.split()[-1]


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    main()
