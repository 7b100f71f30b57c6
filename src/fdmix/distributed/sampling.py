"""A sample of documents on a cluster, chosen by hashes of their texts: the same documents on every cluster."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from fdmix.distributed.engines import SPLIT_EVERY, opened
from fdmix.distributed.partitions import Report
from fdmix.distributed.tokens import source_of_partition
from fdmix.runtime.whole_numbers import whole_number
from fdmix.text.layouts import Layout
from fdmix.text.sources import Files


def sample(
    documents: Any,
    n: int,
    *,
    column: str | None = None,
    seed: int = 0,
    engine: str | None = None,
    cluster: str | None = None,
    split_every: int = SPLIT_EVERY,
    report: Report | None = None,
) -> list[str]:
    """The texts of n documents, those with the smallest hashes of (seed, text), in the order of the hashes.

    The same documents are chosen whatever the partitions and their order, on any engine. Copies of a text have the
    same hash, so all of them are chosen or none (but for the last text, which is cut to n). For `fit_documents` on a
    corpus that one machine cannot hold:

        moments = count_moments(frame, preset="tweets")
        corpus = read_corpus(sample(frame, 200_000), like=moments)
        solution = fit_documents(corpus, 100)

    documents, column, engine, cluster, split_every, report : as in `count_moments`
    """
    layout = documents.layouts[0] if isinstance(documents, Files) else Layout(column)
    work = SamplePartition(whole_number("n", n, least=1), whole_number("seed", seed), layout)
    where: dict[str, Any] = {"engine": engine, "cluster": cluster, "split_every": split_every, "report": report}
    with opened(documents, layout, **where) as partitions:
        (chosen,) = partitions.summed(work, "sampling") or work(None)
    return chosen.texts()


@dataclass(frozen=True)
class Sample:
    """The texts with the smallest hashes: `chosen[hash]` is a text and how many documents have it."""

    n: int
    chosen: dict[bytes, tuple[str, int]]

    def __add__(self, other: Sample) -> Sample:
        total = dict(self.chosen)
        for key, (text, copies) in other.chosen.items():
            total[key] = (text, copies + (total[key][1] if key in total else 0))
        return Sample(self.n, total).cut()

    def cut(self) -> Sample:
        """Without the texts that cannot be among the n documents, because those before them are n already."""
        kept: dict[bytes, tuple[str, int]] = {}
        before = 0
        for key in sorted(self.chosen):
            if before >= self.n:
                break
            kept[key] = self.chosen[key]
            before += kept[key][1]
        return Sample(self.n, kept)

    def texts(self) -> list[str]:
        """The documents, copies included."""
        ordered = [text for key in sorted(self.chosen) for text in [self.chosen[key][0]] * self.chosen[key][1]]
        return ordered[: self.n]


@dataclass(frozen=True)
class SamplePartition:
    """The candidates of one partition."""

    n: int
    seed: int
    layout: Layout

    def __call__(self, content: Any) -> list[Sample]:
        """The n documents of the partition with the smallest hashes; texts without a character are left out."""
        total = Sample(self.n, {})
        salt = self.seed.to_bytes(8, "little", signed=True)
        for batch in source_of_partition(content, self.layout).batches():
            found: dict[bytes, tuple[str, int]] = {}
            for text in filter(None, batch.texts()):
                key = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16, salt=salt).digest()
                found[key] = (text, found[key][1] + 1 if key in found else 1)
            total = total + Sample(self.n, found).cut()
        return [total]
