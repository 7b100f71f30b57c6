"""How documents lie in files and tables, and which column holds the text."""

from __future__ import annotations

from dataclasses import dataclass

SPLITS = ("lines", "paragraphs", "files")
TAB_NAMES = ("tab", "\\t")
COLUMNS_LISTED = 20
LONGEST_NAME = 40  # characters of a column's name, as far as it is shown


class TextError(ValueError):
    """A text that cannot be read, said in a sentence."""


@dataclass(frozen=True)
class Layout:
    """How documents lie in files.

    column : of a table, that holds the text; kept : columns that travel along, by the name they get
    split : a document per row or line (None, "lines"), per paragraph or per file
    delimiter : what separates the columns of CSV files, found out if None; "tab" is a tab
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
        if self.column is not None:  # columns without names have numbers
            object.__setattr__(self, "column", str(self.column))
        object.__setattr__(self, "kept", tuple((name, str(wanted)) for name, wanted in self.kept))
        if self.delimiter in TAB_NAMES:
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n\0'):
            raise ValueError(f"the delimiter is one character, such as ';', or 'tab', not {self.delimiter!r}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that travel along."""
        return tuple(name for name, _ in self.kept)

    @property
    def is_for_csv(self) -> bool:
        """Whether something is said that only makes sense for files with rows and columns."""
        return self.delimiter is not None or not self.header


def chosen_column(columns: list[str], text_columns: list[str], wanted: str | None, path: str) -> str:
    """The column of the text: as asked for, the only one there is, or the one called "text"."""
    if wanted is not None:
        return known_column(columns, wanted, path)
    if "text" in columns:
        return known_column(columns, "text", path)
    if len(text_columns) == 1:
        return known_column(columns, text_columns[0], path)
    raise TextError(f"{path}: which column holds the text? Give column=, one of {_listed(columns)}")


def known_column(columns: list[str], wanted: str, path: str) -> str:
    """The column asked for, if there is exactly one of that name."""
    if columns.count(wanted) > 1:
        raise TextError(f"{path} has {columns.count(wanted)} columns called {_short(wanted)!r}: rename one of them")
    if wanted not in columns:
        raise TextError(f"{path} has no column {_short(wanted)!r}; it has {_listed(columns) or 'none'}")
    return wanted


def _listed(columns: list[str]) -> str:
    names = ", ".join(_short(name) for name in columns[:COLUMNS_LISTED])
    more = len(columns) - COLUMNS_LISTED
    return f"{names} and {more} more" if more > 0 else names


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."
