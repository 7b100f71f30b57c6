"""Benchmarks: each prints raw numbers and the ratio to a peer measured in the same run."""
