"""The map of topics: topics with similar words are near each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from fdmix.metrics.arguments import as_mixture
from fdmix.mixture.placement import families, hellinger_distances, positions_on_map
from fdmix.plots.style import (
    COLUMN,
    FAMILIES,
    PAGE,
    PLAIN,
    SMALL,
    drawing,
    figure_of,
    shown_text,
    silent_about_glyphs,
    without_frame,
)

FEW_TOPICS = 12  # up to this many fit into the width of a column
INKED = 0.10  # share of the figure that circles cover
MAX_NAME = 26  # characters
GAP = 1.5  # points between a circle and its name
SIDES = (  # of a circle, for its name: direction, and how the text is aligned there
    (1, 0, "left", "center"), (-1, 0, "right", "center"), (0, 1, "center", "bottom"), (0, -1, "center", "top"),
    (0.7, 0.7, "left", "bottom"), (0.7, -0.7, "left", "top"), (-0.7, 0.7, "right", "bottom"),
    (-0.7, -0.7, "right", "top"),
)  # fmt: skip
SQUARE = 0.85  # half of the side of the square that stands for a circle of radius 1


def topic_map(mixture: Any, *, words: int = 2, axes: Axes | None = None) -> Figure:
    """A figure of the topics as circles: near each other if their words are similar, the area is the share.

    The places are those of the report's map: t-SNE of Hellinger distances, the same each time. Directions and large
    distances mean nothing. A name without room is left out; names of large topics are written first.

    mixture : a Mixture, Solution or fitted FDM
    words : that name a topic without a label
    """
    model = as_mixture(mixture)
    places = positions_on_map(hellinger_distances(model.topics))
    colours = [FAMILIES[family] for family in families(places, model.shares)]
    names = [shown_text(name, MAX_NAME) for name in model.topic_names(words)]
    width = COLUMN if model.n_topics <= FEW_TOPICS else PAGE
    with drawing(axes, width, 0.72 * width) as here:
        without_frame(here)
        here.set(xticks=[], yticks=[])
        box = here.get_window_extent().transformed(here.figure.dpi_scale_trans.inverted())
        inked = INKED * box.width * box.height * 72**2  # points^2
        areas = np.maximum(inked * model.shares, 3.0)
        here.scatter(
            places[:, 0], places[:, 1], s=areas, c=colours, alpha=0.85, linewidths=0.5, edgecolors="white", zorder=2
        )
        _leave_room(here, places)
        _write_names(here, places, np.sqrt(areas / np.pi), names, np.argsort(-model.shares, kind="stable"))
        return figure_of(here)


def _leave_room(axes: Axes, places: Any) -> None:
    """Limits that leave room for circles all around and for names at their sides."""
    low, high = places.min(axis=0), places.max(axis=0)
    spread = np.maximum(high - low, 0.2)
    axes.set_xlim(low[0] - 0.12 * spread[0], high[0] + 0.16 * spread[0])
    axes.set_ylim(low[1] - 0.08 * spread[1], high[1] + 0.08 * spread[1])


def _write_names(axes: Axes, places: Any, radii: Any, names: list[str], order: Any) -> None:
    """Write each name beside its circle where it overlaps no other circle and no name; without room, leave it out.

    radii : of the circles, in points
    """
    with silent_about_glyphs():
        figure_of(axes).draw_without_rendering()  # which lays the figure out
        pixels = axes.figure.dpi / 72
        centres = axes.transData.transform(places)
        circles = [
            Bbox.from_extents(x - r, y - r, x + r, y + r)
            for (x, y), r in zip(centres, SQUARE * pixels * radii, strict=True)
        ]
        frame, taken = axes.get_window_extent(), list(circles)
        for topic in order.tolist():
            others = taken[:topic] + taken[topic + 1 :]
            box = _named(axes, places[topic], radii[topic] + GAP, names[topic], others, frame)
            if box is not None:
                taken.append(box)


def _named(axes: Axes, place: Any, distance: float, name: str, taken: list[Any], frame: Any) -> Any:
    """The box of the name, at the first side of the circle that has room; None if there is none."""
    for x, y, horizontal, vertical in SIDES:
        text = axes.annotate(
            name, place, (x * distance, y * distance), textcoords="offset points", ha=horizontal, va=vertical,
            fontsize=SMALL, zorder=3, **PLAIN,
        )  # fmt: skip
        box = text.get_window_extent()
        inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
        if inside and not any(box.overlaps(other) for other in taken):
            return box
        text.remove()
    return None
