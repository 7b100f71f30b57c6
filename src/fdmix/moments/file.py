"""The file of moments: arrays and facts, for the whole and for each fold.

Arrays, named by the number of the part (0 is the whole, 1, 2, ... are the folds, or the part held out): `first`,
`columns` and `sums` of the pair sums, `word_counts`, `document_frequencies`. Facts: `documents` (counted and skipped,
for each part), `vocabulary`, `edits`, `preparation`, `ledger` (for each part), `weighting`, `held_out` (whether the
last part is the one held out).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from fdmix.corpus.preparation import Preparation
from fdmix.corpus.vocabulary import as_vocabulary
from fdmix.moments.ledger import Ledger
from fdmix.moments.pair_sums import PairSums
from fdmix.moments.weighting import known_weighting
from fdmix.storage.arrays import read_arrays, write_arrays
from fdmix.storage.facts import stated_number, string, strings

KIND, FORMAT = "moments", 3  # format 1 had no ledger; 1 and 2 knew only the weighting of the paper


def write(path: str | os.PathLike[str], whole: Any, kept: Sequence[Any]) -> None:
    """Write moments and those that are kept of parts of the documents, complete or not at all."""
    parts = (whole, *kept)
    facts = {
        "held_out": whole.held_out is not None,
        "documents": [[part.n_documents, part.n_skipped] for part in parts],
        "vocabulary": whole.vocabulary,
        "edits": whole.edits,
        "preparation": None if whole.preparation is None else whole.preparation.facts(),
        "weighting": whole.weighting,
        "ledger": [part.ledger.facts() for part in parts],
    }
    arrays: dict[str, Any] = {}
    for number, part in enumerate(parts):
        arrays |= {
            f"{number}.first": part.pairs.first,
            f"{number}.columns": part.pairs.columns,
            f"{number}.sums": part.pairs.sums,
            f"{number}.word_counts": part.word_counts,
            f"{number}.document_frequencies": part.document_frequencies,
        }
    write_arrays(path, KIND, FORMAT, facts, arrays)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any] | None]:
    """The fields of the moments, of each fold, and of the part held out, as the file states them.

    KeyError or ValueError if it lies.
    """
    facts, arrays = read_arrays(path, KIND, FORMAT)
    known = facts["vocabulary"]
    common = {
        "vocabulary": None if known is None else as_vocabulary(strings(known, "the vocabulary")),
        "edits": string(facts["edits"], "the fingerprint of edits"),
        "weighting": known_weighting(string(facts.get("weighting", "paper"), "the weighting of documents")),
    }
    preparation = Preparation.from_facts(facts.get("preparation"))
    numbers = document_numbers(facts["documents"])
    ledgers = [Ledger.from_facts(stated) for stated in facts.get("ledger") or [None] * len(numbers)]
    if len(ledgers) != len(numbers):
        raise ValueError("there must be a ledger for the whole and for each fold")
    parts = []
    for number, (n_documents, n_skipped) in enumerate(numbers):
        name = f"{number}.{{}}".format
        parts.append(
            common
            | {
                "pairs": PairSums(*(arrays[name(part)] for part in ("first", "columns", "sums"))),
                "word_counts": arrays[name("word_counts")],
                "document_frequencies": arrays[name("document_frequencies")],
                "n_documents": n_documents,
                "n_skipped": n_skipped,
                "ledger": ledgers[number],
                "preparation": preparation if number == 0 else None,
            }
        )
    if not facts.get("held_out"):
        return parts[0], parts[1:], None
    if len(parts) < 2:
        raise ValueError("the part that is held out is missing")
    return parts[0], parts[1:-1], parts[-1]


def document_numbers(value: Any) -> list[tuple[int, int]]:
    """(documents, skipped documents) of the whole and of each fold."""
    pairs = value if isinstance(value, list) else []
    if not pairs or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise ValueError("the numbers of documents must be a list of pairs")
    return [(stated_number(n, "a number of documents"), stated_number(m, "a number of documents")) for n, m in pairs]
