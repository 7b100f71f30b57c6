"""How documents lie in files and tables: which column holds the text, and what is one document."""

from __future__ import annotations

from dataclasses import dataclass

SPLITS = ("lines", "paragraphs", "files")
TAB_NAMES = ("tab", "\\t")
MAX_COLUMNS_LISTED = 20  # in an error message
MAX_NAME_CHARACTERS = 40  # of the name of a column in an error message


class TextError(ValueError):
    """A text cannot be read; the message says why and what to do."""


@dataclass(frozen=True)
class Layout:
    """How documents lie in files.

    column : the column of a table that holds the text
    kept : other columns to keep, as pairs (name in the result, name in the table)
    split : whether a document is a row or line (None, "lines"), a paragraph or a file
    delimiter : what separates the columns of CSV files; "tab" is a tab, None detects it
    header : whether the first row of CSV files and spreadsheets names the columns; if not, they are "1", "2", ...
    """

    column: str | None = None
    kept: tuple[tuple[str, str], ...] = ()
    split: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True

    def __post_init__(self) -> None:
        if self.split is not None and self.split not in SPLITS:
            raise ValueError(f"split is one of {', '.join(SPLITS)}, not {self.split!r}")
        if self.column is not None:  # numbers name columns without a header
            object.__setattr__(self, "column", str(self.column))
        object.__setattr__(self, "kept", tuple((name, str(wanted)) for name, wanted in self.kept))
        if self.delimiter in TAB_NAMES:
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n\0'):
            raise ValueError(f"the delimiter is one character, such as ';', or 'tab', not {self.delimiter!r}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the kept columns."""
        return tuple(name for name, _ in self.kept)

    @property
    def is_for_csv(self) -> bool:
        """Whether the layout has a setting that only CSV files and spreadsheets have."""
        return self.delimiter is not None or not self.header


def chosen_column(columns: list[str], text_columns: list[str], wanted: str | None, path: str) -> str:
    """The column that holds the text: `wanted`, or the one called "text", or the only one with text."""
    if wanted is not None:
        return known_column(columns, wanted, path)
    if "text" in columns:
        return known_column(columns, "text", path)
    if len(text_columns) == 1:
        return known_column(columns, text_columns[0], path)
    raise TextError(f"{path}: which column holds the text? Name it (--column, column=): {_listed(columns)}")


def known_column(columns: list[str], wanted: str, path: str) -> str:
    """The name `wanted`, if exactly one column has it."""
    if columns.count(wanted) > 1:
        raise TextError(
            f"{path} has {columns.count(wanted)} columns called {_shortened(wanted)!r}: rename one of them"
        )
    if wanted not in columns:
        raise TextError(f"{path} has no column {_shortened(wanted)!r}; it has {_listed(columns) or 'none'}")
    return wanted


def _listed(columns: list[str]) -> str:
    names = ", ".join(_shortened(name) for name in columns[:MAX_COLUMNS_LISTED])
    more = len(columns) - MAX_COLUMNS_LISTED
    return f"{names} and {more} more" if more > 0 else names


def _shortened(name: str) -> str:
    return name if len(name) <= MAX_NAME_CHARACTERS else f"{name[: MAX_NAME_CHARACTERS - 3]}..."
