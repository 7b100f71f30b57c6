"""Compiled loops over arrays. Everything that numba compiles lives here; nothing here checks its input."""
