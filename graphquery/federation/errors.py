"""Errors of federations; all derive from :class:`semiring.errors.LipstickError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semiring.errors import LipstickError

if TYPE_CHECKING:
    from graphquery.federation.questions.answer import MissingPart

__all__ = [
    "CrossingError",
    "CutOffError",
    "FederationError",
    "IncompleteError",
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


class IncompleteError(FederationError):
    """An incomplete answer where a complete one was required.

    Attributes
    ----------
    missing
        The missing parts, with reasons.
    """

    def __init__(self, message: str, missing: tuple[MissingPart, ...]) -> None:
        super().__init__(message)
        self.missing = missing
