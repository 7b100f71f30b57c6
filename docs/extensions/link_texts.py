"""Links that show a file name, such as [model.md](model.md), show the title of the page instead."""

import re
from typing import Any

FILE_LINK = re.compile(r"\[[\w/.-]+\.md\](?=\([^)\s]+\.md(#[^)\s]*)?\))")


def setup(app: Any) -> dict[str, Any]:
    """What Sphinx calls."""
    app.connect("source-read", _process)
    return {"parallel_read_safe": True}


def _process(app: Any, name: str, source: list[str]) -> None:
    """Replace the page's text in place, as Sphinx wants it; MyST gives a link without a text the title."""
    source[0] = FILE_LINK.sub("[]", source[0])
