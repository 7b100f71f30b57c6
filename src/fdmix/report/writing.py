"""Write the report of a model to one HTML file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from fdmix.cells.moments_by_group import MomentsByGroup
from fdmix.choice.choice import Choice
from fdmix.display import for_terminal
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.report.assembling import assembled
from fdmix.report.cells import facts_of_cells
from fdmix.report.choice import facts_of_choice
from fdmix.report.comparison import compared
from fdmix.report.edits import facts_of_edits
from fdmix.report.encoding import packed
from fdmix.report.gathering import gathered
from fdmix.report.groups import GROUP, groups_of_column
from fdmix.report.highlighting import passage, segments
from fdmix.report.representatives import Representative, representatives
from fdmix.storage import replacing
from fdmix.storage.places import place_of
from fdmix.text.layouts import Layout
from fdmix.text.tokenising import Report

N_DOCUMENTS = 20  # of each topic


def write_report(
    mixture: Mixture,
    path: str | os.PathLike[str] | IO[bytes],
    *,
    moments: Moments | None = None,
    documents: Any = None,
    layout: Layout | None = None,
    by: str | None = None,
    cells: MomentsByGroup | None = None,
    compare_with: Mixture | None = None,
    choice: Choice | None = None,
    names: tuple[str, str] = ("this model", "the other model"),
    title: str | None = None,
    n_threads: int | None = None,
    report: Report | None = None,
) -> None:
    """Write an interactive report of the topics: one HTML file that opens from disk and needs no network.

    path : of the file, or a file that is open for writing bytes
    moments : adds what is known about word pairs: coherence, partners of words, pairs that the model does not explain
    documents : adds the 20 most typical documents of each topic; anything that `read_corpus` reads
    layout : how these documents lie in files: column, split, encoding
    by : a column of the documents; adds the shares of topics in each group
    cells : moments by group; adds the shares of topics in each cell with intervals, and words that rise and fall
    compare_with : another mixture; adds its topics matched with these
    choice : of `choose_n_topics`; adds how the numbers of topics compare
    names : of the two mixtures in the comparison; title : of the page
    report : called as `report("reading", done, total)` while documents are read

    >>> import tempfile
    >>> from fdmix import worlds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(worlds.intervals().mixture, f"{folder}/report.html")
    """
    if by is not None and documents is None:
        raise ValueError("groups are made of documents: give documents=, too")
    if by is not None and cells is not None:
        raise ValueError("by= and cells= both make groups: give one of them")
    facts, arrays = gathered(mixture, title or f"{mixture.n_topics:,} topics", moments)
    facts |= {"documents": None, "groups": None, "compare": None, "edits": facts_of_edits(mixture)}
    facts["choice"] = None if choice is None else facts_of_choice(choice)
    if documents is not None:
        facts |= _of_documents(mixture, documents, layout or Layout(), by, n_threads, report)
    if cells is not None:
        facts["groups"] = facts_of_cells(mixture, cells, n_threads)
    if compare_with is not None:
        facts["compare"] = compared(mixture, compare_with, *names)
    page = assembled(facts["title"], packed(facts, arrays)).encode("utf-8")
    if not isinstance(path, str | os.PathLike):
        path.write(page)
        return
    with replacing(path) as file:
        file.write(page)


def _of_documents(
    mixture: Mixture, documents: Any, layout: Layout, by: str | None, n_threads: int | None, report: Report | None
) -> dict[str, Any]:
    """Typical documents and shares of groups, from one reading."""
    groups, watch = (None, None) if by is None else groups_of_column(mixture.n_topics, GROUP)
    if by is not None:
        layout = Layout(
            layout.column, (*layout.kept, (GROUP, by)), layout.split, layout.encoding, layout.delimiter, layout.header
        )
    found = representatives(
        mixture, documents, N_DOCUMENTS, layout=layout, n_threads=n_threads, report=report, watch=watch
    )
    return {
        "documents": [[_shown(each) for each in topic] for topic in found],
        "groups": None if groups is None or by is None else groups.facts(by),
    }


def _shown(each: Representative) -> dict[str, Any]:
    """A document for the page: a passage in pieces, in turn plain and highlighted."""
    text, marks = passage(each.text, each.highlights)
    place = _place(each.kept)
    return {
        "number": each.document,
        "share": float(np.round(each.share, 3)),
        "pieces": [for_terminal(piece, lines=True) for piece in segments(text, marks)],
        **({"place": place} if place else {}),
    }


def _place(kept: Mapping[str, Any]) -> str:
    """Where a document comes from: its group, and the name of its file."""
    group = kept.get(GROUP)
    file = kept.get("file")
    parts = [str(group) if group is not None else "", place_of(file).name if isinstance(file, str) else ""]
    return for_terminal(" · ".join(part for part in parts if part))
