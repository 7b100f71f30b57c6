"""The directive `commands`: every command of `fdmix` with all of its options, from the program itself."""

import re
from typing import Any

import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from fdmix.cli.app import app as program


def commands() -> dict[str, Any]:
    """The commands by name."""
    listed = typer.main.get_command(program).commands  # type: ignore[attr-defined]
    return {name: command.loaded for name, command in listed.items()}


def section(name: str, command: Any) -> str:
    """The Markdown of one command: its help text, its arguments and its options."""
    context = command.context_class(command, info_name=f"fdmix {name}")
    usage = " ".join(["fdmix", name, *command.collect_usage_pieces(context)])
    parts = [f"## fdmix {name}", f"```text\n{usage}\n```", _help_text(command.help)]
    rows = [row for item in command.params if (row := _row(item, context))]
    table = ["| argument or option | meaning |", "|---|---|", *rows]
    return "\n\n".join([*parts, "\n".join(table)])


def _help_text(text: str) -> str:
    """Paragraphs as text, and lines that are indented (the examples) as one block of code."""
    parts: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.replace("\b\n", "")):
        if paragraph.startswith("Example: "):
            parts += ["Example:", f"```text\n{paragraph.removeprefix('Example: ')}\n```"]
        elif not paragraph.startswith("  "):
            parts.append(_plain(paragraph))
        elif parts[-1].startswith("```"):
            parts[-1] = parts[-1].removesuffix("```") + paragraph + "\n```"
        else:
            parts.append(f"```text\n{paragraph}\n```")
    return "\n\n".join(parts)


def _row(item: Any, context: Any) -> str | None:
    """A row of the table; None for an option that is hidden."""
    if item.param_type_name == "argument":
        names, meaning = item.metavar or item.name.upper(), item.help or ""
    elif record := item.get_help_record(context):
        names, meaning = record
    else:
        return None
    shown = " ".join(names.split()).replace("|", r"\|")  # also between backquotes, a bar would end the cell
    return f"| `{shown}` | {_plain(meaning)} |"


def _plain(text: str) -> str:
    """Text on one line whose characters mean nothing to Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>|#$~])", r"\\\1", " ".join(text.split()))


class Commands(SphinxDirective):
    """All commands, each with a heading of its own."""

    def run(self) -> list[nodes.Node]:
        """The nodes of all sections."""
        text = "\n\n".join(section(name, command) for name, command in commands().items())
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Any) -> dict[str, Any]:
    """What Sphinx calls."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
