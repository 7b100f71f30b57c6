"""The command line: the same few functions a Python user calls."""

from fdmix.cli.app import app, main

__all__ = ["app", "main"]
