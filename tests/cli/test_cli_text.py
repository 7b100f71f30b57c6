"""The command line's options of text: where it is, how it is cleaned, what is refused."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fdmix import Moments


def run(*arguments, code=0, **options):
    program = str(Path(sys.executable).with_name("fdmix"))
    done = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=280, **options
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text("the cat and the dog rt\nthe house rt amp\n")
    (tmp_path / "eu.csv").write_text("id;text\n1;cats, chase mice\n2;dogs eat cheese\n")
    (tmp_path / "bare.csv").write_text("1|cats chase mice\n2|dogs eat cheese\n")
    (tmp_path / "stop.txt").write_text("rt, amp\n")
    return tmp_path


def words(folder, *arguments):
    run("count", *arguments, "-o", "moments", "--force", cwd=folder)
    return Moments.load(folder / "moments").vocabulary


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "-o", "m"), "the name of an input is empty"),
        (("-", "-", "-o", "m"), "standard input"),
        (("a.txt", "-o", "-"), "moments are a file, not a stream"),
        (("w" * 300, "-o", "m"), "there is no file or folder"),
        (("eu.csv", "--delimiter", ";;", "-o", "m"), "the delimiter is one character"),
        (("a.txt", "--add-stop-words", "none.txt", "-o", "m"), "there is no file 'none.txt'"),
        (("bare.csv", "-o", "m"), "--no-header"),
    ],
)
def test_what_is_refused(folder, arguments, message):
    before = sorted(folder.iterdir())
    assert message in run("count", *arguments, code=1, cwd=folder, input="").stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_an_empty_name_is_no_folder_of_moments(folder):
    run("count", "a.txt", "-o", "moments", cwd=folder)
    assert "is empty" in run("fit", "", "-t", 2, "-o", "model", code=1, cwd=folder).stderr
    assert "is empty" in run("merge", "", "-o", "sum", code=1, cwd=folder).stderr


@pytest.mark.slow
def test_stop_words_replace_or_are_added(folder):
    hint = "use --add-stop-words to add"
    replaced = run("count", "a.txt", "--stop-words", "stop.txt", "-o", "m", cwd=folder)
    assert hint in replaced.stderr
    assert Moments.load(folder / "m").vocabulary == ("and", "cat", "dog", "house", "the")
    for added in ("stop.txt", "rt,amp"):
        assert words(folder, "a.txt", "--add-stop-words", added) == ("cat", "dog", "house")
    known = run("count", "a.txt", "--stop-words", "stop.txt", "--add-stop-words", "the", "-o", "m2", cwd=folder)
    assert hint not in known.stderr


@pytest.mark.slow
def test_csv_as_people_have_it(folder):
    expected = ("cats", "chase", "cheese", "dogs", "eat", "mice")
    assert words(folder, "eu.csv") == expected
    assert words(folder, "eu.csv", "--delimiter", ";", "--column", "text") == expected
    assert words(folder, "bare.csv", "--no-header", "--column", "2") == expected
    run("subtract", "moments", "bare.csv", "--no-header", "--column", 2, "-o", "rest", cwd=folder)
    assert Moments.load(folder / "rest").n_documents == 0


@pytest.mark.slow
def test_long_tokens_are_reported(folder):
    (folder / "long.txt").write_text("one two " + "x" * 1_000 + "\n")
    done = run("count", "long.txt", "-o", "m", cwd=folder)
    assert done.stderr.count("1 token of more than 200 characters was left out") == 1


@pytest.mark.parametrize("command", ["count", "fit"])
def test_help_fits_into_80_columns(command):
    """Options of text stand in panels of their own, and values have readable names."""
    shown = run(command, "--help", env={**os.environ, "COLUMNS": "80"}).stdout
    assert max(map(len, shown.splitlines())) <= 80
    panels = [line.strip("╭─╮ ") for line in shown.splitlines() if line.startswith("╭")]
    assert panels[-4:] == ["Where the text is", "Cleaning", "Cleaning, yes or no", "Words and documents to keep"]
    assert "range" not in shown
    assert "--stop-words            NAME|FILE" in shown
