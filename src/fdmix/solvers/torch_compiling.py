"""Functions compiled by torch.compile when they are first called, where that works."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

log = logging.getLogger("fdmix")


class Compiled:
    """`function` compiled, or `plain`, which does the same, where it cannot be compiled.

    worked : whether it was compiled; None before the first call
    """

    def __init__(self, torch: Any, function: Callable[..., Any], plain: Callable[..., Any]) -> None:
        self.torch, self.function, self.plain = torch, function, plain
        self.worked: bool | None = None

    def __call__(self, *arguments: Any) -> Any:
        """The result of the compiled function, or of the plain one."""
        if self.worked is None:
            return self._first(arguments)
        return self.function(*arguments) if self.worked else self.plain(*arguments)

    def _first(self, arguments: tuple[Any, ...]) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of PyTorch's compiler, about itself
                compiled = self.torch.compile(self.function, dynamic=False)
                result = compiled(*arguments)
        except Exception as error:  # no compiler, no headers, an old one: PyTorch raises many kinds of errors
            log.debug("torch.compile failed, so that steps of Adam are not compiled: %s", error)
            self.worked = False
            return self.plain(*arguments)
        self.function, self.worked = compiled, True
        return result
