"""label: give names to the topics of a model."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from fdmix.cli.console import out, say, steps
from fdmix.cli.options import Model, Threads, with_layout
from fdmix.display import for_terminal, shown_word
from fdmix.labelling import Answers, Endpoint, Question, ask_labels, questions_about
from fdmix.mixture.labels import read_labels
from fdmix.mixture.mixture import Mixture
from fdmix.report.representatives import representatives
from fdmix.storage.model_folder import writable_model_folder
from fdmix.text.layouts import Layout
from fdmix.text.sources import files_of

ASK = "Ask a language model"
KEYS = ("FDMIX_API_KEY", "OPENAI_API_KEY")
N_DOCUMENTS = 3  # of each topic that are sent, if documents may be sent
CTRL_C = 130  # exit code of a program that Ctrl-C ended


@with_layout
def label(
    model: Model,
    layout: Layout,
    labels: Annotated[
        Path | None, typer.Option("--from", help="JSON file of labels, as the report exports it.", metavar="FILE")
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(help="Server with OpenAI's chat completions, such as http://localhost:11434/v1.", metavar="URL",
                     rich_help_panel=ASK),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--model", help="The server's name of its model.", rich_help_panel=ASK, metavar="NAME"),
    ] = None,
    send_documents: Annotated[
        list[str] | None,
        typer.Option(help="Send passages of this text, too: the most typical documents of each topic. Otherwise only "
                     "words are sent.", metavar="FILES", rich_help_panel=ASK),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Ask for topics that people have labelled, too.", rich_help_panel=ASK)
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be asked about the first topic, and send nothing.",
                           rich_help_panel=ASK)
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="Seconds to wait for an answer.", rich_help_panel=ASK, metavar="SECONDS")
    ] = 60.0,
    threads: Threads = None,
) -> None:  # fmt: skip
    """Store labels of topics in the model: from a file, or from a language model.

    Labels that are typed into the report are exported as JSON, and read back
    with --from. A plain file such as {"17": "climate", "3": "taxes"} works, too;
    an empty label removes one. fdmix topics, assign and report use the labels.

    With --endpoint, any server that speaks OpenAI's format is asked about each
    topic. It gets the topic's words and those of similar topics, and no text
    unless you give --send-documents. A key comes from FDMIX_API_KEY, or else
    OPENAI_API_KEY. Answers are kept in the model: after Ctrl-C or an error, the
    same command resumes. Labels that people gave stay as they are.

    Examples:

      fdmix label model --from labels.json

      fdmix label model --endpoint http://localhost:11434/v1 --model llama3.2

      fdmix label model --endpoint URL --model NAME --send-documents text.csv
    """
    if (labels is None) == (endpoint is None):
        raise ValueError("give either --from FILE or --endpoint URL, the source of the labels")
    mixture = Mixture.load(model)
    if labels is not None:
        if name is not None or send_documents:
            raise ValueError("--model and --send-documents belong to --endpoint, not to --from")
        _store(mixture.labelled(_labels_of_file(labels, mixture, model)), model)
        return
    key_name = next((each for each in KEYS if os.environ.get(each)), None)
    server = Endpoint(endpoint or "", name or "", os.environ.get(key_name or "") or None, timeout)
    texts = None
    if send_documents:
        with steps() as bars:
            found = representatives(
                mixture, files_of(send_documents, layout), N_DOCUMENTS, n_threads=threads, report=bars.report
            )
        texts = [[each.text for each in topic] for topic in found]
    writable_model_folder(model)
    answers = Answers(model)
    questions = questions_about(mixture, texts)
    wanted = [each for each in questions if replace or _may_replace(mixture.labels.get(each.topic), answers)]
    waiting = [each for each in wanted if answers.get(each, server.model) is None]
    _tell_plan(server, key_name, mixture, wanted, waiting, texts is not None)
    if dry_run:
        _show_question(waiting or wanted)
        say("Nothing was sent: this is a dry run.")
        return
    _ask(mixture, model, server, answers, wanted, waiting)


def _labels_of_file(labels: Path, mixture: Mixture, model: Path) -> dict[int, str]:
    if not labels.is_file():
        raise FileNotFoundError(f"there is no file {labels}")
    try:
        return read_labels(labels.read_bytes(), mixture.topics)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{labels} cannot label {model}: {error}") from None


def _may_replace(given: str | None, answers: Answers) -> bool:
    """Whether a topic has no label, or one that a language model gave."""
    return given is None or answers.made(given)


def _tell_plan(
    server: Endpoint,
    key_name: str | None,
    mixture: Mixture,
    wanted: list[Question],
    waiting: list[Question],
    with_documents: bool,
) -> None:
    """Say, before the first request, what is sent where."""
    kept = mixture.n_topics - len(wanted)
    people = f", {kept} that people gave stay" if kept else ""
    known = f", {len(wanted) - len(waiting)} are known from before" if len(wanted) > len(waiting) else ""
    say(f"Labels are asked for {len(waiting)} of {mixture.n_topics} topics{known}{people}.")
    what = "words of topics and passages of documents" if with_documents else "words of topics, no text of documents"
    key = f", with the key of {key_name}" if key_name else ", without a key"
    say(f"Sent to {server.address}: {what}{key}.")
    if key_name and server.url.startswith("http:") and not server.is_local:
        say("Warning: this address is not encrypted (http): others on the way can read the key.")


def _show_question(questions: list[Question]) -> None:
    if not questions:
        say("There is nothing to ask.")
        return
    for message in questions[0].messages():
        out.print(for_terminal(f"[{message['role']}]\n{message['content']}\n", lines=True))


def _ask(
    mixture: Mixture,
    model: Path,
    server: Endpoint,
    answers: Answers,
    wanted: list[Question],
    waiting: list[Question],
) -> None:
    """Ask, and store the labels that are there in the end, however it ends."""
    failed: dict[int, str] = {}
    stopped = False
    try:
        with steps() as bars:
            failed = ask_labels(waiting, server, answers, bars.report)[1]
    except KeyboardInterrupt:
        stopped = True
    finally:
        named = mixture.labelled(answers.labels_of(wanted, server.model))
        if named.labels != mixture.labels:
            _store(named, model)
    if failed:
        some = ", ".join(f"{topic} ({why})" for topic, why in list(failed.items())[:3])
        say(f"{len(failed)} topics got no label: {some}. The same command asks for them again.")
    if stopped:
        say("Stopped. The same command goes on with the other topics.")
        raise typer.Exit(CTRL_C)


def _store(named: Mixture, model: Path) -> None:
    named.save(model)
    some = ", ".join(f"{topic}: {shown_word(text)}" for topic, text in list(named.labels.items())[:3])
    told = f" ({some}{', ...' if len(named.labels) > 3 else ''})" if some else ""
    say(f"{model} has labels for {len(named.labels)} of {named.n_topics} topics{told}.")
    twice = [text for text, n in Counter(named.labels.values()).items() if n > 1]
    if twice:
        say(f"Several topics are called {', '.join(map(shown_word, twice[:3]))}: fdmix report shows how they differ.")
