"""Model folders: a complete model can be read at every moment, and nothing in a folder is trusted unchecked."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save

from fdmix import Cleaning, Mixture
from fdmix.corpus.preparation import Preparation
from fdmix.storage import model_folder
from fdmix.storage.arrays import FileError
from fdmix.storage.card_file import CARD_FILE
from fdmix.storage.model_folder import ARRAYS_FILE, FACTS_FILE, NEW_ARRAYS_FILE


def mixture(seed=0, n_words=20):
    rng = np.random.default_rng(seed)
    topics, alpha = rng.dirichlet(np.ones(n_words), 3), rng.dirichlet(np.ones(9)).reshape(3, 3)
    preparation = Preparation(Cleaning(stem="english"), {"w1": {"w1s": 3}})
    words = [f"w{u}" for u in range(n_words)]
    return Mixture(topics, (alpha + alpha.T) / 2, words, preparation, {"seed": seed})


def same(a, b):
    return np.array_equal(a.topics, b.topics) and a.provenance == b.provenance


def files(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_replacement_that_was_killed_between_two_steps(tmp_path, steps):
    """The state after each of the three renames is a complete model, and the next save ends in the same folder."""
    old, new, third = (mixture(seed) for seed in range(3))
    for name, model in (("old", old), ("new", new), ("third", third)):
        model.save(tmp_path / name)
    folder = tmp_path / "model"
    old.save(folder)
    (folder / NEW_ARRAYS_FILE).write_bytes((tmp_path / "new" / ARRAYS_FILE).read_bytes())
    if steps >= 2:
        (folder / FACTS_FILE).write_bytes((tmp_path / "new" / FACTS_FILE).read_bytes())
    if steps == 3:
        (folder / NEW_ARRAYS_FILE).rename(folder / ARRAYS_FILE)
    assert same(Mixture.load(folder), old if steps == 1 else new)
    assert model_folder.is_model(folder)
    third.save(folder)
    assert files(folder) == {ARRAYS_FILE, FACTS_FILE, CARD_FILE}
    for name in (ARRAYS_FILE, FACTS_FILE, CARD_FILE):
        assert (folder / name).read_bytes() == (tmp_path / "third" / name).read_bytes()


def test_a_failed_replacement_leaves_the_old_model(tmp_path):
    """As on a full disk: there is room for the new arrays, but not for the new `model.json`."""
    folder = tmp_path / "model"
    old = mixture()
    old.save(folder)
    resource = pytest.importorskip("resource", reason="Windows has no limits of resources")
    room = (folder / ARRAYS_FILE).stat().st_size
    assert room < (folder / FACTS_FILE).stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            mixture(1).save(folder)
        with pytest.raises(OSError, match="too large"):
            mixture(1).save(tmp_path / "another")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert files(tmp_path) == {"model"}
    assert files(folder) == {ARRAYS_FILE, FACTS_FILE, CARD_FILE}
    assert same(Mixture.load(folder), old)


def test_the_mode_of_a_model_is_kept(tmp_path):
    mixture().save(tmp_path / "model")
    for name in (ARRAYS_FILE, FACTS_FILE):
        (tmp_path / "model" / name).chmod(0o600)
    mixture(1).save(tmp_path / "model")
    assert {(tmp_path / "model" / name).stat().st_mode & 0o777 for name in (ARRAYS_FILE, FACTS_FILE)} == {0o600}


KILLS = 40
KILLED_SAVES = """
import os, random, signal, sys, time
sys.path.insert(0, sys.argv[2])
from test_model_folder import mixture, same
from fdmix import Mixture
folder, moment = sys.argv[1], random.Random(int(sys.argv[3]))
a, b = mixture(0, 20_000), mixture(1, 20_000)
a.save(folder)
reader = os.fork()
if reader == 0:
    loaded = 0
    while not os.path.exists(folder + ".stop"):
        model = Mixture.load(folder)
        assert same(model, a) or same(model, b)
        loaded += 1
    sys.stdout.write(f"{loaded}\\n")
    sys.stdout.flush()
    os._exit(0)
for _ in range(int(sys.argv[4])):
    writer = os.fork()
    if writer == 0:
        while True:
            b.save(folder)
            a.save(folder)
    time.sleep(moment.uniform(0.01, 0.2))
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    model = Mixture.load(folder)
    assert same(model, a) or same(model, b)
