"""A model as a folder: `mixture.safetensors` (the arrays) and `model.json` (everything one can read). No pickle.

There is a complete model to read at every moment, whatever is killed when. A new folder is made under a temporary
name and renamed. An existing model is replaced in three steps, each a rename that happens at once or not at all:

1. the new arrays appear as `mixture.new.safetensors`; `model.json` still holds the checksum of the old ones;
2. the new `model.json` takes the old one's place; the checksum in it now belongs to the new arrays;
3. `mixture.new.safetensors` becomes `mixture.safetensors`.

A reader takes, of the two files of arrays, the one whose checksum `model.json` holds. A replacement that was killed
after step 2 is finished by the next one. This needs nothing but renames of files, so it works on every file system.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fdmix.storage.arrays import FileError, replacing
from fdmix.storage.facts import mapping, parsed
from fdmix.storage.temporaries import NAME, alone_in, require_writable, settle, temporary_folder

ARRAYS, NEW, FACTS = "mixture.safetensors", "mixture.new.safetensors", "model.json"
KIND, FORMAT = "fdmix model", 1


def write_folder(path: str | os.PathLike[str], arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Write a model folder, complete or not at all; one that is there already is replaced."""
    from safetensors.numpy import save  # noqa: PLC0415  (slow to import)

    folder = writable(path)
    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    head = {"kind": KIND, "format": FORMAT, "sha256": {ARRAYS: _digest(content), "facts": _digest(facts)}}
    text = json.dumps(head | {"facts": facts}, ensure_ascii=False, indent=1).encode()
    if not folder.exists() and _created(folder, content, text):
        return
    with alone_in(folder):
        _finish(folder)
        try:
            _write(folder / NEW, content)
            _write(folder / FACTS, text)
        finally:
            _finish(folder)


def writable(path: str | os.PathLike[str]) -> Path:
    """Where a model can be written: nothing is there but perhaps an older model, and files can be created."""
    folder = Path(os.path.realpath(path))
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {folder.parent} to write {folder.name} into")
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file: give the name of a folder for the model")
    require_writable(folder if folder.exists() else folder.parent)
    inside = sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []
    others = [name for name in inside if name not in (ARRAYS, NEW, FACTS) and not NAME.fullmatch(name)]
    if others:
        raise FileExistsError(f"{folder} exists and is no model, or more than that ({others[0]}): give another name")
    return folder


def read_folder(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(arrays, facts) of a model folder; a damaged one is refused."""
    folder = Path(path)
    if not folder.exists():
        raise FileNotFoundError(f"there is no model {folder}")
    if not is_model(folder):
        raise FileError(f"{folder} is no model of fdmix: that is a folder with {FACTS} and {ARRAYS}")
    while True:
        text = (folder / FACTS).read_bytes()
        facts, wanted = _checked(text, folder)
        for name in (NEW, ARRAYS):  # in this order: step 3 of a replacement may come between the two looks
            content = _content(folder / name)
            if content is not None and _digest(content) == wanted:
                return _loaded(content, folder / ARRAYS), facts
        if (folder / FACTS).read_bytes() == text:  # else the model was replaced meanwhile
            raise FileError(f"{folder / ARRAYS} is damaged: its checksum does not match")


def is_model(path: str | os.PathLike[str]) -> bool:
    """Whether there is a model folder here."""
    folder = Path(path)
    return (folder / FACTS).is_file() and any((folder / name).is_file() for name in (NEW, ARRAYS))


def _created(folder: Path, content: bytes, text: bytes) -> bool:
    """Whether a new folder was made; not if another process made one meanwhile."""
    with temporary_folder(folder.parent) as temporary:
        _write(temporary / ARRAYS, content)
        _write(temporary / FACTS, text)
        try:
            temporary.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
            return False
    settle(folder.parent)
    return True


def _finish(folder: Path) -> None:
    """Step 3 of a replacement, if its step 2 was done; else forget the new arrays."""
    content = _content(folder / NEW)
    if content is None:
        return
    try:
        wanted = _checked((folder / FACTS).read_bytes(), folder)[1]
    except (FileError, FileNotFoundError):
        wanted = ""
    if _digest(content) == wanted:
        if (folder / ARRAYS).exists():
            (folder / NEW).chmod((folder / ARRAYS).stat().st_mode)
        (folder / NEW).replace(folder / ARRAYS)
        settle(folder)
    else:
        (folder / NEW).unlink()


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _checked(text: bytes, folder: Path) -> tuple[dict[str, Any], str]:
    """(facts, checksum of the arrays) of `model.json`."""
    try:
        stated = mapping(parsed(text), FACTS)
        number = stated["format"]
        known = stated["kind"] == KIND and type(number) is int and number >= 1
        newer = known and number > FORMAT
        sums = mapping(stated["sha256"], "sha256")
        known = newer or (known and sums["facts"] == _digest(mapping(stated["facts"], "facts")))
        wanted = str(sums[ARRAYS])
    except (ValueError, KeyError):
        known = newer = False
    if newer:
        raise FileError(f"{folder} was written by a newer fdmix: upgrade fdmix")
    if not known:
        raise FileError(f"{folder / FACTS} is damaged")
    return stated["facts"], wanted


def _loaded(content: bytes, path: Path) -> dict[str, Any]:
    from safetensors import SafetensorError  # noqa: PLC0415  (slow to import)
    from safetensors.numpy import load  # noqa: PLC0415

    try:
        return load(content)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise FileError(f"{path} is damaged: {error}") from None


def _digest(content: Any) -> str:
    """SHA-256 of bytes, or of facts in a canonical form."""
    if not isinstance(content, bytes):
        content = json.dumps(content, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()
