"""update: add documents to a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdmix.cli.changed import say_changes
from fdmix.cli.console import say, timed
from fdmix.cli.inputs import check_model_output, check_output, refuse_shared_sources, refuse_to_replace
from fdmix.cli.moments_of_model import MomentsOfModel, counted_like, moments_to_change, path_of_moments
from fdmix.cli.options import Again, Force, Inputs, Model, Threads, with_layout
from fdmix.cli.source_names import with_sources
from fdmix.edits.updating import PASSES
from fdmix.edits.updating import update as updated
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.text.files import Layout

OutModel = Annotated[Path | None, typer.Option("--out", "-o", help="Model folder to write (default: MODEL).")]
OutMoments = Annotated[
    Path | None, typer.Option(help="File for the new moments (default: the file of the old ones).", metavar="FILE")
]


@with_layout
def update(
    model: Model,
    inputs: Inputs,
    layout: Layout,
    moments: MomentsOfModel = None,
    out: OutModel = None,
    moments_out: OutMoments = None,
    passes: Annotated[int, typer.Option(min=1, help="Passes of the refit.")] = PASSES,
    again: Again = False,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Add documents to the moments of a model, and refit it from its topics.

    Topics keep their numbers, labels and the constraints of fdmix edit. The model
    and the file of its moments are replaced, unless -o and --moments-out name
    others. New words enter if the moments have an open vocabulary (fdmix count
    --open).

    Examples:

      fdmix update model tuesday.csv --moments all.moments

      fdmix update model new.csv -o newer --moments-out newer.moments
    """
    path = path_of_moments(model, moments)
    check_targets(model, out, path, moments_out, force)
    mixture, total = Mixture.load(model), moments_to_change(path)
    with timed() as seconds:
        part = counted_like(total, inputs, layout)
        if not again:
            refuse_shared_sources([path, Path(inputs[0])], [total, part], "fdmix update --again")
        whole = total + part
        better, changes = updated(mixture, whole, passes=passes, n_threads=threads)
        took = seconds()
    save_both(better, whole, out or model, moments_out or path)
    say_changes(changes, "Topics")
    say(f"Added {part.n_documents:,} documents in {took:.1f} s: {whole!r}.")
    say(f"Wrote {out or model} and {moments_out or path}.")


def check_targets(model: Path, out: Path | None, moments: Path, moments_out: Path | None, force: bool) -> None:
    """Refuse, before any work, to write where nothing can be written, or over a result that is not the input's."""
    check_model_output(out or model, force or out is None or out.resolve() == model.resolve())
    check_output(moments_out or moments, [])
    if moments_out is not None and moments_out.resolve() != moments.resolve():
        refuse_to_replace(moments_out, force)


def save_both(mixture: Mixture, moments: Moments, model: Path, path: Path) -> None:
    """Write the model first: if writing stops in between, the command can be repeated with the old moments."""
    with_sources(mixture, moments).save(model)
    moments.save(path)
