"""The command line through its real entry point."""

import subprocess
import sys
from pathlib import Path

import fdmix

FDMIX = Path(sys.executable).with_name("fdmix")


def run(*arguments, **options):
    return subprocess.run([FDMIX, *arguments], capture_output=True, text=True, check=False, **options)


def test_version_and_help():
    assert run("--version").stdout.strip() == f"fdmix {fdmix.__version__}"
    assert "demo" in run("--help").stdout


def test_demo_shows_the_picture_and_writes_its_files(tmp_path):
    done = run("demo", "--out", tmp_path / "out", "--documents", "3000")
    assert done.returncode == 0, done.stderr
    assert "█" in done.stdout
    assert fdmix.Moments.load(tmp_path / "out" / "moments.fdmix").n_documents == 3000


def test_bad_option_is_a_short_error(tmp_path):
    done = run("demo", "--documents", "none", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
