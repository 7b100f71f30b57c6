"""What a path holds: moments, text, or a folder of either."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from pathlib import Path

from fdmix.moments.ledger import shared_sources
from fdmix.moments.moments import Moments
from fdmix.storage.arrays import MAGIC
from fdmix.storage.model_folder import is_model, writable_model_folder
from fdmix.storage.temporaries import require_writable
from fdmix.text.files import STDIN
from fdmix.text.sources import EMPTY_NAME


def is_moments(path: str | Path) -> bool:
    """Whether a file begins like one of ours."""
    if not os.path.isfile(path):  # noqa: PTH113  (Path.is_file raises errors if a name is too long)
        return False
    with Path(path).open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def moments_files(paths: Iterable[str]) -> list[Path]:
    """The files of moments among these paths and in these folders, if there is nothing but moments; else none."""
    found: list[Path] = []
    for name in paths:
        path = Path(name)
        if not name:
            raise FileNotFoundError(EMPTY_NAME)
        if os.path.isdir(path) and not is_model(path):  # noqa: PTH112
            inside = sorted(p for p in path.iterdir() if is_moments(p))
            if not inside:
                return []
            others = sorted(p.name for p in path.iterdir() if p not in inside and p.is_file() and p.name[0] != ".")
            if others:
                raise ValueError(
                    f"{path} holds moments ({inside[0].name}) and other files ({others[0]}): take one kind"
                )
            found += inside
        elif is_moments(path):
            found.append(path)
        else:
            return []
    return found


def check_output(out: Path, inputs: Iterable[str | Path]) -> None:
    """Refuse, before any work, to write over an input, over other kinds of files, or where nothing can be written."""
    if str(out) == STDIN:
        raise ValueError("moments are a file, not a stream: give -o the name of a file")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {out.parent} to write {out.name} into")
    if out.is_dir():
        raise IsADirectoryError(f"{out} is a folder; give a file name")
    for name in inputs:
        if out.exists() and Path(name).exists() and out.samefile(name):
            raise FileExistsError(f"{out} is an input: give another name for the result")
    if out.exists() and not is_moments(out):
        raise FileExistsError(f"{out} exists and is not a file of moments: give another name")
    check_place(out)


def check_place(out: Path) -> None:
    """Refuse, before any work, a place where no file can be created."""
    folder = Path(os.path.realpath(out)).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder} to write {out.name} into")
    require_writable(folder)


def check_model_output(out: Path, force: bool) -> None:
    """Refuse, before any work, to write a model where it cannot be written, or over another one unless forced."""
    writable_model_folder(out)
    if is_model(out):
        refuse_to_replace(out, force)


def refuse_to_replace(out: Path, force: bool) -> None:
    """Refuse to write over a result unless forced."""
    if out.exists() and not force:
        raise FileExistsError(f"{out} exists already: add --force to replace it, or give another name")


def added(paths: Sequence[Path]) -> Moments:
    """The moments of all files together; a source that two of them have is refused."""
    parts = [Moments.load(path) for path in paths]
    refuse_shared_sources(paths, parts)
    return reduce(add, parts)


def refuse_shared_sources(paths: Sequence[Path], parts: Sequence[Moments]) -> None:
    """Refuse parts that hold the same documents: they would be counted twice."""
    if shared := shared_sources(part.ledger for part in parts):
        source = shared[0]
        others = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
        raise ValueError(
            f"{source.name} ({source.documents:,} documents){others} is in more than one of these files, and would "
            "be counted twice: leave one out, or use `fdmix merge --again` to count it twice"
        )
    seen: dict[str, Path] = {}
    for path, part in zip(paths, parts, strict=True):
        if part.ledger.digest is not None and part.n_documents:
            first = seen.setdefault(str(part.ledger.digest), path)
            if first is not path:
                raise ValueError(
                    f"{path} holds the same documents as {first}, which would be counted twice: leave one out, or "
                    "use `fdmix merge --again` to count them twice"
                )
