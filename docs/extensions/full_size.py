"""A click on a picture opens it in full size: Sphinx does so for pictures that have a width."""

from typing import Any

from docutils import nodes


def setup(app: Any) -> dict[str, Any]:
    """What Sphinx calls."""
    app.connect("doctree-read", _process)
    return {"parallel_read_safe": True}


def _process(app: Any, tree: nodes.document) -> None:
    for image in tree.findall(nodes.image):
        image.setdefault("width", "100%")
