"""Errors of streams."""

from __future__ import annotations

from lipstick.systems.errors import StreamError


class UnknownStreamError(StreamError):
    """An unknown name of a stream, or key of an event."""


class ReplayError(StreamError):
    """An impossible replay, or an operator that does not repeat its output."""
