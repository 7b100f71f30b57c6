"""Where compiled loops are kept, and that compiling is announced: each in a process of its own."""

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.event import Listener, install_listener

import fdmix
import fdmix.kernels.compiling  # what listens to numba

pytestmark = pytest.mark.slow

LENGTHS = """
import logging
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
import fdmix
from fdmix import Corpus
print(fdmix.__file__)
print(Corpus([[2, 1], [0, 4]]).lengths.tolist())
"""


@pytest.fixture
def read_only_package(tmp_path):
    """Run code with a copy of the package and a HOME that cannot be written."""
    folder = tmp_path / "read only"
    shutil.copytree(Path(fdmix.__file__).parent, folder / "fdmix", ignore=shutil.ignore_patterns("__pycache__"))
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    without_rights = []
    if os.geteuid() == 0:  # permissions do not stop root, unless it gives up this right
        if not shutil.which("setpriv"):
            pytest.skip("root can write everywhere, and there is no setpriv to change that")
        without_rights = ["setpriv", "--bounding-set=-dac_override"]

    def run(code, **variables):
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(folder), **variables}
        command = [*without_rights, sys.executable, "-c", code]
        return subprocess.run(command, check=False, env=environment, capture_output=True, text=True)

    for path in folders:
        path.chmod(0o555)
    writing = run(f"open({str(folder / 'new')!r}, 'w')")
    if "PermissionError" not in writing.stderr:
        pytest.skip("no folder can be made read-only here")
    yield run
    for path in folders:
        path.chmod(0o755)


def test_nothing_can_be_written(read_only_package):
    done = read_only_package(LENGTHS)
    assert done.returncode == 0, done.stderr
    where, lengths = done.stdout.splitlines()
    assert not where.startswith(str(Path(fdmix.__file__).parent))  # the copy was used
    assert lengths == "[3, 4]"
    assert done.stderr.count("compiling") == 1
    assert "WARNING" in done.stderr
    assert "set NUMBA_CACHE_DIR" in done.stderr


def test_a_folder_of_ones_own_for_compiled_loops(read_only_package, tmp_path):
    done = read_only_package(LENGTHS, NUMBA_CACHE_DIR=str(tmp_path / "loops"))
    assert done.returncode == 0, done.stderr
    assert "NUMBA_CACHE_DIR to a folder" not in done.stderr
    assert list((tmp_path / "loops").rglob("pair_sums.row_sums*.nbc"))


def test_compiling_is_announced_once_and_only_when_it_happens(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    code = f"{LENGTHS}\nfrom fdmix import Moments\nMoments.of([[1, 1]])"
    first, second = (
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
        for _ in range(2)
    )
    assert first.stderr.count("compiling the loops that this step needs, once") == 1
    assert f"kept in {tmp_path}" in first.stderr
    assert "compiling" not in second.stderr


def test_the_command_line_says_that_it_compiles(tmp_path):
    (tmp_path / "text.txt").write_text("cats chase mice\ndogs chase cats\n")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "loops")}
    said = [
        subprocess.run(
            [sys.executable, "-m", "fdmix", "count", "text.txt", "-o", f"{n}.moments"],
            env=environment, check=True, capture_output=True, text=True, cwd=tmp_path,
        ).stderr
        for n in (1, 2)
    ]  # fmt: skip
    assert said[0].count("compiling the loops that this step needs, once") == 1
    assert "compiling" not in said[1]


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("works", [True, False])
def test_garbage_is_not_collected_while_a_kernel_is_compiled(works, on):
    """Whether compiling works or fails, garbage collection is as before afterwards."""

    class Watching(Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            pass

    def kernel(x):
        return x + 1 if works else x.nothing

    kernel.__module__ = "fdmix.kernels.made_here"
    seen = []
    try:
        if not on:
            gc.disable()
        with install_listener("numba:compile", Watching()):
            if works:
                assert numba.njit(kernel)(1) == 2
            else:
                with pytest.raises(numba.TypingError):
                    numba.njit(kernel)(1)
        assert seen
        assert not any(seen)
        assert gc.isenabled() is on
    finally:
        gc.enable()
