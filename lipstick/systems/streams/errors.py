"""Errors of streams: each names the problem, its place and the remedy."""

from __future__ import annotations

from lipstick.systems.errors import StreamError


class UnknownStreamError(StreamError):
    """A name of a stream, or a key of an event, that there is not."""


class ReplayError(StreamError):
    """A replay that cannot be done, or an operator that does not repeat its output."""
