"""A model as a folder: `mixture.safetensors` (the arrays) and `model.json` (everything one can read). No pickle."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fdmix.storage import FileError

ARRAYS, FACTS = "mixture.safetensors", "model.json"
KIND, FORMAT = "fdmix model", 1


def write_folder(path: str | os.PathLike[str], arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Write a model folder, complete or not at all; one that is there already is replaced."""
    from safetensors.numpy import save  # noqa: PLC0415  (slow to import)

    folder = writable(path)
    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    head = {"kind": KIND, "format": FORMAT, "sha256": {ARRAYS: _digest(content), "facts": _digest(facts)}}
    text = json.dumps(head | {"facts": facts}, ensure_ascii=False, indent=1)
    mark = secrets.token_hex(8)
    temporary, old = (folder.with_name(f".{mark}.{what}.fdmix-tmp") for what in ("new", "old"))
    try:
        temporary.mkdir()
        for name, data in ((ARRAYS, content), (FACTS, text.encode())):
            with (temporary / name).open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        if folder.exists():
            folder.replace(old)
        temporary.replace(folder)
    except BaseException:
        if old.exists() and not folder.exists():
            old.replace(folder)
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    shutil.rmtree(old, ignore_errors=True)


def writable(path: str | os.PathLike[str]) -> Path:
    """Where a model can be written: nothing is there but perhaps an older model, and the folder above exists."""
    folder = Path(os.path.realpath(path))
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {folder.parent} to write {folder.name} into")
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file: give the name of a folder for the model")
    others = sorted(p.name for p in folder.iterdir() if p.name not in (ARRAYS, FACTS)) if folder.exists() else []
    if others:
        raise FileExistsError(f"{folder} exists and is no model, or more than that ({others[0]}): give another name")
    return folder


def read_folder(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(arrays, facts) of a model folder; a damaged one is refused."""
    from safetensors import SafetensorError  # noqa: PLC0415
    from safetensors.numpy import load  # noqa: PLC0415

    folder = Path(path)
    if not folder.exists():
        raise FileNotFoundError(f"there is no model {folder}")
    if not is_model(folder):
        raise FileError(f"{folder} is no model of fdmix: that is a folder with {FACTS} and {ARRAYS}")
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        known = facts["kind"] == KIND and type(facts["format"]) is int
        if known and facts["format"] > FORMAT:
            raise FileError(f"{folder} was written by a newer fdmix: upgrade fdmix")
        known = known and facts["sha256"]["facts"] == _digest(facts["facts"])
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, FileError):
            raise
        known = False
    if not known:
        raise FileError(f"{folder / FACTS} is damaged")
    content = (folder / ARRAYS).read_bytes()
    if _digest(content) != facts["sha256"].get(ARRAYS):
        raise FileError(f"{folder / ARRAYS} is damaged: its checksum does not match")
    try:
        return load(content), facts["facts"]
    except SafetensorError as error:
        raise FileError(f"{folder / ARRAYS} is damaged: {error}") from None


def _digest(content: Any) -> str:
    """SHA-256 of bytes, or of facts in a canonical form."""
    if not isinstance(content, bytes):
        content = json.dumps(content, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()


def is_model(path: str | os.PathLike[str]) -> bool:
    """Whether there is a model folder here."""
    return (Path(path) / FACTS).is_file() and (Path(path) / ARRAYS).is_file()
