"""Errors of federations; all derive from :class:`semiring.errors.LipstickError`."""

from __future__ import annotations

from semiring.errors import LipstickError

__all__ = [
    "CrossingError",
    "CutOffError",
    "FederationError",
    "WireError",
]


class FederationError(LipstickError):
    """A federation that cannot be opened, or a question that it cannot answer."""


class CrossingError(FederationError):
    """An export and an import that contradict each other."""


class WireError(FederationError):
    """Bytes that are not a message, end early, or exceed the limits."""


class CutOffError(WireError):
    """A message without its end mark: the sender was stopped while sending."""
