"""The style of all figures: the colours of the report, one font, thin lines, and text that stays text."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from matplotlib import font_manager, rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from fdmix.display import MAX_SHOWN_CHARACTERS, shown_word

COLUMN, PAGE = 3.4, 7.0  # inches: the width of a column and of a page of most journals
DPI = 200  # of PNG files

# The colours of the report in its light form (report/page/1-base.css). People with any colour vision can tell the
# families apart.
TEXT, MUTED, LINE, ACCENT = "#1b1f27", "#5a6272", "#dde1e8", "#0b5fa5"
FAMILIES = ("#0072b2", "#e69f0c", "#009e58", "#cc79a7", "#56b4e9", "#c14900", "#3b2e8c", "#7d7d72")
LESS, EVEN, MORE = "#2166ac", "#f2f2ef", "#c2500a"  # lift below 1, of 1, above 1
LIFT_COLOURS = LinearSegmentedColormap.from_list("fdmix lift", (LESS, EVEN, MORE), N=257)  # odd, so that 1 is EVEN
AMOUNT_COLOURS = LinearSegmentedColormap.from_list("fdmix amount", ("#ffffff", "#8fc1e3", "#0072b2", "#0b2a4a"))

FONT = "DejaVu Sans"  # comes with matplotlib, so that figures look the same everywhere
OTHER_SCRIPTS = (  # fonts for characters that it lacks; those that are installed are used
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Zen Hei", "PingFang SC", "Hiragino Sans",
    "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "Apple SD Gothic Neo", "Noto Sans Devanagari", "Noto Sans Thai",
    "Noto Sans Bengali", "Noto Sans Tamil",
)  # fmt: skip
LARGE, MIDDLE, SMALL = 8.0, 7.0, 6.0  # points: titles, labels of axes, all else
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}  # for text from data: "$" starts no formula


@cache
def font_families() -> list[str]:
    """The font of all text, and the installed fonts of other scripts."""
    installed = set(font_manager.get_font_names())
    return [FONT, *(name for name in OTHER_SCRIPTS if name in installed)]


def shown_text(text: str, most: int = MAX_SHOWN_CHARACTERS) -> str:
    """Text from data as figures show it: hidden characters are written out, and what is too long is cut.

    >>> shown_text("climate change", most=8)
    'climate…'
    """
    safe = shown_word(str(text))
    return safe if len(safe) <= most else f"{safe[: most - 1].rstrip()}…"


@contextmanager
def drawing(axes: Axes | None, width: float, height: float, square: bool = False) -> Iterator[Axes]:
    """Axes in our style: those that are given, or those of a new figure of this size in inches.

    square : whether a unit is as long on both axes, as in a matrix
    """
    with panels(None if axes is None else [axes], 1, 1, width, height, square) as found:
        yield found[0]


@contextmanager
def panels(
    axes: Sequence[Axes] | None, n: int, n_columns: int, width: float, height: float, square: bool = False
) -> Iterator[Sequence[Axes]]:
    """The same for n axes beside and below each other; the height is that of one row."""
    settings: Any = {
        "font.family": font_families(),
        "font.size": SMALL,
        "text.color": TEXT,
        "axes.unicode_minus": True,
    }
    with rc_context(settings):
        if axes is None:
            n_rows = -(-n // n_columns)
            layout: Any = "compressed" if square else "constrained"
            figure = Figure(figsize=(width, height * n_rows), layout=layout, dpi=DPI)
            axes = [figure.add_subplot(n_rows, n_columns, place + 1) for place in range(n)]
        chosen = list(axes)
        if len(chosen) != n:
            raise ValueError(f"this figure needs {n} axes, not {len(chosen)}")
        for one in chosen:
            _dress(one)
        yield chosen


def figure_of(axes: Axes) -> Figure:
    """The figure that axes are in; of a subfigure, the whole figure."""
    figure: Figure = axes.figure.figure
    return figure


def _dress(axes: Axes) -> None:
    """Two thin spines, small ticks and our font, whatever the settings were when the axes were made."""
    axes.spines[["top", "right"]].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set(color=MUTED, linewidth=0.6)
    axes.tick_params(
        which="both", length=2, width=0.6, color=MUTED, labelcolor=TEXT, labelsize=SMALL,
        labelfontfamily=font_families(), pad=2,
    )  # fmt: skip
    for label in (axes.xaxis.label, axes.yaxis.label, axes.title):
        label.set(color=TEXT, fontfamily=font_families(), fontsize=MIDDLE)


def without_frame(axes: Axes) -> None:
    """Remove spines and the small lines of ticks; their text stays."""
    axes.spines[:].set_visible(False)
    axes.tick_params(which="both", length=0)


def colour_of(name: str, number: int, colours: Mapping[str, str] | None) -> str:
    """The colour that is given for a name, or the next one of the palette."""
    return (colours or {}).get(name, FAMILIES[number % len(FAMILIES)])


def legend(place: Axes | Figure, handles: Sequence[Any], names: Sequence[str], **settings: Any) -> None:
    """A legend of axes or of a whole figure, without a frame; the names are plain text."""
    kept = [f" {name}" if name.startswith("_") else name for name in map(shown_text, names)]
    # matplotlib leaves out names that begin with "_"
    made = place.legend(handles, kept, frameon=False, fontsize=SMALL, handlelength=1.4, **settings)
    for text in made.get_texts():
        text.set(**PLAIN)


@contextmanager
def silent_about_glyphs() -> Iterator[None]:
    """No warning for each character that no installed font has: it is drawn as a box."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support", category=UserWarning)
        yield
