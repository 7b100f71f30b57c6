"""The commands of the program. The file of a command is imported when the command runs, not before.

So `fdmix --help` takes a fraction of a second, although most commands need numba, SciPy and Arrow.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# The name of a command, which is also that of its file and of its function, and the first line of its help.
COMMANDS = {
    "demo": "Learn topics from the docstrings of the Python packages on this machine.",
    "count": "Count the word pairs of text into a file of moments.",
    "merge": "Add files of moments: exact sums, whatever their order.",
    "prune": "Leave rare and very common words out of moments, or rare pairs.",
    "subtract": "Remove documents from moments, exactly.",
    "choose": "Choose the number of topics by the score of left-out documents.",
    "fit": "Learn topics from text, from files of moments, or from folders of either.",
    "refine": "Improve a model by LDA sampling over documents, until the held-out score stops improving.",
    "topics": "Show the topics of a model: words, shares, and which topics occur together.",
    "reliability": "Measure how sure the topics are, and store it in the model.",
    "over": "Show the shares of topics over time and groups, with error bars.",
    "report": "Write a report of the topics: one HTML file to look at and to send.",
    "plot": "Draw a figure of a model, for a paper or a slide.",
    "label": "Store labels of topics in the model: from a file, or from a language model.",
    "edit": "Change the topics of a model: merge, split, drop, seed, ban, and refit.",
    "update": "Add documents to the moments of a model, and refit it from its topics.",
    "forget": "Remove documents from the moments of a model, and fit it without them.",
    "assign": "Find the topics of documents: the main topic of each, its words and its share.",
    "evaluate": "Score models on documents they were not fitted to.",
    "compare": "Compare topic models on the same documents: scores, time and memory.",
    "info": "Show what a model or a file of moments holds, and where it comes from.",
    "reproduce": "Reproduce the paper's experiments: tables, figures, and its numbers beside ours.",
}
ROOT = Path(__file__).parents[3]  # of a clone


def has_experiments() -> bool:
    """Whether the paper's experiments are there; an installed wheel does not contain them."""
    return (ROOT / "experiments" / "results.py").is_file()


class LazyCommand(TyperCommand):
    """A command of which only the name and the first line of its help are known until it runs."""

    @cached_property
    def loaded(self) -> Any:
        """The command itself, with all of its options."""
        from fdmix.cli.options import with_readable_values  # noqa: PLC0415  (slow to import)

        name = str(self.name)
        single = typer.Typer(add_completion=False, context_settings=dict(self.context_settings))
        single.command(name)(with_readable_values(getattr(import_module(f"fdmix.cli.{name}"), name)))
        return typer.main.get_command(single)

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """What the program calls to run a command, or to show its help."""
        return self.loaded.make_context(*arguments, **settings)


class LazyCommands(TyperGroup):
    """All commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {
            name: LazyCommand(name=name, help=text, context_settings=dict(self.context_settings))
            for name, text in COMMANDS.items()
            if name != "reproduce" or has_experiments()
        }
