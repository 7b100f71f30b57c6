"""Edits of a model that people make: merged, split, seeded topics and banned words, with a refit in seconds."""

from fdmix.edits.before_after import OneSide, StepStory, TopicChange
from fdmix.edits.changes import Changes, WordControl
from fdmix.edits.editor import Edited, Editor, edit, replayed
from fdmix.edits.storing import last_story

__all__ = [
    "Changes", "Edited", "Editor", "OneSide", "StepStory", "TopicChange", "WordControl", "edit", "last_story",
    "replayed",
]  # fmt: skip
