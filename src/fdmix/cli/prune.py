"""prune: leave rare and very common words, or rare pairs, out of moments."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fdmix.cli.console import say
from fdmix.cli.inputs import check_output, check_place, is_same_file, refuse_to_replace, within_memory
from fdmix.cli.options import Force, Memory, Out
from fdmix.moments.moments import Moments
from fdmix.moments.rare_pairs import WithoutRarePairs
from fdmix.storage.temporaries import replacing

SHOWN_WORDS = 5


def prune(
    moments: Annotated[Path, typer.Argument(help="File of moments.", metavar="FILE")],
    out: Out,
    min_count: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Leave out words with fewer tokens.")
    ] = None,
    max_words: Annotated[int | None, typer.Option(min=1, metavar="N", help="Keep the N most frequent words.")] = None,
    max_share: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Leave out words in more than this share of documents.")
    ] = None,
    drop_most_common: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Leave out the N most frequent words.")
    ] = None,
    rare_pairs: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Leave out the rarest pairs, up to this share of all pairs' weight."),
    ] = None,
    lost: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --rare-pairs: what each word loses, as CSV.")
    ] = None,
    memory: Memory = None,
    force: Force = False,
) -> None:
    """Leave rare and very common words out of moments, or rare pairs.

    Without options, the rules that the text was counted with apply, as in
    fdmix fit. Keep the unpruned file to add to: a word that is rare today may be
    frequent tomorrow. Words that are left out still count in the lengths of
    documents.

    Pairs are left out only on request, with --rare-pairs: 0.02 leaves out the
    rarest ones, which have 2 % of the weight together (of 20 Newsgroups, these
    are 38 % of all pairs). Documents cannot be added or removed exactly then.

    Examples:

      fdmix prune week.moments --min-count 20 -o small.moments

      fdmix prune all.moments --rare-pairs 0.02 --lost lost.csv -o small.moments
    """
    check_output(out, [moments])
    refuse_to_replace(out, force)
    if lost is not None:
        if rare_pairs is None:
            raise ValueError("--lost goes with --rare-pairs: words that are left out lose everything")
        if lost == out or is_same_file(lost, moments):
            raise ValueError(f"{lost} holds moments: give --lost the name of another file")
        check_place(lost)
        refuse_to_replace(lost, force)
    whole = Moments.load(moments)
    rules = (min_count, max_words, max_share, drop_most_common)
    of_words = whole.is_open or any(rule is not None for rule in rules)
    if not of_words and rare_pairs is None:
        raise ValueError(
            f"{moments} has a closed vocabulary, pruned already: give --min-count, --max-words, --max-share, "
            "--drop-most-common or --rare-pairs"
        )
    with within_memory(memory, out):
        pruned = whole.prune(*rules) if of_words else whole
        found = None if rare_pairs is None else pruned.drop_rare_pairs(rare_pairs)
        pruned = pruned if found is None else found.moments
        pruned.save(out)
    if of_words:
        gone = 1 - pruned.n_tokens / max(whole.n_tokens, 1)
        say(f"Kept {pruned.n_words:,} of {whole.n_words:,} words; {gone:.1%} of the tokens are left out.")
    if found is not None:
        _say_lost(found, lost)
    say(f"Wrote {out}: {pruned!r}")


def _say_lost(found: WithoutRarePairs, path: Path | None) -> None:
    """What the words lose, the largest losses first: all of it to the file, a few for people."""
    names = found.moments.vocabulary or [str(position) for position in range(found.moments.n_words)]
    order = np.argsort(-found.lost, kind="stable")[: np.count_nonzero(~np.isnan(found.lost))]  # NaN comes last
    say(f"Left out {found.n_dropped:,} pairs, which have {found.share:.2%} of the weight of all pairs.")
    if order.size:
        some = ", ".join(f"{names[u]} {found.lost[u]:.0%}" for u in order[:SHOWN_WORDS])
        half = int(np.sum(found.lost[order] > 0.5))
        say(f"The words that lose most: {some}. {half:,} words lose more than half of their weight.")
    if path is None:
        return
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(["word", "tokens", "lost"])
    rows.writerows([names[u], int(found.moments.word_counts[u]), f"{found.lost[u]:.6f}"] for u in order)
    with replacing(path) as file:
        file.write(text.getvalue().encode())
