"""Write a table of columns to a CSV or Parquet file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.inputs import check_place, refuse_to_replace
from fdmix.display import for_csv, storable
from fdmix.storage import replacing

FORMATS = (".csv", ".parquet")
TableFile = Annotated[
    Path | None, typer.Option("--table", metavar="FILE", help="Write the table, too: .csv or .parquet.")
]


def check_table_file(path: Path, force: bool) -> None:
    """Refuse, before any work, a file whose format is unknown, that exists, or that cannot be written."""
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path} must end in .csv or .parquet, which says the format of the table")
    check_place(path)
    refuse_to_replace(path, force)


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of equal lengths, complete or not at all; None is a missing value."""
    plain = {name: values.tolist() if hasattr(values, "tolist") else list(values) for name, values in columns.items()}
    with replacing(path) as file:
        if path.suffix.lower() == ".parquet":
            import pyarrow as pa  # noqa: PLC0415  (slow to import)
            import pyarrow.parquet as pq  # noqa: PLC0415

            stored = {
                storable(name): [storable(value) if isinstance(value, str) else value for value in values]
                for name, values in plain.items()
            }
            pq.write_table(pa.table(stored), file)
            return
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text)
        writer.writerow([for_csv(name) for name in plain])
        writer.writerows([for_csv(_cell(value)) for value in row] for row in zip(*plain.values(), strict=True))
        text.detach()


def rows_of_columns(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table, for JSON."""
    plain = [values.tolist() if hasattr(values, "tolist") else values for values in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*plain, strict=True)]


def _cell(value: Any) -> Any:
    return "" if value is None else float(f"{value:.6g}") if isinstance(value, float) else value
