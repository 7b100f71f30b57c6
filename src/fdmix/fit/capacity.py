"""How many topics a corpus can support."""

from __future__ import annotations

TOKENS_NEEDED = 200  # for each topic: where the truth is known, about half of the topics are missed, with fewer more
TOKENS_ADVISED = 500  # for each topic: about nine of ten are found (both measured in docs/explanation/fitting.md)
FEWEST_DOCUMENTS = 10  # below, no number of topics is sensible
DOCUMENTS_NEEDED = 2  # for each topic: words of a single document always go together, which says nothing of others


def sensible_topics(n_tokens: float, n_words: int, n_documents: int | None = None) -> int:
    """The number of topics up to which nine of ten can be found; 2 at least.

    >>> sensible_topics(n_tokens=600_000, n_words=4_000, n_documents=20_000)
    1200
    """
    most = min(n_tokens / TOKENS_ADVISED, n_words / 2)
    if n_documents is not None:
        most = min(most, n_documents / (2 * DOCUMENTS_NEEDED))
    return max(2, int(most))


def too_many_topics(n_topics: int, n_tokens: float, n_words: int, n_documents: int | None = None) -> str | None:
    """A sentence that says why this many topics cannot be found in a corpus, and how many can; None if they can."""
    if n_documents is not None and n_documents < FEWEST_DOCUMENTS and n_topics > 1:
        only = "1 document" if n_documents == 1 else f"{n_documents} documents"
        return f"{only} to learn from: topics show only across many documents, so these are chance."
    sensible = sensible_topics(n_tokens, n_words, n_documents)
    if n_topics <= sensible:
        return None
    if n_topics >= n_words:
        why = f"there are only {n_words:,} distinct words, and topics need words of their own"
    elif n_documents is not None and n_topics * DOCUMENTS_NEEDED > n_documents:
        why = f"there are only {n_documents:,} documents to learn from, and a topic shows only across several of them"
    elif n_topics * TOKENS_NEEDED > n_tokens:
        why = (
            f"there are {n_tokens:,.0f} tokens to learn from, {n_tokens / n_topics:,.0f} for each topic, "
            f"and with fewer than about {TOKENS_NEEDED} most topics are chance"
        )
    else:
        return None
    return f"{n_topics:,} topics are too many for this corpus: {why}. Try {sensible:,} topics or fewer."
