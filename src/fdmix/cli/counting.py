"""count, merge, prune, subtract: moments from text, and their exact arithmetic."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.console import print_json, say, steps, timed
from fdmix.cli.inputs import (
    added,
    check_output,
    check_place,
    is_moments,
    moments_files,
    refuse_shared_sources,
    refuse_to_replace,
)
from fdmix.cli.options import (
    AsJson,
    Column,
    Delimiter,
    Encoding,
    Force,
    Inputs,
    NoHeader,
    Split,
    TextOptions,
    Threads,
    with_text_options,
)
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.storage.arrays import replacing
from fdmix.storage.model_folder import is_model
from fdmix.text.files import STDIN, Layout
from fdmix.text.forecast import forecast
from fdmix.text.reading import read_moments
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import Files, files_of

Out = Annotated[Path, typer.Option("--out", "-o", help="File to write.")]
Again = Annotated[bool, typer.Option("--again", help="Count a source again that was counted already.")]


@with_text_options
def count(
    inputs: Inputs,
    text: TextOptions,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write.")] = None,
    like: Annotated[Path | None, typer.Option(help="Moments or a model whose words and cleaning to keep.")] = None,
    keep_all_words: Annotated[
        bool, typer.Option("--open", help="Keep every word, so that later counts can bring new ones.")
    ] = False,
    folds: Annotated[int, typer.Option(min=0, help="Keep N parts apart, for cross-validation.")] = 0,
    again: Again = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what counting will take, from a sample of the text.")
    ] = False,
    threads: Threads = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Count the word pairs of text into a file of moments.

    Resumes if interrupted: the same command goes on where it was, and the result is the same to the last bit.

    Daily updates: count the first part with --open and later ones with --like the first. New words enter, and rare
    ones are left out when topics are fitted. Without --open, --like keeps the words of the first part for ever.

    Examples:

      fdmix count a.csv b.parquet --column text -o moments

      fdmix count monday.csv --open -o monday.moments

      fdmix count tuesday.csv --like monday.moments -o tuesday.moments
    """
    if like is not None and (text.given or keep_all_words):
        raise ValueError("--like keeps the words and the cleaning of a file: other options of cleaning do not apply")
    if out is None and not estimate:
        raise ValueError("give --out FILE for the moments, or --estimate to see what counting will take")
    if out is not None and estimate:
        raise ValueError("--estimate writes no file: leave out --out")
    if out is not None:
        check_output(out, inputs)
    files = files_of(inputs, text.layout)
    if not again:
        _refuse_repeated_paths(files)
    model = None if like is None else (Mixture.load(like) if is_model(like) else Moments.load(like))
    cleaning = text.with_open_vocabulary() if keep_all_words else text.cleaning
    if out is None:
        _say_forecast(files, cleaning, model, threads, as_json)
        return
    job = CountInProgress(files, cleaning, out, like=model, folds=folds)
    refuse_to_replace(out, force or job.resumes)
    with timed() as seconds:
        moments = counted_files(job, threads, f"What was done is kept in {job.folder}: the same command resumes it.")
        took = seconds()
    for source in moments.ledger.counted_twice():
        say(f"Warning: {source.times} files hold the same {source.documents:,} documents as {source.name}.")
    if not moments.n_documents:
        say("Warning: no document has two or more words.")
    if as_json:
        print_json({"moments": str(out)} | facts_of(moments) | {"seconds": round(took, 3)})
    say(f"Wrote {out}: {moments!r}")


def _refuse_repeated_paths(files: Files) -> None:
    paths = [path if path == STDIN else str(Path(path).resolve()) for path in files.paths]
    if twice := sorted({path for path in paths if paths.count(path) > 1} if len(set(paths)) < len(paths) else ()):
        raise ValueError(f"{Path(twice[0]).name} is given twice: leave one out, or give --again to count it twice")


def _say_forecast(files: Files, cleaning: Any, like: Any, threads: int | None, as_json: bool) -> None:
    if STDIN in files.paths:
        raise ValueError("--estimate reads a sample first: give files, not standard input")
    with steps() as bars:
        found = forecast(files, cleaning, like, n_threads=threads, report=bars.report)
    if as_json:
        print_json(found.__dict__)
    else:
        say(f"Counting will take {found}.")


def facts_of(moments: Moments) -> dict[str, Any]:
    """What moments hold, for JSON and `info`."""
    return {
        "documents": moments.n_documents,
        "skipped (under two tokens)": moments.n_skipped,
        "words": moments.n_words,
        "tokens": moments.n_tokens,
        "pairs": moments.n_pairs,
        "folds": len(moments.folds),
        "vocabulary": "open" if moments.is_open else "closed",
        "sha256": moments.checksum(),
        **moments.ledger.facts(),
    }


