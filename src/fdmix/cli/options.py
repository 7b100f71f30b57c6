"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.models import OptionInfo

from fdmix.cli.console import say
from fdmix.corpus.preparation import Cleaning
from fdmix.mixture.ranking import relevance_weight
from fdmix.storage.places import place_of
from fdmix.text.cleaning import cleaning_of, names_a_file
from fdmix.text.files import Layout

PLACE, CLEANING, SWITCHES, WORDS = (
    "Where the text is",
    "Cleaning",
    "Cleaning, yes or no",
    "Words and documents to keep",
)
VALUES: dict[Any, str] = {int: "N", float: "NUMBER", Path: "PATH", str: "TEXT", bool: ""}  # how help names them


def _option(kind: Any, help: str, panel: str | None = None, value: str | None = None, **more: Any) -> Any:
    """The type of an option that may be left out."""
    shown = VALUES[kind] if value is None else value
    return Annotated[kind | None, typer.Option(help=help, rich_help_panel=panel, metavar=shown, **more)]


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.", metavar="")]
Column = _option(str, "Column that holds the text (default: the one called text, or the only one).", PLACE, "NAME")
Delimiter = _option(
    str, "What separates the columns of CSV files; 'tab' for tabs (default: detected).", PLACE, "CHAR"
)
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header", help="The first row of CSV files is data: columns are called 1, 2, ...",
        rich_help_panel=PLACE, metavar="",
    ),
]  # fmt: skip
Split = _option(
    str, "A document is one of: lines, paragraphs, files (default: files in a folder and web pages, else lines).",
    PLACE, "NAME",
)  # fmt: skip
Encoding = _option(str, "Encoding of text files (default: UTF-8).", PLACE, "NAME")
Threads = _option(int, "Threads (default: all cores).", min=1)
Engine = Annotated[
    str,
    typer.Option(
        help="What computes: auto (the CPU), numba, numpy, torch (GPUs), or with lower precision torch-tf32, "
        "torch-bfloat16.",
        metavar="NAME",
    ),
]
Device = Annotated[
    str,
    typer.Option(help="Where --engine torch computes: auto, cuda, cuda:1, mps or cpu.", metavar="NAME"),
]
DocumentEngine = Annotated[
    str,
    typer.Option("--engine", help="What computes: auto (the CPU) or torch (GPUs).", metavar="NAME"),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the result if it exists already.", metavar="")]
Again = Annotated[bool, typer.Option("--again", help="Count a source even if it was counted already.", metavar="")]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Keep within about this much memory, such as 2GB; the rest goes to the disk."),
]
Weighting = Annotated[
    str | None,
    typer.Option(
        help="tokens: longer documents count more (the default). paper: each document counts once.",
        metavar="NAME",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="File to write.", metavar="FILE")]
Inputs = Annotated[
    list[str], typer.Argument(help="Files, folders, globs, URLs; - is standard input.", metavar="FILES")
]
Ranking = _option(
    str, "Which words describe a topic: probability, relevance, exclusive, or the weight of probability in the "
    "relevance, from 0 to 1 (default: the weight that the fit chose).", None, "RANKING",
)  # fmt: skip
Model = Annotated[Path, typer.Argument(help="Model folder, as written by `fdmix fit`.", metavar="MODEL")]

LAYOUT: dict[str, tuple[Any, Any]] = {
    "column": (Column, None),
    "split": (Split, None),
    "encoding": (Encoding, None),
    "delimiter": (Delimiter, None),
    "no_header": (NoHeader, False),
}
CLEANINGS: dict[str, tuple[Any, Any]] = {
    "preset": (
        _option(
            str,
            "Rules for a kind of text: papers, tweets or plain; paper-papers and paper-tweets as in the paper on "
            "FDM. Other options change single rules.",
            CLEANING, "NAME",
        ),
        None,
    ),
    "stop_words": (
        _option(
            str,
            "Words to leave out: of a language, auto to find the language, none, or a file that replaces all lists "
            "(default: auto).",
            CLEANING, "NAME|FILE",
        ),
        None,
    ),
    "add_stop_words": (_option(str, "More words to leave out: a file, or rt,amp.", CLEANING, "WORDS|FILE"), None),
    "stem": (_option(str, "Stem words: a language of Snowball, or none (default: none).", CLEANING, "NAME"), None),
    "min_letters": (_option(int, "Leave out shorter tokens (default: 2).", CLEANING, min=0), None),
    "lowercase": (_option(bool, "Turn words into lower case (default: yes).", SWITCHES), None),
    "numbers": (_option(bool, "Keep numbers (default: no).", SWITCHES), None),
    "urls": (_option(bool, "Keep URLs (default: no).", SWITCHES), None),
    "mentions": (_option(bool, "Keep @names (default: no).", SWITCHES), None),
    "entities": (_option(bool, "Keep HTML entities such as &amp; (default: no).", SWITCHES), None),
    "non_ascii": (_option(bool, "Keep words that are not ASCII (default: yes).", SWITCHES), None),
    "phrases": (_option(bool, "Join neighbouring words that form phrases (default: no).", SWITCHES), None),
    "min_count": (
        _option(int, "Leave out words seen less often (default: 5, or 1 under 1,000 documents).", WORDS, min=1), None
    ),
    "drop_most_common": (
        _option(int, "Leave out the N most frequent words (default: 0).", WORDS, min=0), None
    ),
    "max_words": (_option(int, "Keep the N most frequent words (default: all).", WORDS, min=1), None),
    "max_share": (_option(float, "Leave out words in more than this share of documents.", WORDS, "SHARE"), None),
    "ngrams": (_option(int, "Count runs of up to N words as words, too (default: 1).", WORDS, min=1), None),
    "min_tokens": (_option(int, "Leave out documents with fewer tokens (default: 0).", WORDS, min=0), None),
}  # fmt: skip
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
        layout = _layout({name: given.pop(name) for name in LAYOUT})
        preset = given.pop("preset")
        kept = {name: given.pop(name) for name in KEPT}
        steps = {name: value for name, value in given.items() if value is not None}
        for name in ("stop_words", "stem"):
            if steps.get(name) == "none":
                steps[name] = None
        steps |= {f"drop_{name}": not keep for name, keep in kept.items() if keep is not None}
        cleaning = cleaning_of(preset, steps)
        if names_a_file(steps.get("stop_words")) and "add_stop_words" not in steps:
            say("The file of --stop-words replaces all lists: use --add-stop-words to add to a language's list.")
        return cls(layout, cleaning, preset is not None or bool(steps))


