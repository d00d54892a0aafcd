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
    """A federation that cannot be made, or a question that it cannot answer as it was put."""


class CrossingError(FederationError):
    """Exports and imports that do not fit each other."""


class WireError(FederationError):
    """Bytes that are not a message, were cut off, or are more than is allowed."""


class CutOffError(WireError):
    """A message that ends before its end mark: who sent it was stopped within it."""


class IncompleteError(FederationError):
    """An answer that was to be complete and is not.

    Attributes
    ----------
    missing
        What of it is missing, and why.
    """

    def __init__(self, message: str, missing: tuple[MissingPart, ...]) -> None:
        super().__init__(message)
        self.missing = missing
