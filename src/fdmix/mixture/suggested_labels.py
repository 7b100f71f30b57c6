"""Names of topics from their words, without any other source."""

from __future__ import annotations


def labels_from_words(topics: list[list[str]], n: int = 3) -> list[str]:
    """The first n words of each topic as its name; topics with the same name get more of their words.

    topics : the words of each topic, the most typical first. A word that is part of a phrase among the first ones is
        left out, and so is a phrase that adds nothing to the words before it.

    >>> labels_from_words([["supreme court", "court", "judge", "law"], ["tax", "income tax", "budget"]], 2)
    ['supreme court, judge', 'income tax, budget']
    >>> labels_from_words([["ant", "bee", "cat"], ["ant", "bee", "dog"], []], 2)
    ['ant, bee, cat', 'ant, bee, dog', 'topic 2']
    """
    words = [_without_repetition(topic, n) for topic in topics]
    lengths = [n] * len(topics)
    while True:
        names = [", ".join(listed[:length]) for listed, length in zip(words, lengths, strict=True)]
        longer = [
            names.count(name) > 1 and length < len(listed)
            for name, listed, length in zip(names, words, lengths, strict=True)
        ]
        if not any(longer):
            break
        lengths = [length + more for length, more in zip(lengths, longer, strict=True)]
    return [
        name if name and names.count(name) == 1 else f"{name} (topic {t})" if name else f"topic {t}"
        for t, name in enumerate(names)
    ]


def _without_repetition(words: list[str], n: int) -> list[str]:
    """The words without those that a phrase among the first 2n contains."""
    phrases = [set(word.split()) for word in words[: 2 * n] if len(word.split()) > 1]
    return [word for word in words if not any({word} < phrase or set(word.split()) < phrase for phrase in phrases)]
