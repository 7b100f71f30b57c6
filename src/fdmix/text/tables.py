"""Read the rows of Parquet files and of pandas, polars and Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fdmix.storage.places import place_of, random_access
from fdmix.storage.remote_path import RemotePath
from fdmix.text.batches import Batch, from_arrow, in_batches, paragraphs
from fdmix.text.layouts import Layout, TextError, chosen_column, known_column

ROWS_AT_A_TIME = 16_384
TABLE_IN_MEMORY = "the table"  # its name in error messages, in place of a path


def parquet_batches(
    given: str | RemotePath, layout: Layout, row_groups: Sequence[int] | None = None
) -> Iterator[Batch]:
    """The rows of a Parquet file, or of some of its row groups."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    place, path = place_of(given), str(given)
    size = place.stat().st_size
    try:
        with random_access(place) as opened, pq.ParquetFile(opened) as file:
            yield from _arrow_batches(
                file.iter_batches(
                    ROWS_AT_A_TIME, row_groups, columns=_arrow_columns(file.schema_arrow, layout, path)
                ),
                file.schema_arrow, layout, path, lambda rows: size * rows // max(1, file.metadata.num_rows),
            )  # fmt: skip
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise TextError(f"{path} is not a valid Parquet file: {str(error).splitlines()[0]}") from None


def table_batches(table: Any, layout: Layout) -> Iterator[Batch]:
    """The rows of an Arrow table."""
    columns = _arrow_columns(table.schema, layout, TABLE_IN_MEMORY)
    pieces = table.select(columns).to_batches(max_chunksize=ROWS_AT_A_TIME)
    yield from _arrow_batches(pieces, table.schema, layout, TABLE_IN_MEMORY, lambda rows: rows)


def table_of_frame(frame: Any, layout: Layout) -> Any:
    """An Arrow table of the needed columns of a pandas or polars table; other columns may hold any objects."""
    import pyarrow as pa  # noqa: PLC0415

    names = [str(name) for name in frame.columns]
    if layout.column is not None or "text" in names:
        text_columns = []
    else:
        text_columns = [name for name, column in zip(names, _columns(frame), strict=True) if _may_hold_text(column)]
    column = chosen_column(names, text_columns, layout.column, TABLE_IN_MEMORY)
    wanted = list(dict.fromkeys([column, *(known_column(names, name, TABLE_IN_MEMORY) for _, name in layout.kept)]))
    columns = dict(zip(names, _columns(frame), strict=True))
    arrays = [_as_arrow(columns[name]) for name in wanted]
    for name, array in zip(wanted, arrays, strict=True):
        if array is None:
            raise TextError(_mixed_types_message(name, columns[name], is_text=name == column))
    return pa.table(arrays, names=wanted)


def _columns(frame: Any) -> list[Any]:
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, number] for number in range(frame.shape[1])]
    return list(frame.get_columns())


def _as_arrow(column: Any) -> Any:
    """The column as an Arrow array, None if its values have types that one array cannot hold."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        if hasattr(column, "iloc"):
            return pa.array(column, from_pandas=True)
        return pa.array(list(column)) if str(column.dtype) == "Object" else column.to_arrow()
    except (pa.ArrowException, OverflowError):
        return None


def _may_hold_text(column: Any) -> bool:
    """Whether all values are text, or some of them in a column with several types."""
    array = _as_arrow(column)
    return any(isinstance(value, str) for value in column) if array is None else _holds_text(array.type)


def _mixed_types_message(name: str, column: Any, is_text: bool) -> str:
    """The error message for a column whose values have several types."""
    kinds = sorted({type(value).__name__ for value in column})
    if not is_text:
        return f"column {name!r} holds values of several types ({', '.join(kinds)}): convert them to strings first"
    number, kind = next(
        (n, type(v).__name__) for n, v in enumerate(column) if v is not None and not isinstance(v, str)
    )
    return f"row {number} of column {name!r} holds {kind}, not text: convert the column to strings first"


def _holds_text(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
    return any(test(kind) for test in tests)


def _arrow_columns(schema: Any, layout: Layout, path: str) -> list[str]:
    """The column of the text, followed by the kept columns."""
    text_columns = [field.name for field in schema if _holds_text(field.type)]
    column = chosen_column(schema.names, text_columns, layout.column, path)
    if column not in text_columns:
        raise TextError(f"{path}: column {column!r} holds {schema.field(column).type}, not text")
    return list(dict.fromkeys([column, *(known_column(schema.names, name, path) for _, name in layout.kept)]))


def _arrow_batches(
    pieces: Any, schema: Any, layout: Layout, path: str, consumed: Callable[[int], int]
) -> Iterator[Batch]:
    """The documents of Arrow record batches; consumed(rows) gives the progress after that many rows."""
    column = _arrow_columns(schema, layout, path)[0]
    rows = 0
    for piece in pieces:
        rows += len(piece)
        kept = {name: piece.column(source) for name, source in layout.kept}
        batch = from_arrow(piece.column(column), kept, consumed(rows))
        if layout.split != "paragraphs":
            yield batch
            continue
        values = list(zip(*batch.kept.values(), strict=True)) if kept else [()] * len(batch)
        placed = ((row, batch.consumed) for row in zip(batch.texts(), values, strict=True))
        yield from in_batches(paragraphs(placed), layout.names)
