"""Errors of streams of provenance events."""

from __future__ import annotations

from lipstick.errors import LipstickError


class EventsError(LipstickError):
    """An operation that events, or a store of events, do not support."""


class MessageError(EventsError):
    """A message, document or event that breaks the rules of its format."""


class ReducedAwayError(EventsError):
    """A question about data that a reduction dropped: intermediates, or annotations without
    labels.
    """
