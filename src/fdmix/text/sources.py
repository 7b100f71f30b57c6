"""Where text comes from: strings, files, folders, globs, URLs, standard input and tables, all read as batches."""

from __future__ import annotations

import glob
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from fdmix.storage.model_folder import is_model
from fdmix.storage.places import did_you_mean, is_remote, place_of
from fdmix.storage.remote_path import RemotePath
from fdmix.storage.urls import WEB, is_url, scheme_of
from fdmix.text.batches import Batch, Row, in_batches, paragraphs
from fdmix.text.files import DECOMPRESSORS, KINDS, STDIN, batches_of, kind_of
from fdmix.text.layouts import Layout, TextError
from fdmix.text.tables import table_batches, table_of_frame

MAX_NAMED = 5  # endings of files that a message names
EMPTY_NAME = "the name of an input is empty: name a file or a folder; '.' is the folder you are in"


class Source(ABC):
    """Documents that can be read batch by batch."""

    size: int | None = None  # total bytes or rows, None if unknown

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """All documents in their order."""


@dataclass(frozen=True)
class Files(Source):
    """The documents of some files, in the order of the files; each file has its own layout.

    paths : names of local files, "-" for standard input, and files at URLs
    """

    paths: tuple[str | RemotePath, ...]
    layouts: tuple[Layout, ...]

    @property
    def per_file(self) -> bool:
        """Whether each file is one document."""
        return all(layout.split == "files" for layout in self.layouts)

    @property
    def size(self) -> int | None:  # type: ignore[override]
        """Bytes in all files; None if standard input is one of them."""
        return None if STDIN in self.paths else sum(place_of(path).stat().st_size for path in self.paths)

    def batches(self, skip: int = 0, finished: Mapping[str, int] | None = None) -> Iterator[Batch]:
        """All documents except the first `skip`; `consumed` counts the bytes of all files.

        finished : names of files that were read to their end, with their documents; they are not opened
        """
        before, seen = 0, set[str]()
        for number, (path, layout) in enumerate(zip(self.paths, self.layouts, strict=True)):
            name = f"{number}/{path}" if str(path) in seen else str(path)  # a file given again is another source
            seen.add(str(path))
            for batch in () if finished and name in finished else batches_of(path, layout):
                if skip >= len(batch):
                    skip -= len(batch)
                    continue
                rest, skip = (batch.after(skip), 0) if skip else (batch, 0)
                kept = dict(rest.kept) | {"file": [str(path)] * len(rest)}
                yield replace(rest, consumed=before + rest.consumed, kept=kept, source=name)
            skip -= finished.get(name, 0) if finished else 0
            before += 0 if path == STDIN else place_of(path).stat().st_size


@dataclass(frozen=True, eq=False)
class Strings(Source):
    """Documents that are strings: in a list, or from any iterable."""

    texts: Iterable[str]
    layout: Layout

    @property
    def size(self) -> int | None:  # type: ignore[override]
        """The number of strings, None if unknown."""
        return len(self.texts) if isinstance(self.texts, Sized) else None

    def batches(self) -> Iterator[Batch]:
        """All strings as documents; None and NaN, which stand for missing values, become empty documents."""
        if self.layout.column is not None or self.layout.kept:
            raise ValueError("strings have no columns: column=, id=, date= and label= are for tables")
        rows = ((_row(text, number), number + 1) for number, text in enumerate(self.texts))
        yield from in_batches(paragraphs(rows) if self.layout.split == "paragraphs" else rows, ())


@dataclass(frozen=True, eq=False)
class Table(Source):
    """Documents that are rows of an Arrow table."""

    table: Any
    layout: Layout

    @property
    def size(self) -> int | None:  # type: ignore[override]
        """The number of rows."""
        return int(self.table.num_rows)

    def batches(self) -> Iterator[Batch]:
        """All rows."""
        return table_batches(self.table, self.layout)


def source_of(source: Any, layout: Layout) -> Source:
    """The source that a user means: any of the kinds that `read_corpus` lists."""
    if isinstance(source, Source):
        return source
    if isinstance(source, str | os.PathLike):
        return files_of([source], layout)
    if isinstance(source, bytes | Mapping):
        raise TypeError(f"text is read from strings, files or tables, not from {type(source).__name__}")
    if layout.is_for_csv and not _are_paths(source):
        raise ValueError("delimiter= and header= are for CSV files and spreadsheets, not for text in memory")
    if type(source).__name__ == "LazyFrame":
        raise TypeError("this is a lazy frame: collect() it first")
    if any(hasattr(source, name) for name in ("__arrow_c_stream__", "__arrow_c_array__")) or _is_frame(source):
        return _table_of(source, layout)
    if _are_paths(source):
        return files_of(source, layout)
    if isinstance(source, list | tuple) and source and all(isinstance(s, str) and _names_a_file(s) for s in source):
        raise TypeError("these strings are names of files: give Path objects to read the files")
    if not isinstance(source, Iterable):
        raise TypeError(f"text is read from strings, files or tables, not from {type(source).__name__}")
    return Strings(source, layout)


