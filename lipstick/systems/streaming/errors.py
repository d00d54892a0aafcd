"""Errors and warnings of queries over streams."""

from __future__ import annotations

from lipstick.systems.errors import StreamError

__all__ = ["DamagedRecordWarning", "StreamError", "UnrecordedRunWarning"]


class UnrecordedRunWarning(UserWarning):
    """A checkpoint of runs whose text, settings and relations were not recorded."""


class DamagedRecordWarning(UserWarning):
    """A record beside a checkpoint that cannot be read; Spark's own is used in its place."""
