"""subtract: remove documents from moments, exactly, and certify it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.console import say, steps
from fdmix.cli.inputs import (
    added,
    check_output,
    check_place,
    is_moments,
    moments_files,
    refuse_to_replace,
    within_memory,
)
from fdmix.cli.options import Force, Memory, Out, with_layout
from fdmix.moments.moments import Moments
from fdmix.storage import replacing
from fdmix.text.files import Layout
from fdmix.text.reading import read_moments
from fdmix.text.sources import files_of


@with_layout
def subtract(
    whole: Annotated[Path, typer.Argument(help="File of moments.", metavar="FILE")],
    removed: Annotated[
        list[str], typer.Argument(help="What to remove: files of moments, or text.", metavar="REMOVED")
    ],
    out: Out,
    layout: Layout,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what was removed, with digests, as JSON.")
    ] = None,
    memory: Memory = None,
    again: Annotated[
        bool, typer.Option("--again", help="Remove a source even if it was removed already.", metavar="")
    ] = False,
    force: Force = False,
) -> None:
    """Remove documents from moments, exactly.

    If the documents were counted, the result is that of a count that never read
    them. Text is cleaned the way the moments' text was. The command prints
    digests before and after the removal: to check it, count the remaining
    documents and compare. A model fitted to the result names its digest in the
    provenance (fdmix info).

    Examples:

      fdmix subtract all.moments spam.moments -o rest.moments

      fdmix subtract all.moments withdrawn.csv --column text -o rest.moments
    """
    check_output(out, [whole, *removed])
    refuse_to_replace(out, force)
    if certificate is not None:
        _check_certificate(certificate, [out, whole, *map(Path, removed)], force)
    if not is_moments(whole):
        raise ValueError(f"{whole} is not a file of moments")
    total = Moments.load(whole)
    files = moments_files(removed)
    if total.edits and not files:
        raise ValueError(
            f"words were dropped or joined in {whole} after counting, so text cannot be removed from it exactly: "
            "subtract from the file before that, then prune"
        )
    with within_memory(memory, out):
        if files:
            part = added(files)
        else:
            source = files_of(removed, layout)
            with steps() as bars:
                part = read_moments(source, like=total, folds=len(total.folds), memory=memory, report=bars.report)
        if not again:
            _refuse_what_is_removed(total, part)
        rest = _removed(total, part)
        rest.save(out)
    say(f"Removed {part.n_documents:,} document{'' if part.n_documents == 1 else 's'}. Wrote {out}: {rest!r}")
    found = _certificate(total, part, rest)
    if certificate is not None:
        with replacing(certificate) as file:
            file.write(json.dumps(found, ensure_ascii=False, indent=1).encode())
    _say_certificate(found)


def _removed(total: Moments, part: Moments) -> Moments:
    try:
        return total - part
    except ValueError as error:
        raise ValueError(f"{error}. Check the files and --column, or remove the moments counted from them") from None


def _check_certificate(certificate: Path, others: list[Path], force: bool) -> None:
    """Refuse, before any work, a certificate that would replace another file."""
    check_place(certificate)
    if any(certificate.resolve() == other.resolve() for other in others):
        raise FileExistsError(f"{certificate} is an input or the result: give another name for the certificate")
    refuse_to_replace(certificate, force)


def _refuse_what_is_removed(total: Moments, part: Moments) -> None:
    for fingerprint, source in part.ledger.sources.items():
        known = total.ledger.sources.get(fingerprint)
        if known is not None and known.times < 0:
            raise ValueError(
                f"{source.name} ({source.documents:,} documents) was removed already: add --again to remove it twice"
            )


def _certificate(total: Moments, part: Moments, rest: Moments) -> dict[str, Any]:
    """The digests of the documents before, of those removed and of those left.

    known_sources : removed sources that the ledger lists as counted
    other_sources : parts of sources, or unknown ones
    """
    sources = total.ledger.sources
    return {
        "before": {"documents": total.n_documents, "digest": _text(total)},
        "removed": {"documents": part.n_documents, "digest": _text(part)},
        "after": {"documents": rest.n_documents, "digest": _text(rest), "sha256": rest.checksum()},
        "known_sources": _names(s.name for key, s in part.ledger.sources.items() if key in sources),
        "other_sources": _names(s.name for key, s in part.ledger.sources.items() if key not in sources),
    }


def _say_certificate(found: dict[str, Any]) -> None:
    if found["after"]["digest"] is None:
        say("There is no certificate: a file has no digest, or words were dropped or joined on one side only.")
        return
    say(
        f"Certificate: digest {found['before']['digest']} before, {found['removed']['digest']} removed, "
        f"{found['after']['digest']} after: that of a count without these documents."
    )
    if found["other_sources"]:
        say(
            f"The ledger does not list {', '.join(found['other_sources'])} as counted: the certificate holds if its "
            "documents were counted as parts of other sources."
        )


def _text(moments: Moments) -> str | None:
    return None if moments.ledger.digest is None else str(moments.ledger.digest)


def _names(names: Iterable[str]) -> list[str]:
    return sorted(names)
