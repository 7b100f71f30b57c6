"""What the command line writes over, and where it cannot write: refused before any work is done."""

import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fdmix import Mixture, Moments
from fdmix.cli.app import app
from fdmix.text.cleaning import cleaning_of
from fdmix.text.files import Layout
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import files_of


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A text, its moments and a model."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "text.txt").write_text("cats chase mice\ndogs chase cats\nmice eat cheese\n" * 40)
    (folder / "part.txt").write_text("cats chase mice\n")
    assert run("count", folder / "text.txt", "-o", folder / "moments").exit_code == 0
    assert run("count", folder / "part.txt", "--like", folder / "moments", "-o", folder / "part").exit_code == 0
    assert run("fit", folder / "moments", "-t", 2, "-o", folder / "model").exit_code == 0
    return folder


COMMANDS = {
    "count": ("text.txt",),
    "merge": ("moments", "part"),
    "subtract": ("moments", "part"),
    "fit": ("moments", "-t", 3),
    "refine": ("model", "text.txt"),
}
MODELS = ("fit", "refine")


def command(name, made, out):
    return [name, *(made / item if (made / str(item)).exists() else item for item in COMMANDS[name]), "-o", out]


@pytest.mark.parametrize("name", COMMANDS)
def test_results_are_replaced_only_if_forced(name, made, tmp_path):
    out = tmp_path / "out"
    if name in MODELS:
        Mixture.load(made / "model").save(out)
        content = out / "model.json"
    else:
        Moments.of([[5, 5]], ["a", "b"]).save(out)
        content = out
    before = content.read_bytes()
    refused = run(*command(name, made, out))
    assert isinstance(refused.exception, FileExistsError)
    assert "out exists already: add --force to replace it, or give another name" in str(refused.exception)
    assert content.read_bytes() == before
    done = run(*command(name, made, out), "--force")
    assert done.exit_code == 0, done.output
    assert content.read_bytes() != before
    assert os.listdir(tmp_path) == ["out"]  # noqa: PTH208


@pytest.mark.parametrize("name", COMMANDS)
def test_force_replaces_nothing_but_results(name, made, tmp_path):
    out = tmp_path / "out"
    if name in MODELS:
        out.mkdir()
        (out / "thesis.txt").write_text("precious")
    else:
        out.write_text("precious")
    refused = run(*command(name, made, out), "--force")
    assert isinstance(refused.exception, FileExistsError)
    assert "give another name" in str(refused.exception)


def test_an_interrupted_count_goes_on_without_force(made, tmp_path):
    """Even if it was killed in the instant between writing its result and removing what it was made from."""
    arguments = ("count", made / "text.txt", "-o", tmp_path / "out")
    job = CountInProgress(files_of([made / "text.txt"], Layout()), cleaning_of(None, {}), tmp_path / "out")

    def stop(name, *_):
        if name == "counting":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job.run(report=stop)
    assert job.folder.is_dir()
    (tmp_path / "out").write_bytes((made / "moments").read_bytes())
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out").read_bytes() == (made / "moments").read_bytes()
    assert not job.folder.exists()
    assert isinstance(run(*arguments).exception, FileExistsError)


def test_saving_from_python_replaces(made, tmp_path):
    for _ in range(2):
        Mixture.load(made / "model").save(tmp_path / "model")
        Moments.load(made / "moments").save(tmp_path / "moments")


@pytest.fixture
def unwritable(tmp_path):
    """A folder in which nothing can be created."""
    if os.geteuid() == 0:  # root may write everywhere but there
        if not Path("/proc/self").is_dir():
            pytest.skip("root may write everywhere")
        yield Path("/proc/self")
        return
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of folders")
@pytest.mark.parametrize("name", [*COMMANDS, "assign"])
def test_a_place_that_cannot_be_written_is_found_out_first(name, unwritable):
    """Before the inputs are looked at: here there are none."""
    out = unwritable / ("out.csv" if name == "assign" else "out")
    extra = ("-t", 2) if name == "fit" else ()
    inputs = ("no such thing",) if name in ("count", "merge", "fit") else ("no such thing", "nor this")
    refused = run(name, *inputs, *extra, "-o", out)
    assert isinstance(refused.exception, OSError)
    assert "no file can be written into the folder" in str(refused.exception)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of folders")
def test_a_model_folder_that_cannot_be_written(made, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    Mixture.load(made / "model").save(tmp_path / "model")
    (tmp_path / "model").chmod(0o555)
    refused = run("fit", "no such thing", "-t", 2, "-o", tmp_path / "model", "--force")
    (tmp_path / "model").chmod(0o755)
    assert "no file can be written into the folder" in str(refused.exception)