def files_of(given: Iterable[str | os.PathLike[str]], layout: Layout) -> Files:
    """All files that these names of files, folders and globs stand for.

    By default, a plain text file in a folder is one document, and so is every web page; a plain text file given by
    name has a document per line.
    """
    paths: list[str | RemotePath] = []
    per_file: set[str | RemotePath] = set()
    for item in given:
        place = place_of(item)
        if is_remote(place):
            inside = _remote_files(place)
            per_file |= {path for path in inside if kind_of(path) == "text"} if place.is_dir() else set()
            paths += inside
            continue
        name = str(place) if is_url(os.fspath(item)) else os.fspath(item)
        if not name:
            raise FileNotFoundError(EMPTY_NAME)
        if name == STDIN or _exists_as(name, Path.is_file):
            paths.append(name)
        elif _exists_as(name, Path.is_dir):
            found = [str(path) for path in _files_in(Path(name))]
            per_file |= {path for path in found if kind_of(path) == "text"}
            paths += found
        elif found := sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []:  # noqa: PTH207
            paths += [path for path in found if Path(path).is_file()]
        else:
            looks_like_text = len(name) > 200 or "\n" in name or " " in name
            hint = ": to read strings give a list of them" if looks_like_text else did_you_mean(Path(name))
            raise FileNotFoundError(f"there is no file or folder {name[:80]!r}{hint}")
    if paths.count(STDIN) > 1:
        raise ValueError("standard input (-) can be read once: name it once")
    if not paths:
        raise TextError("there is no file to read")
    file_layout = replace(layout, split=layout.split or "files")
    per_file |= {path for path in paths if kind_of(path) == "page"}
    return Files(tuple(paths), tuple(file_layout if path in per_file else layout for path in paths))


def _remote_files(place: RemotePath) -> list[RemotePath]:
    """The file at a URL, the files of a folder there, or those that a pattern stands for."""
    if found := place.matches():
        return found
    if place.is_file():
        return [place]
    if place.is_dir():
        return _files_in(place)
    raise FileNotFoundError(f"there is no file or folder {place}")


def _files_in(folder: Any) -> list[Any]:
    """The files of known kinds in a folder, in sorted order, without hidden ones, those of models, and reports.

    If there are none: the files without a suffix.
    """
    in_model = cache(is_model)
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and not in_model(path.parent)
        and not _is_report(path)
    )
    known = [path for path in found if kind_of(path, unknown="")] or [path for path in found if not path.suffix]
    if not known:
        there = sorted({path.suffix.lower() for path in found if path.suffix})[:MAX_NAMED]
        held = f"its files end in {', '.join(there)}, and fdmix reads" if there else "no file ends in"
        raise TextError(f"{folder} holds no text: {held} {', '.join(KINDS)}")
    return known


def _is_report(path: Any) -> bool:
    """Whether `fdmix report` wrote this file."""
    if kind_of(path) != "page" or DECOMPRESSORS.keys() & {path.suffix.lower()}:
        return False
    with path.open("rb") as file:
        return b'<meta name="generator" content="fdmix">' in file.read(2_000)


def _exists_as(name: str, kind: Callable[[Path], bool]) -> bool:
    """kind(path), with Path.is_file or Path.is_dir as kind; False for strings that cannot be names (too long)."""
    try:
        return kind(Path(name))
    except PermissionError:
        raise
    except (OSError, ValueError):
        return False


def _names_a_file(text: str) -> bool:
    """Whether a file or an object in a bucket has this name; web addresses may be documents, such as tweets."""
    if is_url(text) and scheme_of(text) not in WEB and not any(mark.isspace() for mark in text):
        return True
    return os.path.isfile(text)  # noqa: PTH113  (Path.is_file raises errors)


def _are_paths(source: Any) -> bool:
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(item, os.PathLike) for item in source)


def _is_frame(source: Any) -> bool:
    return type(source).__module__.split(".")[0] in ("pandas", "polars") and hasattr(source, "__array__")


def _table_of(source: Any, layout: Layout) -> Source:
    import pyarrow as pa  # noqa: PLC0415

    if hasattr(source, "__arrow_c_array__") and not hasattr(source, "schema"):
        source = pa.array(source)
    if isinstance(source, pa.ChunkedArray | pa.Array):
        return Table(pa.table({"text": source}), layout)
    if getattr(source, "ndim", 2) == 1 or type(source).__name__ == "Series":
        return Strings(list(source), layout)
    if isinstance(source, pa.Table):
        return Table(source, layout)
    if isinstance(source, pa.RecordBatch):
        return Table(pa.Table.from_batches([source]), layout)
    if _is_frame(source):
        return Table(table_of_frame(source, layout), layout)
    return Table(pa.table(source), layout)


def _row(text: Any, number: int) -> Row:
    """Document `number` as a row."""
    if isinstance(text, str):
        return text, ()
    if text is None or (isinstance(text, float) and math.isnan(text)) or type(text).__name__ == "NAType":
        return "", ()
    raise TypeError(
        f"document {number} is {type(text).__name__}, not a string; for lists of tokens use Corpus.from_documents"
    )
