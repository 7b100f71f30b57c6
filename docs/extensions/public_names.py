"""The directive `public-names`: every name in a module's `__all__`, with its docstring."""

import importlib
import inspect
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def public_names(module: ModuleType) -> list[str]:
    """The names of `__all__`, or of what the module defines; without those that have pages of their own.

    >>> import fdmix.baselines
    >>> public_names(fdmix.baselines)
    ['extreme_points', 'lda']
    """
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
        ]
    return sorted(name for name in listed if not inspect.ismodule(getattr(module, name)) and name != "__version__")


def documented_as(module: ModuleType, name: str) -> str:
    """The full name under which the site documents a name: `fdmix.` and the name, if it is there, too."""
    import fdmix  # noqa: PLC0415 -- Sphinx imports extensions before all else

    top = name in fdmix.__all__ and getattr(fdmix, name) is getattr(module, name)
    return f"fdmix.{name}" if top else f"{module.__name__}.{name}"


class PublicNames(SphinxDirective):
    """Docstrings of all public names of a module: first those that its lines list, then the others."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The nodes of all names; those that `fdmix` has, too, are on its page."""
        module = importlib.import_module(self.arguments[0])
        lines = [f".. currentmodule:: {module.__name__}", ""]
        first = " ".join(self.content).split()
        for name in dict.fromkeys([*first, *public_names(module)]):
            full = documented_as(module, name)
            if full == f"{module.__name__}.{name}":
                lines += [f".. {_directive(getattr(module, name))}:: {full}", ""]
            else:
                lines += [f":py:obj:`{full}` is on the page of ``fdmix``.", ""]
        return self.parse_text_to_nodes("\n".join(["```{eval-rst}", *lines, "```"]))


def _directive(value: Any) -> str:
    """What autodoc calls this kind of thing."""
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, Exception) else "autoclass"
    return "autofunction" if callable(value) else "autodata"


def setup(app: Any) -> dict[str, Any]:
    """What Sphinx calls."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True}
