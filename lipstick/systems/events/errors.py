"""Errors of streams of provenance events."""

from __future__ import annotations

from lipstick.errors import LipstickError


class EventsError(LipstickError):
    """Events, or a store of theirs, that something cannot be done with as asked."""


class MessageError(EventsError):
    """A message, document or event that breaks the rules of its format."""


class ReducedAwayError(EventsError):
    """A question about what a reduction dropped: intermediates, or annotations without labels."""
