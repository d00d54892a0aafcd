"""The error of the benchmark."""

from __future__ import annotations


class BenchmarkError(ValueError):
    """A grid, a suite or a file that cannot be read, or a cluster that does not start."""
