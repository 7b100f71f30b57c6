"""Read the documents of one file: plain text, a web page, CSV, JSON lines, Parquet or Excel, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from fdmix.storage.arrays import MAGIC
from fdmix.storage.places import place_of
from fdmix.storage.remote_path import RemotePath
from fdmix.text.batches import Batch, Row, in_batches, paragraphs
from fdmix.text.delimited import csv_rows
from fdmix.text.json_lines import json_rows
from fdmix.text.layouts import Layout, TextError
from fdmix.text.spreadsheets import sheet_batches
from fdmix.text.tables import parquet_batches
from fdmix.text.web_pages import text_of_page

__all__ = ["KINDS", "STDIN", "Layout", "TextError", "batches_of", "kind_of"]

SIGNATURES = {  # of files that people take for text, by their first bytes
    b"%PDF": "a PDF, which fdmix does not read: save it as .txt first, for example with pdftotext",
    b"PK\x03\x04": "an Office document or another archive, which fdmix does not read: save it as .txt or .csv first",
    b"\xd0\xcf\x11\xe0": "an old Office document, which fdmix does not read: save it as .txt or .csv first",
}
TABLE_KINDS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
KINDS = (
    TABLE_KINDS | {".parquet": "parquet", ".pq": "parquet", ".xlsx": "excel"}
    | {".txt": "text", ".text": "text", ".md": "text", ".html": "page", ".htm": "page", ".xhtml": "page"}
)  # fmt: skip
BYTE_ORDER_MARKS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
STDIN = "-"  # stands for standard input in a list of files


def _decompress_zst(file: IO[bytes]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    return pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")


DECOMPRESSORS: dict[str, Callable[[Any], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _decompress_zst,
}


def kind_of(path: str | Path | RemotePath, unknown: str = "text") -> str:
    """The kind of a file, from its name: one of the values of KINDS, or `unknown`."""
    path = place_of(path)
    suffix = path.with_suffix("").suffix if path.suffix.lower() in DECOMPRESSORS else path.suffix
    return KINDS.get(suffix.lower(), unknown)


def batches_of(path: str | RemotePath, layout: Layout) -> Iterator[Batch]:
    """The documents of one file, or of standard input if the path is "-"."""
    if path != STDIN and not place_of(path).is_file():
        raise FileNotFoundError(f"there is no file {path}")
    kind = "" if path == STDIN else kind_of(path)
    if kind == "parquet":
        yield from parquet_batches(path, layout)
    elif kind == "excel":
        yield from sheet_batches(path, layout)
    else:
        yield from _rows_in_batches(path, layout)


def _rows_in_batches(path: str | RemotePath, layout: Layout) -> Iterator[Batch]:
    try:
        with _opened(path, layout.encoding) as (file, bytes_read):
            rows = ((row, bytes_read()) for row in _rows(file, layout, str(path)))
            yield from in_batches(paragraphs(rows) if layout.split == "paragraphs" else rows, layout.names)
    except UnicodeError as error:
        if isinstance(error, UnicodeDecodeError) and "BOM" not in error.reason:
            raise TextError(
                f"{path} is not {error.encoding.upper()} text (byte 0x{error.object[error.start]:02x} makes no "
                "sense): give its encoding, for instance 'latin-1' or 'utf-16'"
            ) from None
        raise TextError(  # from "utf-16" and "utf-32", which need a byte order mark
            f"{path} cannot be read in the encoding {layout.encoding!r}: {error}. Without a byte order mark, "
            "say 'utf-16-le' or 'utf-16-be'"
        ) from None
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile) and error.errno is not None:
            raise
        raise TextError(f"{path} is damaged or not compressed the way its name says: {error}") from None


@contextmanager
def _opened(path: str | RemotePath, encoding: str | None) -> Iterator[tuple[io.TextIOWrapper, Callable[[], int]]]:
    """(the file as text, a function that gives the number of bytes read so far); accepts all kinds of line ends."""
    place = place_of(path)
    raw: Any = sys.stdin.buffer if path == STDIN else place.open("rb")
    try:
        decompress = DECOMPRESSORS.get(place.suffix.lower()) if path != STDIN else None
        if decompress and not raw.peek(1):
            raise TextError(
                f"{path} has 0 bytes, which no compressed file has: was its download or writing interrupted?"
            )
        content: Any = io.BufferedReader(decompress(raw)) if decompress else raw
        if hasattr(content, "peek") and content.peek(len(MAGIC))[: len(MAGIC)] == MAGIC:
            raise TextError(f"{path} is a file of fdmix moments, not text: give the text that it was counted from")
        if encoding is None:
            start = content.peek(4)[:4] if hasattr(content, "peek") else b""
            encoding = next((name for mark, name in BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
            if encoding is None:
                encoding, content = "utf-8-sig", _RefusingNuls(content, str(path))
        try:
            text = io.TextIOWrapper(content, encoding=encoding, newline=None)
        except LookupError:
            raise ValueError(f"there is no encoding {encoding!r}") from None
        yield text, (lambda: 0) if path == STDIN else raw.tell
    finally:
        if path != STDIN:
            raw.close()


class _RefusingNuls(io.BufferedIOBase):
    """The bytes of a file. A NUL byte raises a TextError: binary files contain NUL bytes, UTF-8 text does not."""

    def __init__(self, content: Any, path: str) -> None:
        self.content, self.path, self.position = content, path, 0

    def readable(self) -> bool:
        return True

    def peek(self, size: int = 0) -> bytes:
        return self.content.peek(size) if hasattr(self.content, "peek") else b""

    def read(self, size: int | None = -1, /) -> bytes:
        return self._checked(self.content.read(size))

    def read1(self, size: int = -1, /) -> bytes:
        return self._checked(self.content.read1(size))

    def _checked(self, piece: bytes) -> bytes:
        if self.position == 0:
            for signature, what in SIGNATURES.items():
                if piece.startswith(signature):
                    raise TextError(f"{self.path} is {what}")
        if (found := piece.find(b"\0")) >= 0:
            raise TextError(
                f"{self.path} looks like a binary file, not text: byte {self.position + found:,} is 0. "
                "If it is text, say its encoding, for instance 'utf-16-le' or 'utf-8'"
            )
        self.position += len(piece)
        return piece


def _rows(file: io.TextIOWrapper, layout: Layout, path: str) -> Iterator[Row]:
    """The documents of an open text file, by its kind."""
    kind = _kind_of_stdin(file, layout) if path == STDIN else kind_of(path)
    if kind == "jsonl":
        return json_rows(file, layout, path)
    if kind in ("csv", "tsv") or layout.delimiter is not None:
        return csv_rows(file, layout, path, "\t" if kind == "tsv" else ",")
    _refuse_columns(path, layout, kind)
    if kind == "page":
        return _page(file, layout)
    return _plain_text(file, layout)


def _kind_of_stdin(file: io.TextIOWrapper, layout: Layout) -> str:
    """Plain text, unless a column is given: then JSON lines if the text begins with a brace, otherwise CSV."""
    if layout.column is None:
        return "text"
    start = file.buffer.peek(64).lstrip() if hasattr(file.buffer, "peek") else b""
    return "jsonl" if start.startswith(b"{") else "csv"


def _refuse_columns(path: str, layout: Layout, kind: str) -> None:
    if layout.column is not None or layout.kept:
        raise TextError(
            f"{path} is {'a web page' if kind == 'page' else 'plain text'} and has no columns: "
            "leave out the column, or name it .csv or .jsonl, or give the delimiter"
        )


def _page(file: io.TextIOWrapper, layout: Layout) -> Iterator[Row]:
    """A web page as one document, or its paragraphs; its lines mean nothing."""
    split = "files" if layout.split in (None, "files") else "paragraphs"
    return _plain_text(io.StringIO(text_of_page(file.read())), replace(layout, split=split))


def _plain_text(file: IO[str], layout: Layout) -> Iterator[Row]:
    """The whole file, its paragraphs or its lines."""
    if layout.split == "files":
        yield file.read(), ()
        return
    if layout.split != "paragraphs":
        for line in file:
            yield line, ()
        return
    lines: list[str] = []
    for line in file:
        if line.strip():
            lines.append(line)
        elif lines:
            yield "".join(lines), ()
            lines = []
    if lines:
        yield "".join(lines), ()
