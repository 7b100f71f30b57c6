"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.preparation import Cleaning
from fdmix.text.cleaning import cleaning_of
from fdmix.text.files import Layout

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Column = Annotated[str | None, typer.Option(help="Column of a table that holds the text.")]
Split = Annotated[str | None, typer.Option(help="A document per line, paragraph or file: lines, paragraphs, files.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of text files (default: UTF-8).")]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="Threads (default: all cores).")]
Force = Annotated[bool, typer.Option("--force", help="Replace the result if it exists already.")]
Inputs = Annotated[list[str], typer.Argument(help="Files, folders or globs; - is standard input.")]
Model = Annotated[Path, typer.Argument(help="Model folder, as written by `fdmix fit`.")]

TEXT: dict[str, tuple[Any, Any]] = {
    "column": (Column, None),
    "split": (Split, None),
    "encoding": (Encoding, None),
    "preset": (Annotated[str | None, typer.Option(help="Recipe of cleaning: papers, tweets or plain.")], None),
    "stop_words": (
        Annotated[str | None, typer.Option(help="A language, a file of words, auto or none (default: auto).")],
        None,
    ),
    "stem": (Annotated[str | None, typer.Option(help="Stem words: a language of Snowball, or none.")], None),
    "min_count": (
        Annotated[
            int | None,
            typer.Option(min=1, help="Leave out words seen less often (default: 5; 1 below 1,000 documents)."),
        ],
        None,
    ),
    "max_words": (Annotated[int | None, typer.Option(min=1, help="Keep the most frequent words.")], None),
    "max_share": (
        Annotated[float | None, typer.Option(help="Leave out words in more than this share of documents.")],
        None,
    ),
    "min_tokens": (Annotated[int | None, typer.Option(min=0, help="Leave out documents with fewer tokens.")], None),
    "min_letters": (Annotated[int | None, typer.Option(min=0, help="Leave out shorter tokens (default: 2).")], None),
    "ngrams": (Annotated[int | None, typer.Option(min=1, help="Count runs of up to so many words, too.")], None),
    "phrases": (Annotated[bool | None, typer.Option(help="Join words that stick together.")], None),
    "lowercase": (Annotated[bool | None, typer.Option(help="Fold case (default: yes).")], None),
    "numbers": (Annotated[bool | None, typer.Option(help="Keep numbers (default: no).")], None),
    "urls": (Annotated[bool | None, typer.Option(help="Keep URLs (default: no).")], None),
    "mentions": (Annotated[bool | None, typer.Option(help="Keep @names (default: no).")], None),
    "entities": (Annotated[bool | None, typer.Option(help="Keep &amp; and its like (default: no).")], None),
    "non_ascii": (
        Annotated[bool | None, typer.Option(help="Keep words that are not ASCII (default: yes).")],
        None,
    ),
}
KEPT = ("numbers", "urls", "mentions", "entities", "non_ascii")


@dataclass(frozen=True)
class TextOptions:
    """How text lies in files and how it is cleaned."""

    layout: Layout
    cleaning: Cleaning
    given: bool  # whether anything about the cleaning was said

    def with_open_vocabulary(self) -> Cleaning:
        """The cleaning for a count that keeps every word."""
        return replace(self.cleaning, open_vocabulary=True)

    @classmethod
    def of(cls, given: dict[str, Any]) -> TextOptions:
        """From the command line's options."""
        layout = Layout(given.pop("column"), (), given.pop("split"), given.pop("encoding"))
        preset = given.pop("preset")
        kept = {name: given.pop(name) for name in KEPT}
        steps = {name: value for name, value in given.items() if value is not None}
        for name in ("stop_words", "stem"):
            if steps.get(name) == "none":
                steps[name] = None
        steps |= {f"drop_{name}": not keep for name, keep in kept.items() if keep is not None}
        return cls(layout, cleaning_of(preset, steps), preset is not None or bool(steps))


def with_text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that takes `text: TextOptions` all options of text in its place."""

    @wraps(command)
    def wrapped(**given: Any) -> Any:
        text = TextOptions.of({name: given.pop(name) for name in TEXT})
        return command(text=text, **given)

    own = inspect.signature(command, eval_str=True).parameters
    kept = [parameter for name, parameter in own.items() if name != "text"]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in TEXT.items()
    ]
    everything = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in kept] + options
    wrapped.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in everything}
    return wrapped
