"""Text files of all kinds, as batches of documents: plain text, CSV, TSV, JSON lines, Parquet; compressed or not."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from fdmix.text.batches import Batch, Row, from_arrow, in_batches, paragraphs

TABLES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
KINDS = TABLES | {".parquet": "parquet", ".pq": "parquet", ".txt": "text", ".text": "text", ".md": "text"}
SPLITS = ("lines", "paragraphs", "files")
ROWS_AT_A_TIME = 16_384
STDIN = "-"


class TextError(ValueError):
    """A text that cannot be read, said in a sentence."""


@dataclass(frozen=True)
class Layout:
    """How documents lie in files.

    column : of a table, that holds the text; kept : columns that travel along, by the name they get
    split : a document per row or line (None, "lines"), per paragraph or per file
    """

    column: str | None = None
    kept: tuple[tuple[str, str], ...] = ()
    split: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.split is not None and self.split not in SPLITS:
            raise ValueError(f"split is one of {', '.join(SPLITS)}, not {self.split!r}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that travel along."""
        return tuple(name for name, _ in self.kept)


def _zst(file: IO[bytes]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    return pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")


PACKED: dict[str, Callable[[Any], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": _zst}


def kind_of(path: str | Path, unknown: str = "text") -> str:
    """What a file holds, from its name: text if that says nothing."""
    path = Path(path)
    suffix = path.with_suffix("").suffix if path.suffix.lower() in PACKED else path.suffix
    return KINDS.get(suffix.lower(), unknown)


def batches_of(path: str, layout: Layout) -> Iterator[Batch]:
    """The documents of one file; "-" is standard input."""
    if path != STDIN and not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {path}")
    parquet = path != STDIN and kind_of(path) == "parquet"
    yield from _parquet(path, layout) if parquet else _rows_in_batches(path, layout)


def _rows_in_batches(path: str, layout: Layout) -> Iterator[Batch]:
    try:
        with _opened(path, layout.encoding) as (file, place):
            kind = _kind_of_stdin(file, layout) if path == STDIN else kind_of(path)
            if kind == "text":
                _refuse_columns(path, layout)
                rows = _text(file, layout, path)
            else:
                rows = (_json_lines if kind == "jsonl" else _csv)(file, layout, path, "\t" if kind == "tsv" else ",")
            placed = ((row, place()) for row in rows)
            whole = layout.split == "paragraphs"
            yield from in_batches(paragraphs(placed) if whole else placed, layout.names)
    except UnicodeDecodeError as error:
        raise TextError(
            f"{path} is not {error.encoding.upper()} text (byte 0x{error.object[error.start]:02x} makes no sense): "
            "give its encoding, for instance 'latin-1' or 'utf-16'"
        ) from None
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile) and error.errno is not None:
            raise
        raise TextError(f"{path} is damaged or not compressed the way its name says: {error}") from None


@contextmanager
def _opened(path: str, encoding: str | None) -> Iterator[tuple[io.TextIOWrapper, Callable[[], int]]]:
    """The file as text with any kind of line ends, and a function that tells how many bytes were read."""
    raw: IO[bytes] = sys.stdin.buffer if path == STDIN else Path(path).open("rb")  # noqa: SIM115
    try:
        unpack = PACKED.get(Path(path).suffix.lower()) if path != STDIN else None
        content: Any = io.BufferedReader(unpack(raw)) if unpack else raw
        start = content.peek(4096)[:4096] if hasattr(content, "peek") else b""
        if encoding is None:
            encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
            if b"\0" in start and encoding != "utf-16":
                raise TextError(f"{path} looks like a binary file, not text")
        try:
            text = io.TextIOWrapper(content, encoding=encoding, newline=None)
        except LookupError:
            raise ValueError(f"there is no encoding {encoding!r}") from None
        yield text, (lambda: 0) if path == STDIN else raw.tell
    finally:
        if path != STDIN:
            raw.close()


def _kind_of_stdin(file: io.TextIOWrapper, layout: Layout) -> str:
    """A table if a column is asked for: JSON lines if it begins with a brace, else CSV."""
    if layout.column is None:
        return "text"
    start = file.buffer.peek(64).lstrip() if hasattr(file.buffer, "peek") else b""
    return "jsonl" if start.startswith(b"{") else "csv"


def _refuse_columns(path: str, layout: Layout) -> None:
    if layout.column is not None or layout.kept:
        raise TextError(f"{path} is plain text and has no columns: leave out the column, or name it .csv or .jsonl")


def _text(file: io.TextIOWrapper, layout: Layout, path: str) -> Iterator[Row]:
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


def _csv(file: io.TextIOWrapper, layout: Layout, path: str, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    begun = 0  # the line before the present row
    try:
        header = next(reader, None)
        if header is None:
            return
        if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
            raise TextError(f"{path} is not separated by {delimiter!r}, it seems: its header is {header[0][:60]!r}")
        column = chosen_column(header, header, layout.column, path)
        wanted = [header.index(column), *(header.index(_known(header, name, path)) for _, name in layout.kept)]
        begun = reader.line_num
        for row in reader:
            if row and len(row) != len(header):
                raise TextError(
                    f"{path}, line {begun + 1:,}: the row has {len(row)} columns and the header {len(header)}; "
                    "is there a separator or a quotation mark in a text that is not quoted?"
                )
            if row:
                yield row[wanted[0]], tuple(row[i] for i in wanted[1:])
            begun = reader.line_num
    except csv.Error as error:
        raise TextError(f"{path}, line {begun + 1:,}: {error} (a quotation mark that is not closed?)") from None


def _json_lines(file: io.TextIOWrapper, layout: Layout, path: str, _: str) -> Iterator[Row]:
    column: str | None = None
    for number, found in enumerate(_json_values(file, path), start=1):
        if isinstance(found, str) and layout.column is None and not layout.kept:
            yield found, ()
            continue
        if not isinstance(found, dict):
            raise TextError(f"{path}, entry {number:,}: an object with the text in a column is expected")
        if column is None:
            text_columns = [name for name, value in found.items() if isinstance(value, str)]
            column = chosen_column(list(found), text_columns, layout.column, path)
            for _, name in layout.kept:
                _known(list(found), name, path)
        text = found.get(column)
        if text is not None and not isinstance(text, str):
            raise TextError(f"{path}, entry {number:,}: column {column!r} holds {type(text).__name__}, not text")
        yield text or "", tuple(found.get(name) for _, name in layout.kept)


def _json_values(file: io.TextIOWrapper, path: str) -> Iterator[Any]:
    """One value a line, or the values of one array."""
    begun = False
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        if not begun and (line.lstrip().startswith("[") or line.strip() == "{"):
            line += file.read()  # noqa: PLW2901  (one value over many lines)
        begun = True
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise TextError(f"{path}, line {number:,} is not JSON: {error}") from None
        if isinstance(found, list):
            yield from found
        else:
            yield found


def _parquet(path: str, layout: Layout) -> Iterator[Batch]:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    size = Path(path).stat().st_size
    try:
        with pq.ParquetFile(path) as file:
            yield from _arrow_batches(
                file.iter_batches(ROWS_AT_A_TIME, columns=_arrow_columns(file.schema_arrow, layout, path)),
                file.schema_arrow, layout, path, lambda rows: size * rows // max(1, file.metadata.num_rows),
            )  # fmt: skip
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise TextError(f"{path} is no valid Parquet file: {str(error).splitlines()[0]}") from None


def table_batches(table: Any, layout: Layout) -> Iterator[Batch]:
    """The rows of an Arrow table."""
    columns = _arrow_columns(table.schema, layout, "the table")
    pieces = table.select(columns).to_batches(max_chunksize=ROWS_AT_A_TIME)
    yield from _arrow_batches(pieces, table.schema, layout, "the table", lambda rows: rows)


def _arrow_columns(schema: Any, layout: Layout, path: str) -> list[str]:
    import pyarrow as pa  # noqa: PLC0415

    def holds_text(kind: Any) -> bool:
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
        return any(test(kind) for test in tests)

    text_columns = [field.name for field in schema if holds_text(field.type)]
    column = chosen_column(schema.names, text_columns, layout.column, path)
    if column not in text_columns:
        raise TextError(f"{path}: column {column!r} holds {schema.field(column).type}, not text")
    return list(dict.fromkeys([column, *(_known(schema.names, name, path) for _, name in layout.kept)]))


def _arrow_batches(
    pieces: Any, schema: Any, layout: Layout, path: str, place: Callable[[int], int]
) -> Iterator[Batch]:
    column = _arrow_columns(schema, layout, path)[0]
    rows = 0
    for piece in pieces:
        rows += len(piece)
        kept = {name: piece.column(source) for name, source in layout.kept}
        batch = from_arrow(piece.column(column), kept, place(rows))
        if layout.split != "paragraphs":
            yield batch
            continue
        values = list(zip(*batch.kept.values(), strict=True)) if kept else [()] * len(batch)
        placed = ((row, batch.consumed) for row in zip(batch.texts(), values, strict=True))
        yield from in_batches(paragraphs(placed), layout.names)


def chosen_column(columns: list[str], text_columns: list[str], wanted: str | None, path: str) -> str:
    """The column of the text: as asked for, the only one there is, or the one called "text"."""
    if wanted is not None:
        return _known(columns, wanted, path)
    if "text" in columns:
        return _known(columns, "text", path)
    if len(text_columns) == 1:
        return text_columns[0]
    raise TextError(f"{path}: which column holds the text? Give column=, one of {', '.join(columns)}")


def _known(columns: list[str], wanted: str, path: str) -> str:
    if columns.count(wanted) > 1:
        raise TextError(f"{path} has {columns.count(wanted)} columns called {wanted!r}: rename one of them")
    if wanted not in columns:
        raise TextError(f"{path} has no column {wanted!r}; it has {', '.join(columns) or 'none'}")
    return wanted
