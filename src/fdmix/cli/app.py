"""The program: its commands, and how it fails."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Annotated

import typer

import fdmix
from fdmix.cli.commands import LazyCommands
from fdmix.cli.streams import set_up_streams
from fdmix.display import for_terminal
from fdmix.runtime.processes import process_count, tell_launcher

app = typer.Typer(
    cls=LazyCommands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fdmix {fdmix.__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, metavar="", help="Show the version and stop."
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", metavar="", help="Show the full traceback of an error.")] = False,
) -> None:
    """Find the topics of a collection of texts.

    From text to topics, and to a report of them:

      fdmix fit reviews.csv --column text --topics 20 -o model

      fdmix report model --documents reviews.csv --column text -o report.html
    """
    command = context.invoked_subcommand
    if process_count() > 1 and command != "fit":
        raise ValueError(
            f"{process_count()} processes were started, as by torchrun, but only fdmix fit shares its work among "
            f"several: run fdmix {command} in one process"
        )


def _say(text: str, everywhere: bool = True) -> None:
    """Print a remark on standard error."""
    from fdmix.cli.console import say  # noqa: PLC0415  (slow to import, and most programs end without a remark)

    say(text, everywhere=everywhere)


class _LogLines(logging.Handler):
    """Prints the library's log as lines that are safe to print, above the bars of a job that is going on."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message, hidden characters written out."""
        _say(self.format(record), everywhere=False)


def main() -> None:
    """Run; an error is one or two sentences and exit code 1, wrong usage exit code 2."""
    set_up_streams()
    logging.basicConfig(format="%(message)s", handlers=[_LogLines()])
    logging.getLogger("fdmix").setLevel(logging.INFO)  # such as how much memory a large fit will take
    debug = "--debug" in sys.argv[1:]
    sys.argv = [sys.argv[0], *(argument for argument in sys.argv[1:] if argument != "--debug")]
    try:
        app()
    except SystemExit as ended:
        if _was_interrupted(ended):  # where no command has a better sentence, such as while it loads
            _say("Stopped before the end.")
        raise
    except Exception as error:
        if debug:
            _say(traceback.format_exc())
            sys.exit(1)
        expected = isinstance(error, ValueError | TypeError | OSError | ImportError | MemoryError | OverflowError)
        said = for_terminal(str(error).strip()) or type(error).__name__
        sentence = f"fdmix: {said}" if expected else f"fdmix: {type(error).__name__}: {said} (--debug shows where)"
        _say(sentence)
        if not isinstance(error, ConnectionError):  # the process that the others lost is the cause, not this one
            tell_launcher(sentence)
        sys.exit(1)


def _was_interrupted(ended: SystemExit) -> bool:
    """Whether the program ends because typer caught Ctrl-C; typer itself says nothing then."""
    return isinstance(getattr(ended.__context__, "__cause__", None), KeyboardInterrupt)
