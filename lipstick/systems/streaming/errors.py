"""Warnings of queries over streams."""

from __future__ import annotations

__all__ = ["DamagedRecordWarning", "UnrecordedRunWarning"]


class UnrecordedRunWarning(UserWarning):
    """A checkpoint of runs whose text, settings and relations were not recorded."""


class DamagedRecordWarning(UserWarning):
    """A record beside a checkpoint that cannot be read; Spark's own is used in its place."""
