"""Errors of streams: each says what, where and what to do."""

from __future__ import annotations

from semiring.errors import LipstickError


class StreamError(LipstickError):
    """A graph of operators, a batch or a question that is not well formed."""


class UnknownStreamError(StreamError):
    """A name of a stream, or a key of an event, that there is not."""


class ReplayError(StreamError):
    """A replay that cannot be done, or an operator that does not repeat its output."""


class UnrecordedRunWarning(UserWarning):
    """A checkpoint of runs of which the text, the settings and the relations were not recorded."""


class DamagedRecordWarning(UserWarning):
    """A record beside a checkpoint that cannot be read, in whose place Spark's own stands."""
