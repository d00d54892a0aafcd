"""Errors of streams of provenance events."""

from __future__ import annotations

from lipstick.errors import LipstickError


class EventsError(LipstickError):
    """Events, or a store of theirs, that something cannot be done with as asked."""


class MessageError(EventsError):
    """A message, document or event that is not as its format says."""


class ReducedAwayError(EventsError):
    """What the reduction has dropped: intermediates, and annotations without labels."""
