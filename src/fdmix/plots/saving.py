"""Write a figure to a file."""

from __future__ import annotations

import os
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from fdmix.plots.style import DPI, silent_about_glyphs
from fdmix.storage import replacing
from fdmix.storage.places import place_of

FORMATS = ("png", "svg", "pdf")
# Files of the same figure are equal: no date, and names inside of an SVG file that depend on its content only. PDF
# files hold their fonts as TrueType, which publishers ask for.
SETTINGS: Any = {"svg.hashsalt": "fdmix", "pdf.fonttype": 42}
NO_DATE = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def format_of(path: str | os.PathLike[str]) -> str:
    """The format that the name of a file asks for: "png", "svg" or "pdf".

    >>> format_of("topics.PDF")
    'pdf'
    """
    suffix = place_of(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise ValueError(f"figures are written as .png, .svg or .pdf: {place_of(path).name!r} ends in none of them")
    return suffix


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, complete or not at all; the end of the name says which."""
    kind = format_of(path)
    with rc_context(SETTINGS), silent_about_glyphs(), replacing(path) as file:
        figure.savefig(file, format=kind, dpi=DPI, metadata=NO_DATE[kind], facecolor="white")
