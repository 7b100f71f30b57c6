"""The README.md of a model folder: fdmix writes the part between two comments; everything else belongs to people."""

from __future__ import annotations

from pathlib import Path

from fdmix.storage.remote_path import RemotePath

CARD_FILE = "README.md"
BEGIN = "<!-- fdmix writes this part when the model is saved. Your own text above and below it is kept. -->"
END = "<!-- end of the part that fdmix writes -->"
MAX_BYTES = 16_000_000  # a longer file is not a card of fdmix, and is left alone


def updated_card(path: Path | RemotePath, head: str, part: str) -> str | None:
    """The text to write to the card at `path`, or None to leave the file as it is.

    A new card is the head and the part, marked by two comments. In an existing one, only what lies between the
    comments changes. A card without them was written by a person, so it stays as it is.
    """
    marked = f"{BEGIN}\n\n{part.strip()}\n\n{END}\n"
    if not path.exists():
        return f"{head.strip()}\n\n{marked}"
    before = _text(path)
    if before is None or before.count(BEGIN) != 1 or before.count(END) != 1:
        return None
    above, rest = before.split(BEGIN)
    if END not in rest:
        return None
    below = rest.split(END)[1]
    return above + marked.rstrip("\n") + below


def _text(path: Path | RemotePath) -> str | None:
    """The text of a file; None if it is not one that fdmix can have written."""
    try:
        if path.is_file() and path.stat().st_size <= MAX_BYTES:
            return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        pass
    return None
