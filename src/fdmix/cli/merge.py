"""merge: exact sums of files of moments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Annotated, Any

import typer

from fdmix.cli.console import say
from fdmix.cli.inputs import (
    check_output,
    is_cells,
    is_moments,
    loaded_cells,
    moments_files,
    refuse_shared_sources,
    refuse_to_replace,
    within_memory,
)
from fdmix.cli.options import Again, Force, Memory, Out
from fdmix.moments.arithmetic import summed
from fdmix.moments.moments import Moments
from fdmix.storage.places import place_of


def merge(
    inputs: Annotated[list[str], typer.Argument(help="Files of moments, or folders of them.", metavar="FILES")],
    out: Out,
    memory: Memory = None,
    again: Again = False,
    force: Force = False,
) -> None:
    """Add files of moments: exact sums, whatever their order.

    The result is that of one count of all documents, if the parts have an open
    vocabulary (fdmix count --open) or the same words (--like). A source that is
    in two of the parts is refused: it would be counted twice. Moments by group
    (fdmix count --by) are added cell by cell.

    Files may be larger than the memory: sums that do not fit are worked on in
    unnamed files beside the result.

    Example: fdmix merge monday.moments tuesday.moments -o week.moments
    """
    check_output(out, [])
    refuse_to_replace(out, force)
    files = moments_files(inputs)
    if not files:
        others = [name for name in inputs if not place_of(name).is_dir() and not is_moments(name)] or inputs
        raise ValueError(
            f"merge adds files of moments, and {others[0]} is not one: count it first with `fdmix count`"
        )
    by_group = [is_cells(path) for path in files]
    if any(by_group) and not all(by_group):
        odd = files[by_group.index(False)]
        raise ValueError(f"{odd} holds moments of all documents together, and others are by group: merge one kind")
    parts: list[Any] = [loaded_cells(path) if all(by_group) else Moments.load(path) for path in files]
    if not again:
        refuse_shared_sources(files, parts)
    if _vocabularies_may_miss_words(parts):
        say(
            "Warning: the parts chose their words separately, so a word may be missing where it was rare. "
            "Count all parts with --open, or later ones with --like the first, to avoid it."
        )
    with within_memory(memory, out):
        total = reduce(add, parts) if all(by_group) else summed(parts)
        total.save(out)
    say(f"Wrote {out}: {total!r}")


def _vocabularies_may_miss_words(parts: Sequence[Any]) -> bool:
    """Whether parts with different words left some out for being rare or common, or closed an open vocabulary."""
    if any(part.is_open for part in parts):
        return not all(part.is_open for part in parts)
    if all(part.vocabulary == parts[0].vocabulary for part in parts):
        return False
    chosen = (part.preparation.cleaning for part in parts if part.preparation is not None and not part.is_open)
    return any(
        cleaning.min_count != 1 or cleaning.max_words is not None or cleaning.max_share < 1
        or cleaning.drop_most_common > 0 or cleaning.phrases
        for cleaning in chosen
    )  # fmt: skip
