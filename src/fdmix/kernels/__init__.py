"""Compiled loops over arrays. All numba code is here. Kernels do not check their input: callers do."""
