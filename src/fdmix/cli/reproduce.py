"""reproduce: the paper's experiments. They are in the source tree only, so an installed wheel has no such command."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.commands import ROOT
from fdmix.cli.console import say
from fdmix.cli.inputs import require_local

PARTS = ("matrix", "theory", "synthetic", "papers", "tweets", "graphs", "consistency")
INSTALL = "pip install -e '.[plots,lda]'"
Part = Annotated[str, typer.Argument(help=f"One of {', '.join(PARTS)}, or all.", metavar="PART")]


def reproduce(
    part: Part = "all",
    scale: Annotated[str, typer.Option(help="small (minutes, no data needed) or paper (hours).")] = "small",
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="FDMIX_DATA",
            help="Folder with the corpora of the paper scale: mlpapers.npz or papers.csv, and tweets.parquet.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for results; a finished part is not repeated.")] = Path("results"),
    mallet: Annotated[
        Path | None, typer.Option(help="MALLET's command (bin/mallet), to compare with it, too.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Run this method only (repeatable). Tables show what is stored of others."),
    ] = None,
) -> None:
    """Reproduce the paper's experiments: tables, figures, and its numbers beside ours.

    Resumes if interrupted: a finished experiment is not repeated.

    Examples:

      fdmix reproduce matrix

      fdmix reproduce all --scale paper --data data --out results

      fdmix reproduce synthetic --scale paper --data data --method FDM --method "EP, L2"
    """
    if part not in (*PARTS, "all"):
        raise ValueError(f"there is no experiment {part!r}; there are {', '.join(PARTS)}, or all")
    if scale not in ("small", "paper"):
        raise ValueError(f"--scale is small or paper, not {scale!r}")
    require_local(out)
    program = None if mallet is None else _program(mallet)
    results = _experiments("results")
    folder = out.resolve() / scale
    data = None if data is None else data.resolve()
    chosen = PARTS if part == "all" else (part,)
    begin = time.monotonic()
    missing = []
    for number, name in enumerate(chosen):
        if results.finished(folder / name, scale, [] if program is None else ["MALLET"]):
            say(f"{name}: done already, in {folder / name}")
            continue
        say(f"{name} ({number + 1} of {len(chosen)})")
        try:
            _run(name, scale, folder / name, data, {"mallet": program, "methods": method})
        except FileNotFoundError as error:
            if type(error).__name__ != "MissingDataError":
                raise
            missing.append(f"{name}: {error}")
        say(f"{name}: {time.monotonic() - begin:.0f} s since the beginning")
    page = results.write_page(folder)
    say("\n".join([*missing, f"Wrote {page}"]))
    if missing:
        raise typer.Exit(1)


def _program(mallet: Path) -> str:
    """The whole path of MALLET's command: experiments run in other folders."""
    found = shutil.which(mallet)
    if found is None:
        raise FileNotFoundError(f"there is no MALLET at {mallet}: give the path of its bin/mallet")
    return str(Path(found).absolute())


def _run(name: str, scale: str, folder: Path, data: Path | None, options: dict[str, Any]) -> None:
    experiment = _experiments(f"{'heldout' if name in ('papers', 'tweets') else name}.run")
    if name in ("papers", "tweets"):
        options = options | {"name": name}
    experiment.run(scale, folder, data, lambda text: say(f"  {text}"), **options)


def _experiments(module: str) -> Any:
    for package in ("tomotopy", "matplotlib"):  # checked first, because an experiment needs them after an hour
        if importlib.util.find_spec(package) is None:
            raise ImportError(f"fdmix reproduce needs {package}: {INSTALL} in the source tree")
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return importlib.import_module(f"experiments.{module}")
