"""Warnings of queries over streams."""

from __future__ import annotations

__all__ = ["DamagedRecordWarning", "UnrecordedRunWarning"]


class UnrecordedRunWarning(UserWarning):
    """A checkpoint with runs whose text, settings and relations were not recorded."""


class DamagedRecordWarning(UserWarning):
    """An unreadable record beside a checkpoint; Spark's own files are used instead."""
