"""Sums and differences of moments: exact, over the words of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from fdmix.corpus.preparation import joined
from fdmix.corpus.vocabulary import Vocabulary, positions, some, united
from fdmix.moments.inverted_index import Integers
from fdmix.moments.ledger import Ledger
from fdmix.moments.pair_sums import PairSums
from fdmix.moments.word_edits import fingerprint, known_words, relabelled

if TYPE_CHECKING:
    from fdmix.moments.moments import Moments


def added(a: Moments, b: Moments) -> Moments:
    """The moments of both sets of documents together."""
    return _combined(*_aligned(a, b), 1)


def summed(parts: Sequence[Moments], report: Callable[[int, int], Any] | None = None) -> Moments:
    """The moments of all parts together, in one round over their pairs.

    report : called with the pairs of the whole that are added up so far, and their number
    """
    for part in parts[1:]:
        _refuse_different_counting(parts[0], part)
    if any(part.edits != parts[0].edits for part in parts):
        return reduce(added, parts)
    if parts[0].vocabulary is not None:
        known = [part.vocabulary for part in parts if part.vocabulary is not None]
        words = known[0] if all(each == known[0] for each in known) else reduce(united, known)
        parts = [_in_order_of(words, part) for part in parts]
    elif any(part.n_words != parts[0].n_words for part in parts):
        return reduce(added, parts)  # which says what is wrong
    return _summed(parts, report)


def _summed(parts: Sequence[Moments], report: Callable[[int, int], Any] | None = None) -> Moments:
    """The sum of parts over the same words in the same order."""
    if len(parts) == 1:
        return parts[0]
    apart = [part.held_out for part in parts if part.held_out is not None]
    return replace(
        parts[0],
        word_counts=np.sum([part.word_counts for part in parts], axis=0),
        document_frequencies=np.sum([part.document_frequencies for part in parts], axis=0),
        pairs=PairSums.sum_of([part.pairs for part in parts], report),
        n_documents=sum(part.n_documents for part in parts),
        n_skipped=sum(part.n_skipped for part in parts),
        folds=tuple(_summed(folds) for folds in zip(*(part.folds for part in parts), strict=True)),
        preparation=reduce(joined, (part.preparation for part in parts)),
        ledger=reduce(lambda a, b: a.joined(b, 1), (part.ledger for part in parts)),
        held_out=_summed(apart) if len(apart) == len(parts) else None,
    )


def subtracted(whole: Moments, part: Moments) -> Moments:
    """The moments without those of a part; ValueError if it cannot have been a part."""
    if whole.vocabulary is not None and part.vocabulary is not None:
        _refuse_unseen_words(whole.vocabulary, part.vocabulary, part.word_counts)
        part = _in_order_of(whole.vocabulary, part)
    whole, part = _aligned(whole, part)
    try:
        rest = _combined(whole, part, -1)
        if rest.pairs.row_sums()[rest.word_counts == 0].any() or (rest.n_pairs and not rest.n_documents):
            raise ValueError("word pairs would be left without their words")
    except ValueError as error:
        raise ValueError(
            f"cannot remove these documents: they were not all part of these moments ({error})"
        ) from None
    return rest.without_unused_words() if rest.is_open else rest


def _refuse_unseen_words(counted: Vocabulary, words: Vocabulary, word_counts: Integers) -> None:
    known = positions(words, counted)
    unseen = [word for word, position, n in zip(words, known, word_counts, strict=True) if position < 0 and n > 0]
    if unseen:
        raise ValueError(f"cannot remove these documents: they hold words that were never counted: {some(unseen)}")


def _aligned(a: Moments, b: Moments) -> tuple[Moments, Moments]:
    """Both over the same words, in the same order."""
    _refuse_different_counting(a, b)
    if a.vocabulary is None or b.vocabulary is None:
        if a.n_words != b.n_words:
            raise ValueError(f"{a.n_words:,} and {b.n_words:,} words cannot be matched without vocabularies")
        return a, b
    words = united(a.vocabulary, b.vocabulary)
    return _in_order_of(words, a), _in_order_of(words, b)


def _refuse_different_counting(a: Moments, b: Moments) -> None:
    if a.weighting != b.weighting:
        raise ValueError(
            f"documents are weighted by {a.weighting!r} in one and by {b.weighting!r} in the other: count "
            "both with the same weighting"
        )
    if len(a.folds) != len(b.folds):
        raise ValueError(
            f"one keeps {len(a.folds)} folds and the other {len(b.folds)}: count both with the same folds="
        )
    if a.folds and a.edits != b.edits:
        raise ValueError(
            "words were joined or dropped on one side only, so the folds do not match: do the same on both sides"
        )
    if (a.vocabulary is None) != (b.vocabulary is None):
        raise ValueError("one has a vocabulary and the other has none: give both theirs")


def _in_order_of(words: Vocabulary, moments: Moments) -> Moments:
    """The same moments over another vocabulary, which holds all words that occur in them."""
    if words == moments.vocabulary:
        return moments
    return relabelled(moments, positions(known_words(moments), words), words, edits=moments.edits)


def _combined(a: Moments, b: Moments, sign: int) -> Moments:
    """a + sign b, over the same words in the same order."""
    same_edits = a.edits == b.edits
    frequencies = a.document_frequencies + sign * b.document_frequencies
    if not same_edits:
        frequencies = np.maximum(frequencies, 0)  # those of joined words are not exact
    return replace(
        a,
        word_counts=_not_negative("word counts", a.word_counts + sign * b.word_counts),
        document_frequencies=_not_negative("document frequencies", frequencies),
        pairs=a.pairs + b.pairs if sign > 0 else a.pairs - b.pairs,
        n_documents=a.n_documents + sign * b.n_documents,
        n_skipped=a.n_skipped + sign * b.n_skipped,
        folds=tuple(_combined(mine, theirs, sign) for mine, theirs in zip(a.folds, b.folds, strict=True)),
        edits=a.edits if same_edits else fingerprint(a.edits, "with", b.edits),
        preparation=joined(a.preparation, b.preparation, sign),
        ledger=_combined_ledgers(a, b, sign),
        held_out=_combined_held_out(a, b, sign),
    )


def _not_negative(name: str, tally: Integers) -> Integers:
    if tally.size and tally.min() < 0:
        raise ValueError(f"{name} would become negative")
    return tally


def _combined_held_out(a: Moments, b: Moments, sign: int) -> Moments | None:
    """After different edits of words, the same document may be held out in one and not in the other."""
    if a.held_out is None or b.held_out is None or a.edits != b.edits:
        return None
    return _combined(a.held_out, b.held_out, sign)


def _combined_ledgers(a: Moments, b: Moments, sign: int) -> Ledger:
    """Digests are of documents as they were counted: after different edits of words they do not add up."""
    total = a.ledger.joined(b.ledger, sign)
    return total if a.edits == b.edits else replace(total, digest=None)
