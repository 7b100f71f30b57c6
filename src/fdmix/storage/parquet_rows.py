"""A Parquet file written some rows at a time, whose columns may turn out to need a wider type on the way."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Any

from fdmix.display import for_json, storable
from fdmix.storage.places import random_access
from fdmix.storage.temporaries import replacing


class ParquetRows:
    """Appends tables to an open file.

    Types of columns whose type is not given are found from their values. Where later values do not fit (numbers
    first, then text), what was written is read again and written with the wider type.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.writer: Any = None

    def __enter__(self) -> ParquetRows:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self.writer is not None:
            self.writer.close()

    def write(self, columns: Mapping[str, tuple[Any, str | None]]) -> None:
        """Append rows, given as values and type (None: as the values say) of each column."""
        import pyarrow as pa  # noqa: PLC0415  (slow to import)

        arrays = [_array(values, kind) for values, kind in columns.values()]
        table = pa.Table.from_arrays(arrays, names=[storable(name) for name in columns])
        if self.writer is None:
            self._open(table.schema)
        elif (schema := wider_schema(self.writer.schema, table.schema)) != self.writer.schema:
            self._begin_again(schema)
        self.writer.write_table(_as(table, self.writer.schema))

    def _open(self, schema: Any) -> None:
        import pyarrow.parquet as pq  # noqa: PLC0415

        self.writer = pq.ParquetWriter(self.file, schema)

    def _begin_again(self, schema: Any) -> None:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

        self.writer.close()
        self.file.flush()
        with TemporaryFile() as copy:
            with Path(self.file.name).open("rb") as written:
                shutil.copyfileobj(written, copy)
            self.file.seek(0)
            self.file.truncate()
            self._open(schema)
            for batch in pq.ParquetFile(copy).iter_batches():
                self.writer.write_table(_as(pa.Table.from_batches([batch]), schema))


def give_types(place: Path, schema: Any) -> None:
    """Write a Parquet file again with the types of a schema, which are as wide as its own; not if it has them."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    with random_access(place) as opened, pq.ParquetFile(opened) as source:
        if source.schema_arrow.equals(schema):
            return
        with replacing(place) as file, pq.ParquetWriter(file, schema) as writer:
            for batch in source.iter_batches():
                writer.write_table(_as(pa.Table.from_batches([batch]), schema))


def _array(values: Any, kind: str | None) -> Any:
    """An Arrow array; NaN of floating-point columns of ours stands for "nothing is known"."""
    import pyarrow as pa  # noqa: PLC0415

    if kind is not None:
        return pa.array(values, pa.type_for_alias(kind), from_pandas=True)
    try:
        return pa.array(values)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError):  # of several kinds, or what Arrow does not have
        return pa.array([_text(value) for value in values], pa.string())


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return storable(for_json(value) if isinstance(value, dict | list | tuple | bool) else str(value))


def wider_schema(old: Any, new: Any) -> Any:
    """The same columns, with types that hold the values of both."""
    import pyarrow as pa  # noqa: PLC0415

    return pa.schema([pa.field(a.name, _wider(a.type, b.type)) for a, b in zip(old, new, strict=True)])


def _wider(a: Any, b: Any) -> Any:
    """A type that holds the values of both: text if there is no other."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        schemas = [pa.schema([pa.field("x", kind)]) for kind in (a, b)]
        return pa.unify_schemas(schemas, promote_options="permissive").field("x").type
    except pa.ArrowException:
        return pa.string()


def _as(table: Any, schema: Any) -> Any:
    """The table with the types of the schema, which are as wide as its own."""
    import pyarrow as pa  # noqa: PLC0415

    arrays = []
    for column, wanted in zip(table.columns, schema, strict=True):
        if pa.types.is_string(wanted.type) and not pa.types.is_string(column.type):
            arrays.append(pa.array([_text(value) for value in column.to_pylist()], pa.string()))
        else:
            arrays.append(column.cast(wanted.type, safe=False))
    return pa.Table.from_arrays(arrays, schema=schema)
