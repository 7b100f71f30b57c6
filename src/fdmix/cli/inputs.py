"""What a path holds: moments, text, or a folder of either."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fdmix.cells import MomentsByGroup
from fdmix.cells.file import KIND as CELLS_KIND
from fdmix.corpus.corpus import Corpus
from fdmix.moments.arithmetic import summed
from fdmix.moments.ledger import shared_sources
from fdmix.moments.moments import Moments
from fdmix.moments.spilling import FIXED_BYTES, SHARES, checked_memory
from fdmix.runtime.memory import available_bytes, bytes_in
from fdmix.storage.arrays import MAGIC, stored_kind
from fdmix.storage.model_folder import is_model, writable_model_folder
from fdmix.storage.places import is_remote, place_of
from fdmix.storage.remote_path import RemotePath
from fdmix.storage.scratch import on_disk
from fdmix.storage.temporaries import require_writable
from fdmix.text.files import STDIN
from fdmix.text.sources import EMPTY_NAME, Files


def is_moments(path: str | Path) -> bool:
    """Whether a file begins like one of ours."""
    place = place_of(path)
    if not (place.is_file() if is_remote(place) else os.path.isfile(place)):  # noqa: PTH113  (names may be too long)
        return False
    with place.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def is_cells(path: str | Path) -> bool:
    """Whether a file holds moments by group, as `fdmix count --by` writes them."""
    return is_moments(path) and stored_kind(path) == CELLS_KIND


def loaded_moments(path: str | Path) -> Moments:
    """The moments of a file; of one that holds moments by group, those of all cells together."""
    return MomentsByGroup.load(path).whole if is_cells(path) else Moments.load(path)


def loaded_cells(path: str | Path) -> MomentsByGroup:
    """The moments by group of a file."""
    if is_moments(path) and not is_cells(path):
        raise ValueError(
            f"{path} holds moments of all documents together: count again with --by, such as month(date)"
        )
    if place_of(path).exists() and not is_moments(path):
        raise ValueError(f"{path} is not a file of moments by group; `fdmix count --by` writes one")
    return MomentsByGroup.load(path)


def moments_files(paths: Iterable[str]) -> list[Path]:
    """The files of moments among these paths and in these folders, if there is nothing but moments; else none."""
    found: list[Path] = []
    for name in paths:
        if not name:
            raise FileNotFoundError(EMPTY_NAME)
        path = place_of(name)
        if (path.is_dir() if is_remote(path) else os.path.isdir(path)) and not is_model(path):  # noqa: PTH112
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
    if is_remote(out):
        out.refuse_web()
    if not is_remote(out) and not out.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {out.parent} to write {out.name} into")
    if out.is_dir():
        raise IsADirectoryError(f"{out} is a folder; give a file name")
    for name in inputs:
        if is_same_file(out, name):
            raise FileExistsError(f"{out} is an input: give another name for the result")
    if out.exists() and not is_moments(out):
        raise FileExistsError(f"{out} exists and is not a file of moments: give another name")
    check_place(out)


def require_local(folder: Path) -> None:
    """Refuse, before any work, a URL where a folder on this machine is needed."""
    if is_remote(folder):
        raise ValueError(f"{folder} is a URL: this command writes into a folder on this machine")


def is_same_file(out: Path, other: str | Path | RemotePath) -> bool:
    """Whether both names are of one file that exists."""
    place = place_of(other)
    if is_remote(out) or is_remote(place):
        return out == place
    return out.exists() and place.exists() and out.samefile(place)


def check_place(out: Path) -> None:
    """Refuse, before any work, a place where no file can be created."""
    if is_remote(out):
        require_writable(out.parent)
        return
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


def in_a_sentence(data: Corpus | Moments) -> str:
    """What was read, for people."""
    documents = f"{data.n_documents:,} document{'s' if data.n_documents != 1 else ''}"
    if isinstance(data, Corpus):
        return f"Read {documents}: {data.n_tokens:,} tokens, {data.n_words:,} different words."
    return f"Word pairs of {documents}: {data.n_words:,} different words, {data.n_pairs:,} different pairs."


def refuse_repeated_paths(files: Files) -> None:
    """Refuse a file that is given twice: its documents would be counted twice."""
    paths = [path if path == STDIN else place_of(path).resolve() for path in files.paths]
    if len(set(paths)) < len(paths):
        twice = next(place_of(path) for number, path in enumerate(paths) if path in paths[:number])
        raise ValueError(f"{twice.name} is given twice: leave one out (`fdmix count --again` counts it twice)")


def added(paths: Sequence[Path]) -> Moments:
    """The moments of all files together; a source that two of them have is refused."""
    parts = [loaded_moments(path) for path in paths]
    refuse_shared_sources(paths, parts)
    return summed(parts)


@contextmanager
def within_memory(memory: str | None, out: Path) -> Iterator[None]:
    """Within the block, results too large for the memory go to files without a name.

    They lie beside `out`, or in the folder for temporary files if it is a URL.

    memory : a size such as 2GB; by default, half of what is free
    """
    limit = available_bytes() / 2 if memory is None else checked_memory(bytes_in(memory)) - FIXED_BYTES
    place = place_of(out)
    folder = Path(tempfile.gettempdir()) if is_remote(place) else Path(os.path.realpath(place)).parent
    with on_disk(folder, limit / SHARES):
        yield


def _names(moments: Moments | MomentsByGroup) -> set[str]:
    return {source.name for source in moments.ledger.sources.values()}


def refuse_shared_sources(
    paths: Sequence[Path], parts: Sequence[Moments | MomentsByGroup], unless: str = "fdmix merge --again"
) -> None:
    """Refuse parts that hold the same documents: they would be counted twice. `unless` says how to do that."""
    if shared := shared_sources(part.ledger for part in parts):
        source = shared[0]
        others = f", and so are {len(shared) - 1} more sources" if len(shared) > 1 else ""
        holders = " and ".join(str(p) for p, part in zip(paths, parts, strict=True) if source.name in _names(part))
        raise ValueError(
            f"{source.name} ({source.documents:,} documents) is in more than one of these files ({holders}), and "
            f"would be counted twice{others}: leave one out, or use `{unless}` to count it twice"
        )
    seen: dict[str, Path] = {}
    for path, part in zip(paths, parts, strict=True):
        if part.ledger.digest is not None and part.n_documents:
            first = seen.setdefault(str(part.ledger.digest), path)
            if first is not path:
                raise ValueError(
                    f"{path} holds the same documents as {first}, which would be counted twice: leave one out, or "
                    f"use `{unless}` to count them twice"
                )
