"""Edits of a model that people make: merged, split, seeded topics and banned words, with a refit in seconds."""

from fdmix.edits.changes import Changes, WordControl
from fdmix.edits.editor import Edited, Editor, edit, replayed

__all__ = ["Changes", "Edited", "Editor", "WordControl", "edit", "replayed"]
