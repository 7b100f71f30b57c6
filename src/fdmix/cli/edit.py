"""edit: change the topics of a model, with a refit in seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cli.changed import say_changes, show_topics
from fdmix.cli.console import print_json, say, timed
from fdmix.cli.edit_options import (
    AskApart,
    AskBan,
    AskDrop,
    AskFreeze,
    AskMerge,
    AskPin,
    AskRename,
    AskSeed,
    AskSplit,
    AskTogether,
    list_of,
    named_words,
    seeds_of,
    topic_and_text,
    words_of,
)
from fdmix.cli.inputs import check_model_output
from fdmix.cli.moments_of_model import MomentsOfModel, moments_of_model
from fdmix.cli.options import AsJson, Force, Model, Threads
from fdmix.cli.question_tables import columns_of_changes
from fdmix.cli.table_files import TableFile, check_table_file, write_table
from fdmix.edits import Edited, Editor, replayed
from fdmix.edits.editor import PASSES
from fdmix.mixture.mixture import Mixture


def edit(
    model: Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model folder to write.")],
    moments: MomentsOfModel = None,
    merge: AskMerge = None,
    split: AskSplit = None,
    drop: AskDrop = None,
    seed: AskSeed = None,
    ban: AskBan = None,
    together: AskTogether = None,
    apart: AskApart = None,
    freeze: AskFreeze = None,
    rename: AskRename = None,
    pin: AskPin = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the last step of edits, exactly.", metavar="")
    ] = False,
    replay: Annotated[
        Path | None, typer.Option(help="Repeat the edits of another model, on the model that they began with.")
    ] = None,
    others: Annotated[
        str,
        typer.Option(
            help="Which other topics may move: near (those nearest to seeded, new and dropped topics), stay (none), "
            "follow (all)."
        ),
    ] = "near",
    passes: Annotated[int, typer.Option(min=1, help="Passes of the refit.")] = PASSES,
    table: TableFile = None,
    threads: Threads = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Change the topics of a model: merge, split, drop, seed, ban, and refit.

    The refit takes a second or two after the word pairs are set up. Edits are
    done in the order of the lists below, and each may be given several times.
    Topics are named by their numbers before the edits; a topic that no edit
    concerns keeps its number. Words with blanks are separated by commas.

    The edits are kept in the model: --undo takes the last step back.

    Examples:

      fdmix edit model --moments all.moments --merge 3,7 --split 12 -o new

      fdmix edit model --seed "climate: carbon warming" --ban lol -o new

      fdmix edit new --undo -o before
    """
    given: dict[str, list[str]] = {
        "merge": merge or [], "split": split or [], "drop": drop or [], "seed": seed or [], "ban": ban or [],
        "together": together or [], "apart": apart or [], "freeze": freeze or [], "rename": rename or [],
        "pin": pin or [],
    }  # fmt: skip
    _refuse_mixed_requests(given, undo, replay)
    check_model_output(out, force)
    if table is not None:
        if undo:
            raise ValueError("--table writes what edits changed: it does not go with --undo")
        check_table_file(table, force)
    with timed() as seconds:
        now = Edited.load(model, moments_of_model(model, moments), n_threads=threads)
        before = now.mixture
        if undo:
            now = now.undo()
        elif replay is not None:
            now = _replayed(now, replay)
        else:
            editor = _asked(now.edit(), given)
            now.workspace.log_likelihood(editor.mixture)  # sets up the pairs, so that the time below is the refit's
            begin = seconds()
            now = editor.fit(passes, others)
            say(f"Refitted in {seconds() - begin:.1f} s, after {begin:.1f} s to set up the word pairs.")
    now.save(out)
    _show(before, now, out, as_json)
    if table is not None and now.changes is not None:
        write_table(table, columns_of_changes(now.changes.topics))
        say(f"Wrote {table}: the topics that changed, before and after.")


def _refuse_mixed_requests(given: dict[str, list[str]], undo: bool, replay: Path | None) -> None:
    if undo + (replay is not None) + any(given.values()) > 1:
        raise ValueError("--undo, --replay and new edits do not go together: do one after the other")
    if not (undo or replay is not None or any(given.values())):
        raise ValueError("say what to change, such as --merge 3,7 or --ban lol (fdmix edit --help lists all edits)")


def _asked(editor: Editor, given: dict[str, list[str]]) -> Editor:
    """The editor with the edits of the command line, kind by kind."""
    for text in given["merge"]:
        editor = editor.merge(*list_of(text, "--merge"))
    for text in given["split"]:
        for topic in list_of(text, "--split"):
            editor = editor.split(topic)
    for text in given["drop"]:
        for topic in list_of(text, "--drop"):
            editor = editor.drop(topic)
    for text in given["seed"]:
        editor = editor.seed(seeds_of(text))
    for text in given["ban"]:
        only, words = named_words(text)
        editor = editor.ban(*words, topic=only)
    for text in given["together"]:
        editor = editor.together(*words_of(text))
    for text in given["apart"]:
        editor = editor.apart(*words_of(text))
    for text in given["freeze"]:
        editor = editor.freeze(*list_of(text, "--freeze"))
    for text in given["rename"]:
        editor = editor.rename(*topic_and_text(text, "--rename"))
    for text in given["pin"]:
        editor = editor.pin(*list_of(text.replace("=", ","), "--pin", most=2))
    return editor


def _replayed(now: Edited, replay: Path) -> Edited:
    other = Edited.load(replay, now.workspace.moments)
    if not other.log.steps:
        raise ValueError(f"{replay} has no edits to do again")
    return replayed(now.mixture, other.log, now.workspace)


def _show(before: Mixture, now: Edited, out: Path, as_json: bool) -> None:
    if as_json:
        facts: dict[str, Any] = {"model": str(out), "steps": len(now.log.steps)}
        if now.changes is not None:
            facts |= {name: getattr(now.changes, name) for name in ("new", "gone", "touched", "missing", "cost")}
            facts |= {"renumbered": {str(old): new for old, new in now.changes.renumbered.items()}}
            facts |= {"moved": {str(topic): distance for topic, distance in now.changes.moved}}
            facts |= {"words": [vars(word) for word in now.changes.words]}
        print_json(facts)
    elif now.changes is not None:
        show_topics(now.mixture, now.changes)
        say_changes(now.changes)
    steps = len(now.log.steps)
    say(f"Wrote {out}: {steps} step{'' if steps == 1 else 's'} of edits since the model that it began with.")
