"""The program: its commands, and how it fails."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Annotated

import typer

import fdmix
from fdmix.cli.assign import assign
from fdmix.cli.choose import choose
from fdmix.cli.compare import compare
from fdmix.cli.console import LogLines, say
from fdmix.cli.count import count
from fdmix.cli.demo import demo
from fdmix.cli.edit import edit
from fdmix.cli.evaluate import evaluate
from fdmix.cli.fit import fit
from fdmix.cli.forget import forget
from fdmix.cli.info import info
from fdmix.cli.label import label
from fdmix.cli.merge import merge
from fdmix.cli.options import with_readable_values
from fdmix.cli.over import over
from fdmix.cli.plot import plot
from fdmix.cli.prune import prune
from fdmix.cli.refine import refine
from fdmix.cli.reliability import reliability
from fdmix.cli.report import report
from fdmix.cli.reproduce import has_experiments, reproduce
from fdmix.cli.streams import set_up_streams
from fdmix.cli.subtract import subtract
from fdmix.cli.topics import topics
from fdmix.cli.update import update
from fdmix.display import for_terminal

app = typer.Typer(
    help="Learn topics from word pairs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo,
    count,
    merge,
    prune,
    subtract,
    choose,
    fit,
    refine,
    topics,
    reliability,
    over,
    report,
    plot,
    label,
    edit,
    update,
    forget,
    assign,
    evaluate,
    compare,
    info,
):
    app.command()(with_readable_values(command))
if has_experiments():  # an installed wheel does not contain them
    app.command()(with_readable_values(reproduce))


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fdmix {fdmix.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, metavar="", help="Show the version and stop."
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", metavar="", help="Show the full traceback of an error.")] = False,
) -> None:
    """Learn topics from word pairs.

    From text to topics in one step:  fdmix fit tweets.csv --column text --topics 50 -o model
    """


def main() -> None:
    """Run; an error is one or two sentences and exit code 1, wrong usage exit code 2."""
    set_up_streams()
    logging.basicConfig(format="%(message)s", handlers=[LogLines()])
    logging.getLogger("fdmix").setLevel(logging.INFO)  # such as how much memory a large fit will take
    debug = "--debug" in sys.argv[1:]
    sys.argv = [sys.argv[0], *(argument for argument in sys.argv[1:] if argument != "--debug")]
    try:
        app()
    except SystemExit as ended:
        if _was_interrupted(ended):  # where no command has a better sentence, such as while it loads
            say("Stopped before the end.", everywhere=True)
        raise
    except Exception as error:
        if debug:
            say(traceback.format_exc(), everywhere=True)
            sys.exit(1)
        expected = isinstance(error, ValueError | TypeError | OSError | ImportError | MemoryError | OverflowError)
        said = for_terminal(str(error).strip()) or type(error).__name__
        sentence = f"fdmix: {said}" if expected else f"fdmix: {type(error).__name__}: {said} (--debug shows where)"
        say(sentence, everywhere=True)
        sys.exit(1)


def _was_interrupted(ended: SystemExit) -> bool:
    """Whether the program ends because typer caught Ctrl-C; typer itself says nothing then."""
    return isinstance(getattr(ended.__context__, "__cause__", None), KeyboardInterrupt)
