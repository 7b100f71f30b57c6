"""Write a model to a folder and read it back: `mixture.safetensors` holds the arrays, `model.json` everything else.

Nothing is pickled. The folder holds a complete model at every moment, even if the writing process is killed. A new
folder is written under a temporary name and renamed. An existing model is replaced in three atomic renames:

1. the new arrays become `mixture.new.safetensors`; `model.json` still holds the checksum of the old arrays;
2. the new `model.json` replaces the old one; it holds the checksum of the new arrays;
3. `mixture.new.safetensors` becomes `mixture.safetensors`.

`README.md`, the model card, is for people; it is written last, never read, and may be missing or edited.

A reader uses the file of arrays whose checksum `model.json` holds. If a writer is killed after step 2, the next
writer does step 3. Renaming files is all that this needs, so it works on every file system. If no arrays fit, the
model was perhaps replaced while it was read: the reader tries again with the writers' lock, where there are locks.

At a URL, an upload takes the place of a rename in steps 1 and 2, and a copy in step 3. Two processes that write the
same remote model at the same time are not kept apart: there are no locks.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fdmix.storage.arrays import FileError
from fdmix.storage.card_file import CARD_FILE, updated_card
from fdmix.storage.facts import mapping, parse_json
from fdmix.storage.places import did_you_mean, is_remote, place_of
from fdmix.storage.remote_path import RemotePath
from fdmix.storage.temporaries import (
    TEMPORARY_NAME,
    locked,
    replacing,
    require_writable,
    sync_folder,
    temporary_folder,
)

ARRAYS_FILE, NEW_ARRAYS_FILE, FACTS_FILE = "mixture.safetensors", "mixture.new.safetensors", "model.json"
ANSWERS_FILE = "answers.json"  # labels that a language model gave; a model is complete without them
BASE_FILE = "base.safetensors"  # the model before its edits, for undo (`fdmix.edits.storing`)
MODEL_FILES = (ARRAYS_FILE, NEW_ARRAYS_FILE, FACTS_FILE, ANSWERS_FILE, BASE_FILE, CARD_FILE)
HUB_FILES = (".git", ".gitattributes", ".cache")  # what model hubs put into a folder that they keep
KIND, FORMAT = "fdmix model", 1
READINGS_WITH_LOCK = 3  # one is enough where locks work


def write_folder(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Any],
    facts: Mapping[str, Any],
    card: tuple[str, str] | None = None,
) -> None:
    """Write a model folder. It replaces an existing model; if writing fails, the existing model stays.

    card : the head and the body of the model card (`fdmix.storage.card_file`)
    """
    from safetensors.numpy import save  # noqa: PLC0415  (slow to import)

    folder = writable_model_folder(path)
    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    head = {"kind": KIND, "format": FORMAT, "sha256": {ARRAYS_FILE: _digest(content), "facts": _digest(facts)}}
    text = json.dumps(head | {"facts": facts}, ensure_ascii=False, indent=1).encode()
    if not folder.exists() and _create(folder, content, text, card):
        return
    with locked(folder):
        _finish_replacement(folder)
        try:
            _write(folder / NEW_ARRAYS_FILE, content)
            _write(folder / FACTS_FILE, text)
        finally:
            _finish_replacement(folder)
        _write_card(folder, card)


def writable_model_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, if a model can be written there: it holds at most an older model, and files can be created."""
    folder = place_of(path)
    remote = is_remote(folder)
    if not remote:
        folder = Path(os.path.realpath(folder))
    if is_remote(place := place_of(path)):
        place.refuse_web()
    if not remote and not folder.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {folder.parent} to write {folder.name} into")
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file: give the name of a folder for the model")
    require_writable(folder if remote or folder.exists() else folder.parent)
    inside = sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []
    known = (*MODEL_FILES, *HUB_FILES) if is_model(folder) else MODEL_FILES
    others = [name for name in inside if name not in known and not TEMPORARY_NAME.fullmatch(name)]
    if others:
        raise FileExistsError(f"{folder} holds files other than a model ({others[0]}): give another name")
    return folder


