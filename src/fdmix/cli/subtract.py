"""subtract: remove documents from moments, exactly, and certify it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.console import say, steps
from fdmix.cli.inputs import added, check_output, check_place, is_moments, moments_files, refuse_to_replace
from fdmix.cli.options import Column, Delimiter, Encoding, Force, NoHeader, Out, Split
from fdmix.moments.moments import Moments
from fdmix.storage import replacing
from fdmix.text.files import Layout
from fdmix.text.reading import read_moments
from fdmix.text.sources import files_of


def subtract(
    whole: Annotated[Path, typer.Argument(help="File of moments.", metavar="FILE")],
    removed: Annotated[
        list[str], typer.Argument(help="What to remove: files of moments, or text.", metavar="REMOVED")
    ],
    out: Out,
    column: Column = None,
    split: Split = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what was removed, with digests, as JSON.")
    ] = None,
    force: Force = False,
) -> None:
    """Remove documents from moments, exactly. Text is cleaned the way the moments' text was.

    The result has the bits of a count that never read these documents. The
    digests before and after, which are printed, certify that. A model fitted to
    the result names the digest in its provenance (fdmix info).

    Examples:

      fdmix subtract all.moments spam.moments -o rest.moments

      fdmix subtract all.moments withdrawn.csv --column text -o rest.moments
    """
    check_output(out, [whole, *removed])
    refuse_to_replace(out, force)
    if certificate is not None:
        check_place(certificate)
    if not is_moments(whole):
        raise ValueError(f"{whole} is not a file of moments")
    total = Moments.load(whole)
    files = moments_files(removed)
    if files:
        part = added(files)
    else:
        source = files_of(removed, Layout(column, (), split, encoding, delimiter, not no_header))
        with steps() as bars:
            part = read_moments(source, like=total, folds=len(total.folds), report=bars.report)
    rest = total - part
    rest.save(out)
    say(f"Removed {part.n_documents:,} documents. Wrote {out}: {rest!r}")
    found = _certificate(total, part, rest)
    if certificate is not None:
        with replacing(certificate) as file:
            file.write(json.dumps(found, ensure_ascii=False, indent=1).encode())
    _say_certificate(found)


def _certificate(total: Moments, part: Moments, rest: Moments) -> dict[str, Any]:
    """The digests of the documents before, of those removed and of those left; and which sources went as a whole."""
    sources = total.ledger.sources
    return {
        "before": {"documents": total.n_documents, "digest": _text(total)},
        "removed": {"documents": part.n_documents, "digest": _text(part)},
        "after": {"documents": rest.n_documents, "digest": _text(rest), "sha256": rest.checksum()},
        "sources removed as a whole": _names(s.name for key, s in part.ledger.sources.items() if key in sources),
        "sources of which a part was removed, or others": _names(
            s.name for key, s in part.ledger.sources.items() if key not in sources
        ),
    }


def _say_certificate(found: dict[str, Any]) -> None:
    if found["after"]["digest"] is None:
        say("There is no certificate: words were joined or dropped on one side only, so digests do not compare.")
        return
    say(
        f"Certificate: digest {found['before']['digest']} before, {found['removed']['digest']} removed, "
        f"{found['after']['digest']} after: the one of a count that never saw these documents."
    )


def _text(moments: Moments) -> str | None:
    return None if moments.ledger.digest is None else str(moments.ledger.digest)


def _names(names: Iterable[str]) -> list[str]:
    return sorted(names)
