"""Changes of the words of moments: join, drop, restrict, prune. `Moments` documents what each of them gives.

All of them move the tallies of words to other positions (`relabelled`), in the whole and in its parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from fdmix.corpus.preparation import Cleaning, Preparation, least_count
from fdmix.corpus.vocabulary import Vocabulary, as_vocabulary, positions, require_known
from fdmix.moments import parts
from fdmix.moments.inverted_index import Integers

if TYPE_CHECKING:
    from fdmix.moments.moments import Moments


def merge_words(moments: Moments, names: Mapping[str, str]) -> Moments:
    """Join words under one name."""
    words = known_words(moments)
    require_known(names, words)
    moved = {word: name for word, name in names.items() if word != name}
    if both := sorted(set(moved) & set(moved.values())):
        raise ValueError(f"{both[0]!r} cannot both be renamed and be the name that another word gets")
    if not moved:
        return moments
    new_names = [moved.get(word, word) for word in words]
    result = tuple(dict.fromkeys(new_names))
    edits = fingerprint(moments.edits, "merge", sorted(moved.items()))
    joined = relabelled(moments, positions(new_names, result), result, edits=edits)
    return _with_forms(joined, moved)


def drop_words(moments: Moments, words: Iterable[str]) -> Moments:
    """Leave words out."""
    known = known_words(moments)
    if isinstance(words, str):
        raise TypeError(f"drop_words takes a list of words, not the single string {words!r}")
    gone = set(words)
    require_known(gone, known)
    return restrict(moments, [word for word in known if word not in gone])


def restrict(moments: Moments, vocabulary: Iterable[str]) -> Moments:
    """Keep only these words, in this order."""
    words, kept = known_words(moments), as_vocabulary(vocabulary)
    require_known(kept, words)
    dropped = sorted(set(_used_words(moments)) - set(kept))
    edits = fingerprint(moments.edits, "drop", dropped) if dropped else moments.edits
    result = _with_forms(relabelled(moments, positions(words, kept), kept, edits=edits), {})
    return _with_closed_vocabulary(result) if dropped else result


def top(moments: Moments, n: int) -> Moments:
    """Keep the n words with the most tokens, in their present order."""
    if n < 1:
        raise ValueError(f"top(n) keeps at least one word, not {n}")
    best = np.sort(np.argsort(-moments.word_counts, kind="stable")[:n])
    if best.size == moments.n_words:
        return moments
    if moments.vocabulary is not None:
        return restrict(moments, (moments.vocabulary[i] for i in best))
    target = np.full(moments.n_words, -1, np.int64)
    target[best] = np.arange(best.size)
    edits = fingerprint(moments.edits, "drop", np.flatnonzero(target < 0).tolist())
    return relabelled(moments, target, None, best.size, edits=edits)


def prune(moments: Moments, **given: Any) -> Moments:
    """Leave out rare and very common words, by the rules of `Cleaning`; a rule that is None stays as it was."""
    preparation = moments.preparation or Preparation(Cleaning(min_count=1))
    chosen = {name: rule for name, rule in given.items() if rule is not None}
    rules = replace(preparation.cleaning, open_vocabulary=False, **chosen)
    rules = replace(rules, min_count=least_count(rules.min_count, moments.n_documents))
    words, counts = known_words(moments), moments.word_counts
    often = counts >= int(rules.min_count)
    kept = often & (moments.document_frequencies <= rules.max_share * moments.n_documents)
    by_count = sorted(range(len(words)), key=lambda u: (-counts[u], words[u]))
    dropped = rules.drop_most_common
    if not preparation.cleaning.open_vocabulary:  # its own most common words are gone already
        dropped = chosen.get("drop_most_common", 0)
        rules = replace(rules, drop_most_common=preparation.cleaning.drop_most_common + dropped)
    by_count = [u for u in by_count[dropped:] if kept[u]]
    pruned = restrict(moments, [words[u] for u in sorted(by_count[: rules.max_words])])
    if pruned.preparation is None:
        return pruned
    return pruned.prepared(replace(pruned.preparation, cleaning=rules))


def without_unused_words(moments: Moments) -> Moments:
    """The same moments over the words that have a token."""
    used = _used_words(moments)
    return moments if len(used) == moments.n_words else restrict(moments, used)


def known_words(moments: Moments) -> Vocabulary:
    """The words, or a ValueError where they are known by position only."""
    if moments.vocabulary is None:
        raise ValueError("these moments have no vocabulary: give one, Moments.of(counts, vocabulary)")
    return moments.vocabulary


def fingerprint(edits: str, verb: str, words: Any) -> str:
    """The fingerprint after one more edit."""
    text = json.dumps([edits, verb, words])
    return blake2b(text.encode(), digest_size=8).hexdigest()


def relabelled(
    moments: Moments, target: Integers, words: Vocabulary | None, n_words: int | None = None, *, edits: str
) -> Moments:
    """Move word u to position target[u] of a vocabulary of `words`, or of n_words; -1 drops it."""
    size = len(words) if words is not None else int(n_words or 0)
    kept = target >= 0

    def moved(tally: Integers) -> Integers:
        result = np.zeros(size, np.int64)
        np.add.at(result, target[kept], tally[kept])
        return result

    return replace(
        moments,
        pairs=moments.pairs.relabel(target, size),
        word_counts=moved(moments.word_counts),
        document_frequencies=moved(moments.document_frequencies),
        vocabulary=words,
        edits=edits,
        **parts.each(moments, lambda part: relabelled(part, target, words, n_words, edits=edits)),
    )


def _used_words(moments: Moments) -> Vocabulary:
    """The words that have a token."""
    return tuple(word for word, n in zip(known_words(moments), moments.word_counts, strict=True) if n > 0)


def _with_closed_vocabulary(moments: Moments) -> Moments:
    """Words were chosen, so what is counted later is counted over these only."""
    if moments.preparation is None or not moments.is_open:
        return moments
    cleaning = replace(moments.preparation.cleaning, open_vocabulary=False)
    return moments.prepared(replace(moments.preparation, cleaning=cleaning))


def _with_forms(moments: Moments, names: Mapping[str, str]) -> Moments:
    """With the forms of the words that are left, under their new names."""
    if moments.preparation is None:
        return moments
    return moments.prepared(moments.preparation.renamed(names, known_words(moments)))
