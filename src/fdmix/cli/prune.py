"""prune: leave rare and very common words out of moments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdmix.cli.console import say
from fdmix.cli.inputs import check_output, refuse_to_replace
from fdmix.cli.options import Force, Out
from fdmix.moments.moments import Moments


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
    force: Force = False,
) -> None:
    """Leave rare and very common words out of moments with an open vocabulary.

    Without options, the rules that the text was counted with apply, as in
    fdmix fit. Keep the unpruned file to add to: a word that is rare today may be
    frequent tomorrow. Words that are left out still count in the lengths of
    documents.

    Example: fdmix prune week.moments --min-count 20 -o small.moments
    """
    check_output(out, [moments])
    refuse_to_replace(out, force)
    whole = Moments.load(moments)
    rules = (min_count, max_words, max_share, drop_most_common)
    if not whole.is_open and all(rule is None for rule in rules):
        raise ValueError(
            f"{moments} has a closed vocabulary, pruned already: give --min-count, --max-words, --max-share or "
            "--drop-most-common"
        )
    pruned = whole.prune(*rules)
    pruned.save(out)
    lost = 1 - pruned.n_tokens / max(whole.n_tokens, 1)
    say(f"Kept {pruned.n_words:,} of {whole.n_words:,} words; {lost:.1%} of the tokens are left out.")
    say(f"Wrote {out}: {pruned!r}")
