"""Errors of the explorer."""

from __future__ import annotations

from semiring.errors import LipstickError


class ExploreError(LipstickError):
    """A question that the explorer cannot answer, or something it cannot open."""


class TooLongError(ExploreError):
    """An answer took longer than it may, or nobody waits for it any more."""
