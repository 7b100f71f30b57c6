"""The commands of the program. The file of a command is imported when the command runs, not before.

So `fdmix --help` takes a fraction of a second, although most commands need numba, SciPy and Arrow.
"""

from __future__ import annotations

import re
import shlex
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# The name of a command, which is also that of its file and of its function, and the first line of its help.
PANELS = {
    "First steps": {
        "demo": "Learn topics from the docstrings of the Python packages on this machine.",
        "fit": "Learn topics from text, from files of moments, or from folders of either.",
        "topics": "Show the topics of a model: words, shares, and which topics occur together.",
        "report": "Write a report of the topics: one HTML file to look at and to send.",
        "assign": "Find the topics of documents: the main topic of each, its words and its share.",
    },
    "Better topics": {
        "choose": "Choose the number of topics by the score of left-out documents.",
        "label": "Store labels of topics in the model: from a file, or from a language model.",
        "edit": "Change the topics of a model: merge, split, drop, seed, ban, and refit.",
        "refine": "Improve a model by LDA sampling over documents, until the held-out score stops improving.",
        "update": "Add documents to the moments of a model, and refit it from its topics.",
        "forget": "Remove documents from the moments of a model, and fit it without them.",
    },
    "Questions to a model": {
        "over": "Show the shares of topics over time and groups, with error bars.",
        "effects": "Regress the shares of topics in documents on their columns, such as party and date.",
        "plot": "Draw a figure of a model, for a paper or a slide.",
        "reliability": "Measure how sure the topics are, and store it in the model.",
        "evaluate": "Score models on documents they were not fitted to.",
        "compare": "Compare topic models on the same documents: scores, time and memory.",
        "info": "Show what a model or a file of moments holds, and where it comes from.",
    },
    "Moments: counts of word pairs, which add up": {
        "count": "Count the word pairs of text into a file of moments.",
        "merge": "Add files of moments: exact sums, whatever their order.",
        "subtract": "Remove documents from moments, exactly.",
        "prune": "Leave rare and very common words out of moments, or rare pairs.",
    },
    "The paper": {
        "reproduce": "Reproduce the paper's experiments: tables, figures, and its numbers beside ours.",
    },
}
COMMANDS = {name: text for panel in PANELS.values() for name, text in panel.items()}
NEEDED = {  # by the word for a number in the messages of typer, old and new
    "integer": "it must be a whole number, such as 20",
    "number": "it must be a number, such as 0.5",
    "float": "it must be a number, such as 0.5",
}
MISSING = {  # what to type where something is missing whose own help text does not say enough
    "topics": "How many topics? For example: --topics 20",
    "kind": "Such as bars, map or tree; fdmix plot --help explains each",
}
USAGE_ERROR: Any = typer.BadParameter.__base__  # of which library, depends on the version of typer
ROOT = Path(__file__).parents[3]  # of a clone


def has_experiments() -> bool:
    """Whether the paper's experiments are there; an installed wheel does not contain them."""
    return (ROOT / "experiments" / "results.py").is_file()


def _readable(parameters: list[Any]) -> list[Any]:
    """Parameters whose help shows no types of Python: newer versions of typer write <bool> and <list[str]>."""
    for each in parameters:
        if each.param_type_name == "argument":
            each.display_type_rich = lambda **_: None
        elif each.is_flag and each.metavar is None:
            each.metavar = ""
    return parameters


def _said(message: str) -> str:
    """What is wrong with a value, in words that do not depend on the version of typer."""
    for kind, needed in NEEDED.items():
        if f"valid {kind}" in message:
            return needed
    plain = re.sub(r"(greater|less) than or equal to (\S+)", _limit, message)
    return plain.replace("Input should be", "it must be")


def _limit(found: re.Match[str]) -> str:
    return f"{found[2]} or {'more' if found[1] == 'greater' else 'less'}"


class ReadableCommand(TyperCommand):
    """A command whose help shows no types of Python and no braces, and which says plainly what a value must be."""

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """Parse the arguments."""
        try:
            return super().make_context(*arguments, **settings)
        except typer.BadParameter as error:
            if error.message:
                error.message = _said(error.message)
            elif error.param is not None:  # it is missing
                error.message = MISSING.get(str(error.param.name), getattr(error.param, "help", None) or "")
            raise

    def get_params(self, ctx: Any) -> Any:
        """Arguments and options."""
        return _readable(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line: FILES... where newer versions of typer write {FILES}..."""
        pieces = super().collect_usage_pieces(ctx)
        return [piece.replace("{", "").replace("}", "").replace("......", "...") for piece in pieces]


class LazyCommand(TyperCommand):
    """A command of which only the name and the first line of its help are known until it runs."""

    @cached_property
    def loaded(self) -> Any:
        """The command itself, with all of its options."""
        from fdmix.cli.options import with_readable_values  # noqa: PLC0415  (slow to import)

        name = str(self.name)
        single = typer.Typer(add_completion=False, context_settings=dict(self.context_settings))
        single.command(name, cls=ReadableCommand)(
            with_readable_values(getattr(import_module(f"fdmix.cli.{name}"), name))
        )
        return typer.main.get_command(single)

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """What the program calls to run a command, or to show its help."""
        return self.loaded.make_context(*arguments, **settings)


class LazyCommands(TyperGroup):
    """All commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {
            name: LazyCommand(
                name=name, help=text, rich_help_panel=panel, context_settings=dict(self.context_settings)
            )
            for panel, commands in PANELS.items()
            for name, text in commands.items()
            if name != "reproduce" or has_experiments()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant; who names a file first wants topics of it."""
        try:
            return super().resolve_command(ctx, args)
        except USAGE_ERROR as error:
            if args and Path(args[0]).exists():
                error.message += f" To learn topics from it: fdmix fit {shlex.quote(args[0])} --topics 20 -o model"
            raise

    def get_params(self, ctx: Any) -> Any:
        """The options of the program itself."""
        return _readable(super().get_params(ctx))
