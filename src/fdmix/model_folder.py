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

    folder = Path(os.path.realpath(path))
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {folder.parent} to write {folder.name} into")
    if folder.exists() and not is_model(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists and is no model: give another name")
    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    head = {"kind": KIND, "format": FORMAT, "sha256": hashlib.sha256(content).hexdigest()}
    text = json.dumps(head | dict(facts), ensure_ascii=False, indent=1)
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
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise FileError(f"{folder / FACTS} is damaged")
    if facts["format"] > FORMAT:
        raise FileError(f"{folder} was written by a newer fdmix: upgrade fdmix")
    content = (folder / ARRAYS).read_bytes()
    if hashlib.sha256(content).hexdigest() != facts.get("sha256"):
        raise FileError(f"{folder / ARRAYS} is damaged: its checksum does not match")
    try:
        return load(content), facts
    except SafetensorError as error:
        raise FileError(f"{folder / ARRAYS} is damaged: {error}") from None


def is_model(path: str | os.PathLike[str]) -> bool:
    """Whether there is a model folder here."""
    return (Path(path) / FACTS).is_file() and (Path(path) / ARRAYS).is_file()