open(folder + ".stop", "w").close()
_, status = os.waitpid(reader, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_saves_always_leave_a_model(tmp_path):
    """Writers are killed at random moments while a reader loads in a loop: always the old or the new model."""
    folder = tmp_path / "model"
    arguments = [folder, os.path.dirname(__file__), 7, KILLS]  # noqa: PTH120
    done = subprocess.run(
        [sys.executable, "-c", KILLED_SAVES, *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > KILLS, "the reader has loaded all the time"
    left = [path for path in (*tmp_path.iterdir(), *folder.iterdir()) if path.name.endswith(".fdmix-tmp")]
    for path in left:
        os.utime(path, (1, 1))
    mixture().save(folder)
    assert files(folder) == {ARRAYS_FILE, FACTS_FILE, CARD_FILE}
    assert files(tmp_path) == {"model", "model.stop"}


def test_two_replacements_while_a_model_is_read(tmp_path, monkeypatch):
    """The facts are the same again after the second one: this is no damage."""
    first, second, folder = mixture(0), mixture(1), tmp_path / "model"
    first.save(folder)
    read = model_folder._read_if_exists
    saves = iter([lambda: second.save(folder), lambda: first.save(folder)])

    def read_between_saves(path):
        monkeypatch.setattr(model_folder, "_read_if_exists", read)  # for the writer
        if path.name == NEW_ARRAYS_FILE:
            next(saves)()
            monkeypatch.setattr(model_folder, "_read_if_exists", read_between_saves)
            return read(path)
        content = read(path)
        next(saves)()
        return content

    monkeypatch.setattr(model_folder, "_read_if_exists", read_between_saves)
    assert same(Mixture.load(folder), first)
    assert next(saves, None) is None


def forge(folder, change):
    """Change `model.json` and make its checksum match."""
    head = json.loads((folder / FACTS_FILE).read_text())
    change(head)
    head["sha256"]["facts"] = hashlib.sha256(json.dumps(head["facts"], sort_keys=True).encode()).hexdigest()
    (folder / FACTS_FILE).write_text(json.dumps(head))


@pytest.mark.parametrize("number", [-1, 0, True, 1.0, "1", None, [1]])
def test_invalid_format_numbers(tmp_path, number):
    mixture().save(tmp_path / "m")
    forge(tmp_path / "m", lambda head: head.update(format=number))
    with pytest.raises(FileError, match=r"model\.json is damaged"):
        Mixture.load(tmp_path / "m")


def test_a_newer_format(tmp_path):
    mixture().save(tmp_path / "m")
    forge(tmp_path / "m", lambda head: head.update(format=99))
    with pytest.raises(FileError, match="upgrade fdmix"):
        Mixture.load(tmp_path / "m")


DEEP = "[" * 100_000 + "]" * 100_000
RATHER_DEEP = '{"facts": ' + "[" * 400 + "]" * 400 + "}"


@pytest.mark.parametrize("text", [DEEP, RATHER_DEEP, "[]", "3", "", "{", '"\\ud800"'], ids=lambda text: text[:12])
def test_odd_json(tmp_path, text):
    mixture().save(tmp_path / "m")
    (tmp_path / "m" / FACTS_FILE).write_text(text)
    with pytest.raises(FileError, match=r"model\.json is damaged"):
        Mixture.load(tmp_path / "m")


@pytest.mark.parametrize(
    "change",
    [
        *({"provenance": value} for value in (None, 3, [], "x")),
        *({"concentration": value} for value in ("1", True, [], -1, 0, 10**400, float("nan"))),
        *({"vocabulary": value} for value in ("w" * 20, {f"w{u}": u for u in range(20)}, ["a"], list(range(20)))),
        *({"preparation": value} for value in (3, {}, {"cleaning": {}, "forms": {"a": 3}})),
    ],
    ids=lambda change: str(change)[:60],
)  # fmt: skip
def test_forged_facts(tmp_path, change):
    mixture().save(tmp_path / "m")
    forge(tmp_path / "m", lambda head: None)
    assert same(Mixture.load(tmp_path / "m"), mixture())
    forge(tmp_path / "m", lambda head: head["facts"].update(change))
    with pytest.raises(FileError, match=r"is not a valid model: .*\w+ \w+"):
        Mixture.load(tmp_path / "m")


@pytest.mark.parametrize("name", ["provenance", "preparation", "vocabulary"])
def test_missing_facts(tmp_path, name):
    mixture().save(tmp_path / "m")
    forge(tmp_path / "m", lambda head: head["facts"].pop(name))
    with pytest.raises(FileError, match=f"'{name}' is missing"):
        Mixture.load(tmp_path / "m")


@pytest.mark.parametrize(
    "change",
    [
        {"topics": np.full((3, 20), 1e308)},
        {"topics": np.full((3, 20), np.nan)},
        {"topics": np.full((3, 20), np.inf)},
        {"topics": np.full((3, 20), 0.05j, np.complex64)},
        {"topics": np.full((3, 20), 1)},
        {"topics": np.full((3, 0), 0.5)},
        {"topics": np.full(20, 0.05)},
        {"correlations": np.full((2, 2), 0.25)},
        {"correlations": np.full((3, 3), -1 / 9)},
        {"correlations": np.full((3, 3), 1.9e-4)},
    ],
    ids=lambda change: str(change)[:40],
)
def test_forged_arrays(tmp_path, change):
    model = mixture()
    model.save(tmp_path / "m")
    try:
        content = save({"topics": model.topics, "correlations": model.correlations} | change)
    except SafetensorError as error:  # older versions do not write complex numbers
        pytest.skip(str(error))
    (tmp_path / "m" / ARRAYS_FILE).write_bytes(content)
    forge(tmp_path / "m", lambda head: head["sha256"].update({ARRAYS_FILE: hashlib.sha256(content).hexdigest()}))
    with pytest.raises(FileError, match=r"is not a valid model: .*\w+ \w+"):
        Mixture.load(tmp_path / "m")