def ranking_of(given: str | None) -> str | float | None:
    """The value of --ranking as `Mixture.top_words` takes it: a name, a number, or None."""
    try:
        ranking: str | float | None = given if given is None else float(given)
    except ValueError:
        ranking = given
    relevance_weight(ranking, None)  # refuses what is no ranking
    return ranking


def with_text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that takes `text: TextOptions` all options of text in its place."""
    return _with_options(command, "text", LAYOUT | CLEANINGS, TextOptions.of)


def with_layout(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that takes `layout: Layout` the options that say where the text is in its place."""
    return _with_options(command, "layout", LAYOUT, _layout)


def _layout(given: dict[str, Any]) -> Layout:
    column, split, encoding, delimiter, no_header = (given[name] for name in LAYOUT)
    return Layout(column, (), split, encoding, delimiter, header=not no_header)


def _with_options(
    command: Callable[..., Any],
    place: str,
    options: dict[str, tuple[Any, Any]],
    made: Callable[[dict[str, Any]], Any],
) -> Callable[..., Any]:
    """Give a command options in the place of one parameter, which gets what is made of their values."""

    @wraps(command)
    def wrapped(**given: Any) -> Any:
        return command(**{place: made({name: given.pop(name) for name in options})}, **given)

    own = inspect.signature(command, eval_str=True).parameters
    kept = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for name, each in own.items() if name != place]
    everything = kept + [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in options.items()
    ]
    wrapped.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in everything}
    return wrapped


def with_readable_values(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the options of a command readable names of their values in the help, such as N for a whole number."""
    parameters = inspect.signature(command, eval_str=True).parameters
    for parameter in parameters.values():
        _name_value(parameter.annotation)
    return _with_places(command, list(parameters.values()))


def _with_places(command: Callable[..., Any], parameters: list[inspect.Parameter]) -> Callable[..., Any]:
    """Let all parameters of type Path take URLs, too: typer passes them as strings, the command gets places."""
    paths = {each.name for each in parameters if Path in _types(each.annotation)}

    @wraps(command)
    def wrapped(**given: Any) -> Any:
        return command(**{name: _place(value) if name in paths else value for name, value in given.items()})

    as_text = [each.replace(**_as_text(each)) if each.name in paths else each for each in parameters]
    wrapped.__signature__ = inspect.Signature(as_text)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in as_text}
    return wrapped


def _place(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [place_of(each) for each in value]
    return None if value is None else place_of(value)


def _types(annotation: Any) -> list[Any]:
    """The types that an annotation is made of: Path in Annotated[list[Path] | None, ...]."""
    inner = get_args(annotation)
    if not inner:
        return [annotation]
    return [each for part in (inner[:1] if hasattr(annotation, "__metadata__") else inner) for each in _types(part)]


def _as_text(parameter: inspect.Parameter) -> dict[str, Any]:
    """Annotation and default of a parameter with str in the place of Path."""
    annotation: Any = parameter.annotation
    shape = annotation.__origin__
    is_list = any(get_origin(part) is list for part in (shape, *get_args(shape)))
    text: Any = list[str] if is_list else str
    text = text | None if type(None) in _types(shape) else text
    default = str(parameter.default) if isinstance(parameter.default, Path) else parameter.default
    return {"annotation": Annotated[(text, *annotation.__metadata__)], "default": default}


def _name_value(annotation: Any) -> None:
    for option in getattr(annotation, "__metadata__", ()):
        kind = next(
            (kind for kind in (annotation.__origin__, *get_args(annotation.__origin__)) if kind in VALUES), None
        )
        if isinstance(option, OptionInfo) and option.metavar is None and kind is not None:
            option.metavar = VALUES[kind]
