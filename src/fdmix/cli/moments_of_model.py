"""Where the moments of a model are, and moments of documents to add to them or to remove."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdmix.cli.console import steps
from fdmix.cli.inputs import added, is_cells, is_moments, loaded_moments, moments_files
from fdmix.moments.moments import Moments
from fdmix.text.files import Layout
from fdmix.text.reading import read_moments
from fdmix.text.sources import files_of

MomentsOfModel = Annotated[
    Path | None,
    typer.Option(help="Moments that the model was fitted to (default: MODEL.moments beside it).", metavar="FILE"),
]


def path_of_moments(model: Path, given: Path | None) -> Path:
    """The file of a model's moments."""
    path = model.parent / f"{model.name}.moments" if given is None else given
    if given is None and not path.is_file():
        raise FileNotFoundError(
            f"where are the moments of {model}? There is no file {path}: name it with --moments FILE "
            "(`fdmix count` writes one)"
        )
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if not is_moments(path):
        raise ValueError(f"{path} is not a file of moments")
    return path


def moments_of_model(model: Path, given: Path | None) -> Moments:
    """The moments that a model was fitted to; of a file of moments by group, those of all cells together."""
    return loaded_moments(path_of_moments(model, given))


def moments_to_change(path: Path) -> Moments:
    """The moments of a file that documents are added to or removed from."""
    if is_cells(path):
        raise ValueError(
            f"{path} holds moments by group, which documents cannot be added to or removed from here: count new "
            "documents with --by and --like, then fdmix merge and fdmix fit"
        )
    return Moments.load(path)


def counted_like(total: Moments, inputs: list[str], layout: Layout) -> Moments:
    """The moments of documents, counted like those of the whole; files of moments are added up."""
    files = moments_files(inputs)
    if files:
        return added(files)
    if total.edits:
        raise ValueError(
            "words were dropped or joined in the moments after counting, so text cannot be added or removed exactly: "
            "use the file before that, and prune the result"
        )
    with steps() as bars:
        return read_moments(files_of(inputs, layout), like=total, folds=len(total.folds), report=bars.report)
