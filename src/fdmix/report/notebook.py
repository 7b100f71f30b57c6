"""The report inside of a notebook: an iframe that holds the whole page."""

from __future__ import annotations

import html
import io
from dataclasses import dataclass, field
from typing import Any

from fdmix.mixture.mixture import Mixture
from fdmix.report.writing import write_report
from fdmix.runtime.whole_numbers import whole_number

HEIGHT = 640  # pixels


@dataclass(frozen=True)
class EmbeddedReport:
    """A report that notebooks show in a cell; `page` is its HTML.

    The iframe is sandboxed: the page runs its own scripts and saves labels to a file, and cannot reach the notebook,
    its kernel or the network. What is typed into it is gone when the cell runs again: export labels to keep them.
    """

    page: str = field(repr=False)
    height: int = HEIGHT

    def _repr_html_(self) -> str:
        page = html.escape(self.page)
        style = f"width: 100%; height: {self.height}px; border: 0"
        sandbox = "allow-scripts allow-downloads"
        return f'<iframe title="Report of topics" sandbox="{sandbox}" style="{style}" srcdoc="{page}"></iframe>'


def embedded_report(mixture: Mixture, height: int = HEIGHT, **options: Any) -> EmbeddedReport:
    """The report of a mixture for a notebook; the options are those of `write_report`, without the path.

    >>> from fdmix import worlds
    >>> embedded_report(worlds.intervals().mixture, height=400)
    EmbeddedReport(height=400)
    """
    height = whole_number("height", height, least=1)
    page = io.BytesIO()
    write_report(mixture, page, **options)
    return EmbeddedReport(page.getvalue().decode("utf-8"), height)
