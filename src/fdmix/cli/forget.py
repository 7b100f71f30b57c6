"""forget: remove documents from a model."""

from __future__ import annotations

from typing import Annotated

import typer

from fdmix.cli.changed import say_changes
from fdmix.cli.console import OF_PAIRS, fitting, say, steps, timed
from fdmix.cli.moments_of_model import MomentsOfModel, counted_like, moments_to_change, path_of_moments
from fdmix.cli.options import Force, Inputs, Model, Threads, with_layout
from fdmix.cli.update import OutModel, OutMoments, check_targets, save_both
from fdmix.edits.updating import fitted_anew, require_unedited
from fdmix.edits.updating import update as updated
from fdmix.fit.stopping import Stop
from fdmix.mixture.mixture import Mixture
from fdmix.text.files import Layout


@with_layout
def forget(
    model: Model,
    inputs: Inputs,
    layout: Layout,
    moments: MomentsOfModel = None,
    out: OutModel = None,
    moments_out: OutMoments = None,
    warm: Annotated[
        bool,
        typer.Option(
            "--warm",
            metavar="",
            help="Refit from where the model is: faster, and topics keep their numbers, but not exact.",
        ),
    ] = False,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Remove documents from the moments of a model, and fit it without them.

    The moments are those of a count that never read these documents. The model
    is fitted to them from scratch, so it has the bits of a model that never saw
    the documents. Its topics may have other numbers. With --warm they keep their
    numbers, but a trace of the documents may be left in them.

    A model that was refined on documents becomes one that is fitted to word pairs
    alone: moments do not keep documents. Refine it again on the rest.

    Example: fdmix forget model withdrawn.csv --moments all.moments
    """  # fmt: skip
    path = path_of_moments(model, moments)
    check_targets(model, out, path, moments_out, force)
    mixture, total = Mixture.load(model), moments_to_change(path)
    if not warm:
        require_unedited(mixture)
    part = counted_like(total, inputs, layout)
    try:
        rest = total - part
    except ValueError as error:
        raise ValueError(f"{error}. Check the files and --column") from None
    if mixture.prior is not None:
        say("Moments do not keep documents: the new model is fitted to word pairs alone. Refine it on the rest.")
    with timed() as seconds, steps() as bars:
        if warm:
            found, changes = updated(mixture, rest, n_threads=threads)
        else:
            solution = fitted_anew(mixture, rest, callback=fitting(bars, OF_PAIRS), n_threads=threads)
            found, changes = solution.mixture, None
            if solution.stop is Stop.INTERRUPTED:
                say("Stopped. Nothing was written.")
                raise typer.Exit(130)
        took = seconds()
    save_both(found, rest, out or model, moments_out or path)
    if changes is not None:
        say_changes(changes, "Topics")
    say(f"Removed {part.n_documents:,} documents in {took:.1f} s: {rest!r}.")
    say(f"Wrote {out or model} and {moments_out or path}.")
