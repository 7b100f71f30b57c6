"""Names of the files that a model was made from, for its provenance: without folders, addresses and secrets."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from fdmix.corpus.corpus import Corpus
from fdmix.display import storable
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.text.files import STDIN

MAX_NAMES = 1_000  # a model folder is shared: it does not list every file of a large folder


def with_sources(mixture: Mixture, learned: Corpus | Moments) -> Mixture:
    """The mixture, whose provenance names the files of the corpus or of the moments."""
    if isinstance(learned, Moments):
        paths = [source.name for source in learned.ledger.sources.values()]
    else:
        paths = [str(path) for path in (learned.documents or {}).get("file", ())]
    names = sorted({public_name(path) for path in paths} - {""})
    if not names:
        return mixture
    return replace(mixture, provenance={**mixture.provenance, "sources": names[:MAX_NAMES]})


def public_name(path: str) -> str:
    """The last part of a path or address: folders name people and machines, and addresses can hold keys.

    >>> public_name("/home/ada/letters.csv"), public_name("s3://key:secret@bucket/a/letters.csv?signature=1")
    ('letters.csv', 'letters.csv')
    """
    if path == STDIN:
        return "standard input"
    if "://" in path:
        path = urlsplit(path).path
    return storable(path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].split("?", 1)[0])
