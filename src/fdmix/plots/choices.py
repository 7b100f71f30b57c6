"""Figures of the choice of the number of topics."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from fdmix.choice.choice import Choice
from fdmix.plots.style import ACCENT, COLUMN, LARGE, LINE, MORE, MUTED, PLAIN, SMALL, drawing, figure_of

CLOSE = 1.12  # ratio of two numbers of topics whose labels would overlap
LINE_POINTS = 8  # of a line of what other scores say; one for each number, to the left of its arrow


def choice_curve(choice: Choice, *, axes: Axes | None = None) -> Figure:
    """A figure of what each number of topics gains over one topic on left-out documents, with standard errors.

    The band is the best gain and one standard error below it; the smallest number of topics in it is the choice.
    Marks on top say what the other scores would choose.
    """
    gains, errors = choice.gains().mean(axis=0), choice.standard_errors()
    best, at = int(gains.argmax()), choice.candidates.index(choice.n_topics)
    with drawing(axes, COLUMN, 0.75 * COLUMN) as here:
        here.axhspan(gains[best] - errors[best], gains[best], color=LINE, zorder=0)
        here.errorbar(
            choice.candidates, gains, errors, color=ACCENT, marker="o", markersize=2.5, linewidth=1, capsize=1.5
        )
        here.plot(choice.candidates[at], gains[at], "o", color=MORE, markersize=5, zorder=4)
        here.set_xscale("log")
        here.xaxis.set_major_locator(FixedLocator(_ticks(choice.candidates)))
        here.xaxis.set_minor_locator(NullLocator())
        here.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        what = "pair" if choice.criterion == "pairs" else "token"
        here.set(xlabel="number of topics", ylabel=f"log-likelihood of a left-out {what}\nabove one topic")
        told = f"{choice.n_topics:,} topics" if choice.has_topics else "no topics"
        opinions = _opinions(choice)
        here.set_title(told, fontsize=LARGE, color=MORE, pad=LINE_POINTS * len(opinions) + 6, **PLAIN)
        for row, (number, names) in enumerate(opinions.items()):
            here.annotate(
                ", ".join(names), (number, 1), (-3, 3 + LINE_POINTS * row),
                xycoords=here.get_xaxis_transform(), textcoords="offset points", fontsize=SMALL - 1, color=MUTED,
                ha="right", va="bottom", **PLAIN,
            )  # fmt: skip
            here.annotate(
                "", (number, 1), (0, LINE_POINTS * (row + 1)), xycoords=here.get_xaxis_transform(),
                textcoords="offset points", arrowprops={"arrowstyle": "-|>", "color": MUTED, "lw": 0.6}, **PLAIN,
            )  # fmt: skip
        return figure_of(here)


def _ticks(numbers: tuple[int, ...]) -> list[int]:
    """The numbers of topics whose labels fit beside each other on a logarithmic scale."""
    kept: list[int] = []
    for number in numbers:
        if not kept or number >= max(CLOSE, (numbers[-1] / numbers[0]) ** (1 / 14)) * kept[-1]:
            kept.append(number)
    return kept


def _opinions(choice: Choice) -> dict[int, list[str]]:
    """The other scores by the number of topics that they would choose, the smallest number first."""
    found: dict[int, list[str]] = {}
    for name, number in choice.others.items():
        found.setdefault(number, []).append(name)
    return dict(sorted(found.items()))
