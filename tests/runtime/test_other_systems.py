"""What Windows lacks is not needed: modules, signals, locks, renames over memory-mapped files. Runs anywhere."""

import ast
import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import fdmix
from fdmix import Moments
from fdmix.runtime import memory
from fdmix.runtime.ending import end_with_children
from fdmix.storage import arrays

PACKAGE = Path(fdmix.__file__).parent
POSIX_MODULES = {"fcntl", "resource", "pty", "termios", "pwd", "grp", "tty"}
POSIX_NAMES = {
    "os": {"fork", "killpg", "geteuid", "getuid", "getpgid", "setsid", "mkfifo", "getloadavg", "statvfs", "pread"},
    "signal": {"SIGKILL", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGPIPE", "setitimer", "pthread_kill"},
}
GUARDED = {"runtime/ending.py"}  # uses names that Windows lacks only where they exist


def imports_outside_of_try(tree):
    """Modules that are imported where a missing one stops the program."""
    guarded = {inner for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in guarded:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from names


def test_no_file_needs_what_windows_lacks():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not POSIX_MODULES & set(imports_outside_of_try(tree)), name
        used = {
            f"{node.value.id}.{node.attr}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in POSIX_NAMES.get(node.value.id, ())
        }
        assert name in GUARDED or not used, name


WITHOUT = """
import os, signal, sys
for name in ("fcntl", "resource", "pty", "termios", "pwd", "grp", "tty"):
    sys.modules[name] = None
for module, names in ((os, ("fork", "killpg", "sysconf", "sched_getaffinity")), (signal, ("SIGKILL", "SIGALRM"))):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
from fdmix.storage import arrays
arrays.CAN_REPLACE_MAPPED_FILES = False
from fdmix.cli.app import app
folder = sys.argv[1] + "/"
def run(*arguments):
    app([*map(str, arguments)], standalone_mode=False)
text = [folder + "texts.csv", "--column", "text"]
run("count", *text, "-o", folder + "a.moments")
run("fit", folder + "a.moments", "--topics", 2, "-o", folder + "model")
run("update", folder + "model", folder + "more.csv", "--column", "text", "--moments", folder + "a.moments")
run("report", folder + "model", "-o", folder + "report.html")
"""


@pytest.mark.slow
def test_the_command_line_runs_without_them(tmp_path):
    rows = ["ant bee cow ant", "bee cow cow", "dog elk fox dog", "elk fox fox"] * 10
    (tmp_path / "texts.csv").write_text("\n".join(["text", *rows]))
    (tmp_path / "more.csv").write_text("text\nant bee fox\n")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path)], capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stderr
    assert Moments.load(tmp_path / "a.moments").n_documents == 41
    assert (tmp_path / "report.html").is_file()


@pytest.mark.parametrize("mapped", [True, False])
def test_files_are_read_alike_with_and_without_a_memory_map(tmp_path, monkeypatch, mapped):
    monkeypatch.setattr(arrays, "CAN_REPLACE_MAPPED_FILES", mapped)
    path = tmp_path / "x.moments"
    moments = Moments.of(np.array([[1, 2, 0], [0, 1, 3]]))
    moments.save(path)
    loaded = Moments.load(path)
    assert loaded == moments
    assert not loaded.pairs.sums.flags.writeable
    maps = Path("/proc/self/maps")
    if maps.exists():
        assert (str(path) in maps.read_text()) == mapped


STARTS_ANOTHER = (
    "import subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "print(child.pid, flush=True)\n"
    "time.sleep(60)\n"
)


@pytest.mark.parametrize("gently", [True, False])
def test_a_process_ends_with_those_it_started(gently):
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_ANOTHER], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        child = int(process.stdout.readline())
        end_with_children(process, gently=gently)
        assert process.wait(10) != 0
    if hasattr(os, "killpg"):
        assert ended(child)
    end_with_children(process)  # nothing happens to a process that has ended


def test_a_process_ends_without_sessions(monkeypatch):
    monkeypatch.delattr(os, "killpg", raising=False)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        end_with_children(process)
        assert process.wait(10) != 0


def ended(number):
    """Whether the process of this number is gone, or waits to be collected, within some seconds."""
    for _ in range(100):
        state = Path(f"/proc/{number}/stat")
        if not state.exists() or ") Z" in state.read_text():
            return True
        time.sleep(0.1)
    return False


AS_ON_WINDOWS = """
import sys
sys.stdout.reconfigure(encoding="cp1252", newline="\\r\\n")
from fdmix.cli.streams import set_up_streams
sys.platform = "win32"
set_up_streams()
print("\\u4e2d\\U0001f469")
print("x")
"""


def test_output_of_windows_is_utf_8_with_plain_line_ends():
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"}
    done = subprocess.run([sys.executable, "-c", AS_ON_WINDOWS], capture_output=True, check=True, env=environment)
    assert done.stdout == "\u4e2d\U0001f469\nx\n".encode()


def test_memory_is_known():
    assert ctypes.sizeof(memory._MemoryStatus) == 64, "that of MEMORYSTATUSEX in the Windows API"
    assert (memory._free_on_windows() is None) == (os.name != "nt")
    assert 1 << 20 < memory.available_bytes() < 1 << 62