def read_folder(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(arrays, facts) of a model folder; a FileError refuses a damaged one."""
    folder = place_of(path)
    if not folder.exists():
        raise FileNotFoundError(f"there is no model {folder}{did_you_mean(folder)}")
    if not is_model(folder):
        raise FileError(f"{folder} is not a model of fdmix, which is a folder with {FACTS_FILE} and {ARRAYS_FILE}")
    if (found := _read_model(folder)) is not None:
        return found
    for _ in range(READINGS_WITH_LOCK):  # perhaps another process was replacing the model
        with locked(folder):
            if (found := _read_model(folder)) is not None:
                return found
    raise FileError(f"{folder / ARRAYS_FILE} is damaged: its checksum does not match")


def _read_model(folder: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """(arrays, facts); None if no arrays match the facts, because they are damaged or were replaced meanwhile."""
    facts, wanted = _checked_facts((folder / FACTS_FILE).read_bytes(), folder)
    for name in (NEW_ARRAYS_FILE, ARRAYS_FILE):  # in this order, as step 3 may rename the first meanwhile
        content = _read_if_exists(folder / name)
        if content is not None and _digest(content) == wanted:
            return _load_arrays(content, folder / ARRAYS_FILE), facts
    return None


def is_model(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a model folder."""
    folder = place_of(path)
    return (folder / FACTS_FILE).is_file() and any(
        (folder / name).is_file() for name in (NEW_ARRAYS_FILE, ARRAYS_FILE)
    )


def _create(folder: Path, content: bytes, text: bytes, card: tuple[str, str] | None) -> bool:
    """Write a new folder; False if another process has created it meanwhile."""
    if is_remote(folder):
        return _create_remotely(folder, content, text, card)
    with temporary_folder(folder.parent) as temporary:
        _write(temporary / ARRAYS_FILE, content)
        _write(temporary / FACTS_FILE, text)
        _write_card(temporary, card)
        try:
            temporary.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
            return False
    sync_folder(folder.parent)
    return True


def _create_remotely(folder: RemotePath, content: bytes, text: bytes, card: tuple[str, str] | None) -> bool:
    """The same at a URL, where folders cannot be renamed: the facts, without which there is no model, come last."""
    try:
        _write(folder / ARRAYS_FILE, content)
        _write_card(folder, card)
        _write(folder / FACTS_FILE, text)
    except BaseException:
        for name in (ARRAYS_FILE, CARD_FILE):
            (folder / name).unlink(missing_ok=True)
        raise
    return True


def _finish_replacement(folder: Path) -> None:
    """Do step 3 of a replacement if its step 2 is done; otherwise delete the new arrays."""
    content = _read_if_exists(folder / NEW_ARRAYS_FILE)
    if content is None:
        return
    try:
        wanted = _checked_facts((folder / FACTS_FILE).read_bytes(), folder)[1]
    except (FileError, FileNotFoundError):
        wanted = ""
    if _digest(content) == wanted:
        if not is_remote(folder) and (folder / ARRAYS_FILE).exists():
            (folder / NEW_ARRAYS_FILE).chmod((folder / ARRAYS_FILE).stat().st_mode)
        (folder / NEW_ARRAYS_FILE).replace(folder / ARRAYS_FILE)
        sync_folder(folder)
    else:
        (folder / NEW_ARRAYS_FILE).unlink()


def _write_card(folder: Path | RemotePath, card: tuple[str, str] | None) -> None:
    text = None if card is None else updated_card(folder / CARD_FILE, *card)
    if text is not None:
        _write(folder / CARD_FILE, text.encode("utf-8"))


def _write(path: Path | RemotePath, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def _read_if_exists(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _checked_facts(text: bytes, folder: Path) -> tuple[dict[str, Any], str]:
    """(facts, checksum of the arrays) of `model.json`."""
    try:
        stated = mapping(parse_json(text), FACTS_FILE)
        number = stated["format"]
        known = stated["kind"] == KIND and type(number) is int and number >= 1
        newer = known and number > FORMAT
        sums = mapping(stated["sha256"], "sha256")
        known = newer or (known and sums["facts"] == _digest(mapping(stated["facts"], "facts")))
        wanted = str(sums[ARRAYS_FILE])
    except (ValueError, KeyError):
        known = newer = False
    if newer:
        raise FileError(f"{folder} was written by a newer fdmix: upgrade fdmix")
    if not known:
        raise FileError(f"{folder / FACTS_FILE} is damaged")
    return stated["facts"], wanted


def _load_arrays(content: bytes, path: Path) -> dict[str, Any]:
    from safetensors import SafetensorError  # noqa: PLC0415  (slow to import)
    from safetensors.numpy import load  # noqa: PLC0415

    try:
        return load(content)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise FileError(f"{path} is damaged: {error}") from None


def _digest(content: Any) -> str:
    """SHA-256 of bytes, or of the canonical JSON of facts."""
    if not isinstance(content, bytes):
        content = json.dumps(content, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()
