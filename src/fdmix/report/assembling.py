"""Put the page together: HTML, style sheets, ES modules, D3 and data become one file.

The modules in `page/` are read by people, by the type checker and by the linter as they are. Browsers refuse to
import modules from a page that was opened from disk, so all of them become one script, by three rules:

1. A module imports names, `import { a, b } from "./other.js"`, and nothing else.
2. A module exports functions, constants and classes where it defines them, `export function a()`.
3. Modules do not import each other in circles.

`opening.js` and what it imports are the script that the page runs; it unpacks two more and runs them: D3, and
`main.js` with all that it imports. Packed, they take a third of the room.

Module `other.js` becomes `const other_js = (() => { ...; return { a, b }; })();`, and an import of it becomes
`const { a, b } = other_js;`. Modules come after those that they import.
"""

from __future__ import annotations

import base64
import hashlib
import re
from graphlib import TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable

from fdmix.report.encoding import compressed

D3 = "vendor/d3-7.9.0.min.js"
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.-]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) )", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def assembled(title: str, data: str) -> str:
    """The whole page as HTML text; `data` is what `encoding.packed` gave."""
    page = files("fdmix.report") / "page"
    style = "\n".join(path.read_text("utf-8") for path in _ending_in(page, ".css"))
    d3 = (page / D3).read_text("utf-8")
    modules = {path.name: path.read_text("utf-8") for path in _ending_in(page, ".js")}
    opening, main = (joined_modules(modules, entry) for entry in ("opening.js", "main.js"))
    policy = [
        "default-src 'none'",
        f"script-src {_hash(opening)} {_hash(d3)} {_hash(main)}",
        f"style-src {_hash(style)}",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    values = {
        "policy": "; ".join(policy),
        "title": _escaped(title),
        "style": style,
        "d3": compressed(d3.encode()),
        "page": compressed(main.encode()),
        "data": data,
        "opening": opening,
    }
    return PLACEHOLDER.sub(lambda found: values[found[1]], (page / "report.html").read_text("utf-8"))


def joined_modules(modules: dict[str, str], entry: str) -> str:
    """One script of a module and all that it imports, those that others import first."""
    needed: dict[str, set[str]] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = {found[1] for found in IMPORT.findall(modules[name])}
            if unknown := needed[name] - set(modules):
                raise ValueError(f"{name} imports {min(unknown)}, which is not a module of the page")
            waiting.extend(needed[name])
    joined = (_as_function(name, modules[name]) for name in TopologicalSorter(needed).static_order())
    return "\n".join(('"use strict";', *joined))


def _as_function(name: str, text: str) -> str:
    exported = ", ".join(EXPORTED.findall(text))
    body = EXPORT.sub("", IMPORT.sub(lambda found: f"const {{{found[1]}}} = {_identifier(found[2])};", text))
    if re.search(r"^(?:import|export)\b", body, re.MULTILINE):
        raise ValueError(f"{name} has an import or export of another form than the rules of the page allow")
    if "</script" in body.lower() or "<!--" in body:
        raise ValueError(f"{name} holds text that would end its script in the page")
    return f"const {_identifier(name)} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _ending_in(page: Traversable, suffix: str) -> list[Traversable]:
    """The files of the page with this suffix, by name: style sheets are numbered, because later ones win."""
    return sorted((path for path in page.iterdir() if path.name.endswith(suffix)), key=lambda path: path.name)


def _hash(text: str) -> str:
    """The text's entry in a Content-Security-Policy: nothing else may run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
