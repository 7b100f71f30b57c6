"""Pictures of matrices: as text for the terminal, or as PNG with matplotlib."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from fdmix.storage.temporaries import replacing

SHADES = " ·░▒▓█"  # from zero to the largest value


def shaded(matrix: Any, width: int = 50) -> str:
    """A matrix as text with darker characters for larger values.

    A character shows the mean of a block of entries. It is twice as high as wide, so there are width / 2 lines.

    >>> print(shaded(np.eye(4), width=4))
    ██
      ██
    """
    values = np.asarray(matrix, dtype=np.float64)
    rows = min(max(1, width // 2), values.shape[0])
    columns = min(width, values.shape[1])
    blocks = [np.array_split(line, columns, axis=1) for line in np.array_split(values, rows, axis=0)]
    cells = np.array([[block.mean() for block in line] for line in blocks])
    level = np.floor(cells / (cells.max() or 1) * (len(SHADES) - 1) + 0.5).astype(int)
    return "\n".join("".join(SHADES[i] for i in line).rstrip() for line in level)


def save_heatmap(matrix: Any, path: str | os.PathLike[str], title: str) -> None:
    """Save a picture of a matrix as PNG, with a colour scale."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as missing:
        raise ImportError("pictures need matplotlib: pip install 'fdmix[plots]'") from missing
    figure = Figure(figsize=(6, 5), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(np.asarray(matrix), cmap="viridis", interpolation="nearest")
    axes.set(title=title, xlabel="word v", ylabel="word u")
    figure.colorbar(image, label="Mhat[u, v]")
    with replacing(path) as file:
        FigureCanvasAgg(figure).print_png(file)  # type: ignore[no-untyped-call]