def counted_files(job: CountInProgress, threads: int | None, when_stopped: str) -> Moments:
    """Count files with checkpoints; standard input without."""
    with steps() as bars, timed() as seconds:
        try:
            if STDIN in job.files.paths:
                moments = read_moments(
                    job.files, preset=None if job.like is not None else job.cleaning, like=job.like, folds=job.folds,
                    n_threads=threads, report=bars.report,
                )  # fmt: skip
                moments.save(job.target)
            else:
                if job.resumes:
                    say(f"Resuming from {job.folder}.")
                elif job.replaces_a_failed_count:
                    say(f"{job.folder} is left from a count that failed: beginning anew.")
                moments = job.run(n_threads=threads, report=bars.report)
        except KeyboardInterrupt:
            say(f"Stopped. {when_stopped}")
            raise typer.Exit(130) from None
        say(f"Read {len(job.files.paths):,} file(s) in {seconds():.1f} s.")
    return moments


def merge(
    inputs: Annotated[list[str], typer.Argument(help="Files of moments, or folders of them.")],
    out: Out,
    again: Again = False,
    force: Force = False,
) -> None:
    """Add files of moments: exact sums, whatever their order.

    The same as counting all documents together if the parts have an open vocabulary (`fdmix count --open`) or the
    same words (`--like`). A source that is in two of the parts is refused: it would be counted twice.

    Example: fdmix merge monday.moments tuesday.moments -o week.moments
    """
    check_output(out, [])
    refuse_to_replace(out, force)
    files = moments_files(inputs)
    if not files:
        raise ValueError("merge adds files of moments, as written by `fdmix count`; these are not")
    parts = [Moments.load(path) for path in files]
    if not again:
        refuse_shared_sources(files, parts)
    if _vocabularies_may_miss_words(parts):
        say(
            "Warning: the parts chose their words separately, so a word may be missing where it was rare. "
            "Count all parts with --open, or later ones with --like the first, to avoid it."
        )
    total = reduce(add, parts)
    total.save(out)
    say(f"Wrote {out}: {total!r}")


def _vocabularies_may_miss_words(parts: Sequence[Moments]) -> bool:
    """Whether parts with different words left some out for being rare or common."""
    if all(part.vocabulary == parts[0].vocabulary for part in parts):
        return False
    chosen = (part.preparation.cleaning for part in parts if part.preparation is not None and not part.is_open)
    return any(
        cleaning.min_count != 1 or cleaning.max_words is not None or cleaning.max_share < 1 or cleaning.phrases
        for cleaning in chosen
    )


def prune(
    moments: Annotated[Path, typer.Argument(help="File of moments.")],
    out: Out,
    min_count: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Leave out words with fewer tokens.")
    ] = None,
    max_words: Annotated[int | None, typer.Option(min=1, metavar="N", help="Keep the N most frequent words.")] = None,
    max_share: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Leave out words in more than this share of documents.")
    ] = None,
    force: Force = False,
) -> None:
    """Leave rare and very common words out of moments with an open vocabulary.

    Without options, by the rules that the text was counted with; `fdmix fit` does that by itself. Keep the unpruned
    file to add to: a word that is rare today may be frequent tomorrow. Words that are left out still count in the
    lengths of documents.

    Example: fdmix prune week.moments --min-count 20 -o small.moments
    """
    check_output(out, [moments])
    refuse_to_replace(out, force)
    whole = Moments.load(moments)
    if not whole.is_open and min_count is None and max_words is None and max_share is None:
        raise ValueError(
            f"{moments} has a closed vocabulary, pruned already: give --min-count, --max-words or --max-share"
        )
    pruned = whole.prune(min_count, max_words, max_share)
    pruned.save(out)
    lost = 1 - pruned.n_tokens / max(whole.n_tokens, 1)
    say(f"Kept {pruned.n_words:,} of {whole.n_words:,} words; {lost:.1%} of the tokens are left out.")
    say(f"Wrote {out}: {pruned!r}")


def subtract(
    whole: Annotated[Path, typer.Argument(help="File of moments.")],
    removed: Annotated[list[str], typer.Argument(help="What to remove: files of moments, or text.")],
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

    The result has the bits of a count that never read these documents. The digests of the documents before and after,
    which it prints, certify that: a model fitted to the result names the digest in its provenance (`fdmix info`).

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
