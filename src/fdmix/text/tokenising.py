"""Read a source in threads and turn its documents into token numbers."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fdmix.corpus.preparation import Cleaning
from fdmix.moments.ledger import Digest, SourceLog
from fdmix.runtime.threads import streamed, thread_count
from fdmix.text.batches import Batch
from fdmix.text.lexicon import Lexicon
from fdmix.text.sources import Source

Report = Callable[[str, int, int | None], Any]  # a progress report: name of the step, amount done, total if known


@dataclass(frozen=True, eq=False)
class TokenBatch:
    """Some documents as token numbers.

    lexicon : knows the text of each token number
    ids : the token numbers of all documents, one document after the other
    lengths : the number of tokens of each document
    kept : for each column that the user wants to keep, its values, one per document
    """

    lexicon: Lexicon
    ids: Any
    lengths: Any
    kept: Mapping[str, list[Any]] = field(default_factory=dict)

    def is_valid(self) -> bool:
        """Whether the lexicon has all token numbers, and the lengths add up to the number of tokens."""
        known = not self.ids.size or 0 <= self.ids.min() <= self.ids.max() < self.lexicon.size
        return bool(
            known and (not self.lengths.size or self.lengths.min() >= 0) and self.lengths.sum() == self.ids.size
        )


def token_batches(
    source: Source,
    cleaning: Cleaning,
    n_threads: int | None = None,
    report: Report | None = None,
    lexicons: list[Lexicon] | None = None,
    log: SourceLog | None = None,
) -> Iterator[TokenBatch]:
    """The documents of a source as token numbers, in the order of the source.

    Each thread fills its own lexicon, so that threads need not wait for each other. If the user gives a tokenizer,
    there is only one thread.

    lexicons : lexicons to add tokens to; new lexicons are appended to the list
    log : records the fingerprints of what is read
    """
    workers = 1 if cleaning.tokenizer is not None else thread_count(n_threads)
    lexicons = [] if lexicons is None else lexicons
    lexicons += [Lexicon(cleaning) for _ in range(workers - len(lexicons))]
    idle: queue.SimpleQueue[Lexicon] = queue.SimpleQueue()
    for lexicon in lexicons:
        idle.put(lexicon)

    def tokenise(batch: Batch) -> tuple[TokenBatch, int, str, Digest]:
        digest = Digest() if log is None else Digest.of_texts(batch.data, batch.offsets)
        lexicon = idle.get()
        try:
            return TokenBatch(lexicon, *lexicon.read(batch), batch.kept), batch.consumed, batch.source, digest
        finally:
            idle.put(lexicon)

    for tokens, consumed, name, digest in streamed(tokenise, source.batches(), workers):
        if log is not None:
            log.add(name, tokens.lengths.size, tokens.ids.size, digest)
        if report is not None:
            report("reading", consumed, source.size)
        yield tokens
