"""What `import fdmix` and `fdmix --help` do not import: packages that take long to load."""

import inspect
import subprocess
import sys

import pytest

import fdmix
from fdmix.cli.commands import COMMANDS

SLOW = (
    "numpy", "scipy", "numba", "llvmlite", "pyarrow", "sklearn", "pandas", "matplotlib", "torch", "safetensors",
    "fsspec", "Stemmer", "tomotopy", "dask", "distributed", "pyspark", "aiohttp",
)  # fmt: skip


def loaded_by(code):
    """The slow packages that a new Python process has loaded after some code."""
    tell = f"import sys; print('LOADED', *sorted(set({SLOW!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{tell}"], capture_output=True, text=True, check=True)
    return done.stdout.split("LOADED")[1].split()


def test_importing_fdmix_loads_no_slow_package():
    assert loaded_by("import fdmix; fdmix.__version__; dir(fdmix)") == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], [], ["cuont"]])
def test_help_and_wrong_commands_load_no_slow_package(arguments):
    run = f"import sys; from fdmix.cli import main; sys.argv = ['fdmix', *{arguments!r}]; main()"
    assert loaded_by(f"try: exec({run!r})\nexcept SystemExit: pass") == []


@pytest.mark.parametrize(
    ("command", "packages"),
    [
        ("topics", {"edits", "tree", "solvers", "fit", "documents", "report", "plots"}),
        ("info", {"edits", "tree", "solvers", "fit", "documents", "report", "plots"}),
        ("count", {"edits", "tree", "solvers", "fit", "documents", "report", "plots", "distributed"}),
        ("assign", {"edits", "tree", "solvers", "fit", "documents", "plots", "distributed"}),
        ("fit", {"edits", "tree", "report", "plots", "distributed"}),
    ],
)
def test_a_command_loads_what_it_needs(command, packages):
    """What a command does not call would only make it start later."""
    tell = "print('LOADED', *{name.split('.')[1] for name in sys.modules if name.startswith('fdmix.')})"
    code = f"import sys, fdmix.cli.{command}; {tell}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert packages & set(done.stdout.split("LOADED")[1].split()) == set()


def test_every_public_name_is_there():
    for name in fdmix.__all__:
        assert getattr(fdmix, name) is not None
        assert name in dir(fdmix)
    assert set(fdmix._MODULES) <= set(fdmix.__all__)
    for name in fdmix._PACKAGES:
        assert name in dir(fdmix)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = fdmix.nothing
    with pytest.raises(ImportError):
        from fdmix import nothing  # noqa: F401


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_their_help_says(name):
    module = __import__(f"fdmix.cli.{name}", fromlist=[name])
    assert inspect.getdoc(getattr(module, name)).splitlines()[0] == COMMANDS[name]
